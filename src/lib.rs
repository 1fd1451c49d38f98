//! Learning to rank on Burn: linear models, neural nets and boosted trees for query-document features, trained with the RankNet,
//! LambdaRank and LambdaLoss objectives and evaluated with standard ranking metrics.
//!
//! ```
//! use burnrank::{Model, Objective, Synthetic, TrainConfig, Trainer, device, split};
//!
//! // 60 queries of 50 documents, labelled by a random net; a third is held out for validation. `read` reads a file instead.
//! let mut train = Synthetic { queries: 60, ..Synthetic::net() }.generator()?.dataset()?;
//! let parts = split(train.n_queries(), &[2.0, 1.0], 1)?;
//! let valid = train.take_out(&parts[1]);
//! let features = valid.query(0).features.to_vec();
//!
//! let config = TrainConfig { objective: Objective::parse("lambdarank:ndcg")?, epochs: 10, ..TrainConfig::default() };
//! let device = device::open("auto")?;
//! let model = Trainer::new(config, train, valid, &device)?.train()?;
//! assert!(model.best_value() > Some(0.6), "NDCG@10 on the validation queries: {:?}", model.best_value());
//!
//! // The model scores raw features: it includes the scaling that was fitted on the training queries.
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let folder = folder.path();
//! model.save(&folder.join("model"))?;
//! let loaded = Model::load(&folder.join("model"), &device)?;
//! assert_eq!(loaded.score_query(&features)?, model.score_query(&features)?);
//! # Ok::<(), burnrank::Error>(())
//! ```
//!
//! The items that most programs need are listed below. The modules contain the rest:
//!
//! - [`data`]: reading and writing data sets, TREC runs and judgements, artificial data, scaling, folds;
//! - [`metric`]: metrics by name ([`METRICS`]) or custom ones ([`Metric`]), and evaluation conventions;
//! - [`objective`]: objectives by name ([`OBJECTIVES`]) or custom ones: a pair weight ([`PairWeight`]), lambdas
//!   ([`LambdaField`]), or any other loss with a gradient ([`Loss`]);
//! - [`model`]: nets, trees and kernel models, and the model folder; [`train`]: training of every [kind of
//!   model](setting::models), including the papers' baselines;
//! - [`distributed`]: training in several processes, over MPI with the feature `mpi`;
//! - [`tune`]: hyperparameter search on the validation queries;
//! - [`analysis`]: local optimality, cost functions of lambdas, significance tests, explanations of models;
//! - [`export`]: export of models to search engines and other programs ([`FORMATS`](export::FORMATS));
//! - [`Model::serving`]: scoring at low latency, without gradients and without allocations per call. The feature `serve` adds
//!   the module `serve`, an HTTP server, and the feature `cli` the module `cli`, the command-line tool.

// The command-line tool refers to the library by its name, as other programs do.
#[cfg(feature = "cli")]
extern crate self as burnrank;

pub mod analysis;
mod baseline;
#[cfg(feature = "cli")]
pub mod cli;
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
pub use data::{Dataset, ReadOptions, ScaleKind, Scaler, Scaling, WriteOptions, read, split, write};
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
