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

mod analysis;
mod data;
pub mod device;
mod error;
pub mod files;
mod hash;
pub mod memory;
mod metric;
mod model;
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
mod train;

pub use analysis::field::{Crossing, FieldReport, MOST_DOCUMENTS, MarginLambda, Potential, Regularised, eigenvalues};
pub use analysis::optimality::{
    COARSE_STEPS, Certificate, CertifyOptions, EachWeight, Envelope, FINE_STEPS, Move, StepReport, WeightPeak, certify,
    certify_control, directions_needed, each_weight, miss_probability, share_not_refuted,
};
pub use analysis::probability;
pub use analysis::significance::{
    Adjusted, Better, Bootstrap, CompareOptions, Comparison, Mover, PMethod, PerQuery, Randomisation, TTest, Wilcoxon,
    bootstrap, correct, effect_size, holm, randomisation, t_test, wilcoxon,
};
pub use burn::tensor::{Device, Tensor};
pub use data::dataset::{Dataset, DocumentIds, QueryView};
pub use data::fold::{kfold, split};
pub use data::folder::{FoldFiles, find_folds};
pub use data::letor::{
    Chunks, MAX_FEATURES, ReadOptions, ReadProgress, ReadReport, Rows, Skipped, WriteOptions, Zeros, has_query_ids,
    read, read_bytes, read_with, write, write_to,
};
pub use data::scale::{ScaleKind, Scaler};
pub use data::scores::{parse_scores, read_scores, write_scores};
pub use data::source::Compression;
pub use data::synthetic::{Generator, LabelMix, Synthetic, SyntheticQuery, Target, TargetActivation, WEB_MIX};
pub use data::trec::{
    Judged, JudgedQuery, Scored, TrecFile, TrecQuery, join_run, parse_qrels, parse_run, read_qrels, read_run,
    read_run_or_scores,
};
pub use data::{PairTarget, Targets};
pub use error::{Error, ParseError, Result, printable};
pub use metric::{
    Ap, Arp, ArpForm, Bpref, Conventions, Dcg, Empty, ExpectedRr, Gain, KNOWN_METRICS, KnownMetric, Metric, MetricKind,
    Missing, Ndcg, PairwiseAccuracy, Precision, Rate, Recall, Rr, Score, Summary, Swaps, Ties, Wta, discount,
    discounts, judge, judge_query, max_dcg, order, parse, parse_like_trec_eval, parse_with, rank_order,
};
pub use model::{
    Activation, Architecture, DataInfo, EpochRecord, Finish, Init, MODELS, Model, ModelInfo, ModelKind, ModelPlace,
    ModelSettings, Ranker, RankerConfig, RunInfo, score,
};
pub use objective::{
    Assignment, Batch, Construction, KNOWN_OBJECTIVES, KnownObjective, LambdaField, LogBase, Loss, Method, Objective,
    PAIR_BUDGET, PairLoss, PairWeight, PairWeights, Pairs, Query, QueryResult, Scratch, Slopes, TensorGradient, Want,
    ranknet_pairs, surrogate,
};
pub use simd::{instruction_set, portable, set_portable};
pub use stop::Stop;
pub use train::{GradientPath, OptimizerKind, StepRule, TrainConfig, Trainer, TrainingData};
