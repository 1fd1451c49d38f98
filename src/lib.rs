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
//! let model = Trainer::new(config, train, valid, &device)?.train()?;
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
//!
//! What most programs need is listed below; the rest is in the modules:
//!
//! - [`data`]: files to data sets and back, TREC runs and judgements, artificial data, scaling, folds;
//! - [`metric`]: measures by name ([`METRICS`]) or of one's own ([`Metric`]), and the conventions of judging;
//! - [`objective`]: losses by name ([`OBJECTIVES`]) or of one's own: a pair weight ([`PairWeight`]), forces on documents
//!   ([`LambdaField`]), or anything else with a gradient ([`Loss`]);
//! - [`model`]: what scores (nets, trees, kernels), and the folder it is saved in; [`train`]: how it gets there, for every
//!   [kind of model](setting::models), the papers' rivals among them;
//! - [`distributed`]: training over several processes, by MPI with the feature `mpi`;
//! - [`tune`]: which settings, by search on the validation queries;
//! - [`analysis`]: local optimality, costs of lambdas, significance, what a model learnt;
//! - [`export`]: models as files of search engines and other programs ([`FORMATS`](export::FORMATS));
//! - [`Model::serving`]: scores while somebody waits, without gradients and without memory taken per call. With the feature
//!   `serve`, the module `serve` is a server.

pub mod analysis;
mod baseline;
pub mod data;
pub mod device;
pub mod distributed;
mod error;
pub mod export;
#[doc(hidden)]
pub mod internal;
pub mod memory;
pub mod metric;
pub mod model;
pub mod name;
pub mod numeric;
pub mod objective;
#[cfg(feature = "serve")]
pub mod serve;
pub mod setting;
mod simd;
mod stop;
pub mod train;
pub mod tune;

pub use burn::tensor::{Device, Tensor};
#[doc(inline)]
pub use data::synthetic::Synthetic;
#[doc(inline)]
pub use data::{Dataset, ReadOptions, ScaleKind, Scaler, WriteOptions, read, split, write};
#[doc(inline)]
pub use error::{Error, ParseError, Result};
#[doc(inline)]
pub use metric::{Conventions, METRICS, Metric, evaluate};
#[doc(inline)]
pub use model::{
    Activation, Architecture, EpochRecord, Finish, Init, Model, ModelInfo, Ranker, RankerConfig, Scorer, score,
};
#[doc(inline)]
pub use objective::{Batch, LambdaField, Loss, OBJECTIVES, Objective, Outputs, PairWeight};
#[doc(inline)]
pub use setting::{GradientPath, OptimizerKind, Schedule, TrainConfig};
#[doc(inline)]
pub use stop::Stop;
#[doc(inline)]
pub use train::Trainer;
