//! Settings of a training run: one table.
//!
//! [`SETTINGS`] has a row for each [`Setting`]: its key, help, values and models, its default, and how a [`TrainConfig`] stores it.
//! Made from it are the options of the tool and their help, defaults ([`resolve`]), the command that trains a model again
//! ([`stated`]), what a search draws from, and checks. A row is all that a new setting needs beside its field.
//!
//! Imports go from `train`, `tune` and the tool to this module; the list of baselines is what it takes from above.

mod config;
mod given;
mod method;
mod model;
mod row;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod words;

pub use config::TrainConfig;
pub use given::{Given, resolve, stated};
pub use method::{BaselineSettings, Method, TreeSettings};
pub use model::{Kinds, ModelChoice, ModelKind, models};
pub use row::{DefaultValue, SearchSpace, Section, Setting};
pub use table::SETTINGS;
pub use value::{Bounds, Value};
pub use words::{GradientPath, OptimizerKind, Schedule};

/// Whether this build grows trees; all builds score with them.
pub const GROWS_TREES: bool = cfg!(feature = "trees");
