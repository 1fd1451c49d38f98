//! How it is optimised: the loop, step-size rules, stopping and checkpoints.

mod checkpoint;
mod config;
mod epoch;
mod exact;
mod optimizer;
mod record;
mod score;
mod shard;
mod step;
mod trainer;

pub use config::{GradientPath, TrainConfig};
pub use optimizer::OptimizerKind;
pub use record::EpochRecord;
pub use score::score;
pub use step::StepRule;
pub use trainer::{Finish, Trained, Trainer};
