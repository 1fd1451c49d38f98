//! burnrank learns to rank: linear and neural rankers of any depth for query/document features, trained on Burn with the
//! RankNet, LambdaRank and LambdaLoss objectives, judged by the measures of the field.
//!
//! ```
//! use burnrank::{Model, Objective, Synthetic, TrainConfig, Trainer, device, split};
//!
//! // 60 queries of 50 documents, labelled by a random net; one in three kept for validation. `read` reads a file instead.
//! let mut train = Synthetic { queries: 60, ..Synthetic::net() }.generator()?.dataset()?;
//! let parts = split(train.n_queries(), &[2.0, 1.0], 1)?;
//! let valid = train.take_out(&parts[1]);
//! let features = valid.query(0).features.to_vec();
//!
//! let config = TrainConfig { objective: Objective::parse("lambdarank:ndcg")?, epochs: 10, ..TrainConfig::default() };
//! let device = device::open("auto")?;
//! let mut trainer = Trainer::new(config, train, valid, &device)?;
//! while trainer.finished().is_none() {
//!     trainer.epoch()?;
//! }
//! let model = trainer.finish()?;
//! assert!(model.best_value() > Some(0.6), "nDCG@10 on the validation queries: {:?}", model.best_value());
//!
//! // The model scores raw features: it holds the scaling that was fitted on the training queries.
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let folder = folder.path();
//! model.save(&folder.join("model"))?;
//! let loaded = Model::load(&folder.join("model"), &device)?;
//! assert_eq!(loaded.score_query(&features)?, model.score_query(&features)?);
//! # Ok::<(), burnrank::Error>(())
//! ```

pub mod analysis;
pub mod data;
pub mod device;
mod error;
pub mod files;
mod hash;
pub mod memory;
pub mod metric;
pub mod model;
pub mod numeric;
pub mod objective;
#[cfg(feature = "cli")]
#[doc(hidden)] // for the programs of this project
pub mod program;
mod simd;
mod stop;
pub mod suggest;
mod temporary;
pub mod text;
pub mod train;

pub use analysis::optimality::{Certificate, CertifyOptions, certify};
pub use analysis::significance::Comparison;
pub use burn::tensor::{Device, Tensor};
pub use data::synthetic::Synthetic;
pub use data::{
    Dataset, QueryView, ReadOptions, ReadReport, ScaleKind, Scaler, WriteOptions, kfold, read, read_bytes, split, write,
};
pub use error::{Error, ParseError, Result};
pub use metric::{Conventions, Empty, KNOWN_METRICS, Metric, Summary, Ties, judge};
pub use model::{Activation, Architecture, EpochRecord, Finish, Init, Model, ModelInfo, Ranker, RankerConfig, score};
pub use objective::{Batch, KNOWN_OBJECTIVES, LambdaField, Loss, Objective, PairWeight, Want};
pub use stop::Stop;
pub use train::{GradientPath, OptimizerKind, StepRule, TrainConfig, Trainer};
