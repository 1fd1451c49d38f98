//! Settings of a training run: what can be trained, with which values, and what they are where nothing is stated.

mod config;
mod method;
mod model;

pub use config::{GradientPath, TrainConfig};
pub use method::{BaselineSettings, Method, TreeSettings};
pub use model::{Kinds, ModelChoice, ModelKind, models};

/// Whether this build grows trees; all builds score with them.
pub const GROWS_TREES: bool = cfg!(feature = "trees");
