//! How it is optimised: the loop, step-size rules, stopping and checkpoints.

mod checkpoint;
mod config;
mod data;
mod epoch;
mod exact;
mod finish;
mod identity;
mod optimizer;
mod resume;
mod shard;
mod state;
mod step;
mod trainer;

pub use config::{GradientPath, TrainConfig};
pub use data::TrainingData;
pub use optimizer::OptimizerKind;
pub use step::StepRule;
pub use trainer::Trainer;
