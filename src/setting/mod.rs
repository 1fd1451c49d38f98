//! Settings of a training run, in one table.
//!
//! [`SETTINGS`] has a row for each [`Setting`]: its key, help, valid values, the models that have it, its default, and the
//! [`TrainConfig`] field that stores it. The command-line options and their help, the defaults ([`resolve`]), the command that
//! reproduces a model ([`stated`]), the search space of `tune` and the checks all come from this table. A new setting needs a
//! field and a row.
//!
//! `train`, `tune` and the command line import this module. It imports only the list of baselines from above.

mod categorical;
mod config;
mod field;
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
pub use words::{GradientPath, MissingValues, OptimizerKind, Schedule, Skip};

/// Whether this build can train trees. All builds can score with them.
pub const GROWS_TREES: bool = cfg!(feature = "trees");
