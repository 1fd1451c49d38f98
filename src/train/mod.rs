//! How it is optimised: the loop, step-size rules, stopping and checkpoints.

#[cfg(feature = "cubecl")]
mod adam;
mod checkpoint;
mod config;
mod data;
mod distributed;
mod ensemble;
mod epoch;
mod exact;
#[cfg(feature = "cubecl")]
mod feed;
mod finish;
mod identity;
mod learner;
mod method;
mod net;
#[cfg(feature = "cubecl")]
mod on_device;
mod optimizer;
mod order;
mod part;
mod registry;
mod resume;
mod schedule;
mod state;
mod trainer;
#[cfg(feature = "trees")]
mod trees;

pub use checkpoint::is_checkpoint;
pub use config::{GradientPath, TrainConfig};
pub use data::TrainingData;
pub use ensemble::Ensemble;
pub(crate) use learner::{EpochStart, EpochTotals, Learner, score_all};
pub(crate) use method::boosting_bytes;
pub use method::{BaselineSettings, Method, TreeSettings};
pub use optimizer::OptimizerKind;
pub(crate) use registry::Make;
pub use registry::{ModelChoice, ModelKind, Setting, models};
pub use schedule::Schedule;
pub use trainer::Trainer;

/// Whether this build grows trees; all builds score with them.
pub const GROWS_TREES: bool = cfg!(feature = "trees");
