//! Data sets of queries and documents: reading, writing, generating, scaling and splitting.

pub mod cache;
pub(crate) mod dataset;
mod feature_names;
pub(crate) mod fold;
pub(crate) mod letor_folds;
mod read;
pub(crate) mod scale;
pub(crate) mod scores;
pub(crate) mod source;
pub mod synthetic;
mod targets;
pub mod trec;
mod write;

pub use targets::{PairTarget, Targets};

pub use dataset::{Dataset, DocumentIds, QueryFeatures, QueryView};
pub use feature_names::FeatureNames;
pub(crate) use feature_names::{check_names, default_feature_names};
pub use fold::{kfold, rotated, split};
pub use letor_folds::{FoldFiles, find_folds};
pub use read::{
    COLUMN_ROLES, Chunks, ColumnRole, Columns, INPUT_FORMATS, InputFormat, MAX_FEATURES, ReadOptions, ReadProgress,
    ReadReport, Rows, Skipped, has_query_ids, read, read_bytes, read_with,
};
pub use scale::{Encoding, Preprocessing, ScaleKind, Scaler, Scaling};
pub use scores::{parse_scores, read_scores, write_scores};
pub use source::{Compression, read_text};
pub use write::{WriteOptions, Zeros, write, write_to};
