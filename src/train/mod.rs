//! Training: the loop over epochs, learning rate schedules, early stopping, checkpoints and ensembles.

#[cfg(feature = "cubecl")]
mod adam;
mod average;
mod boosting_bytes;
mod checkpoint;
mod data;
mod descent;
mod distributed;
mod engine;
mod ensemble;
mod epoch;
mod exact;
mod finish;
mod identity;
mod learner;
mod net;
mod optimizer;
mod order;
mod pipeline;
mod resume;
mod run;
mod schedule;
mod state;
mod stopping;
mod trainer;
#[cfg(feature = "trees")]
mod trees;

pub(crate) use boosting_bytes::boosting_bytes;
pub use checkpoint::is_checkpoint;
pub use data::TrainingData;
pub use ensemble::Ensemble;
pub(crate) use learner::{EpochStart, EpochTotals, Learner, score_all};
pub use pipeline::{HoldOut, NotEvaluated, RunFiles, Split, Splits, Widened, report_metrics};
pub use trainer::Trainer;
