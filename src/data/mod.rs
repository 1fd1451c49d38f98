//! Bytes to ragged data sets: reading, writing, generating, scaling and splitting.

pub mod cache;
pub(crate) mod dataset;
mod feature_names;
pub(crate) mod fold;
pub(crate) mod letor;
pub(crate) mod letor_folds;
mod plain_file;
pub(crate) mod scale;
pub(crate) mod scores;
mod small_text;
pub(crate) mod source;
pub mod synthetic;
mod table;
mod targets;
pub mod trec;

pub use targets::{PairTarget, Targets};

pub use dataset::{Dataset, DocumentIds, QueryFeatures, QueryView};
pub use feature_names::FeatureNames;
pub(crate) use feature_names::{check_names, default_feature_names};
pub use fold::{kfold, split};
pub use letor::{
    Chunks, MAX_FEATURES, ReadOptions, ReadProgress, ReadReport, Rows, Skipped, WriteOptions, Zeros, has_query_ids,
    read, read_bytes, read_with, write, write_to,
};
pub use letor_folds::{FoldFiles, find_folds};
pub use scale::{ScaleKind, Scaler};
pub use scores::{parse_scores, read_scores, write_scores};
pub use small_text::read_text;
pub use source::Compression;
pub use table::{TableOptions, is_table};
