//! How a model is trained: gradient descent, boosting, or the way of one of the papers' other systems.

use super::config::TrainConfig;
use super::model::ModelKind;
use crate::error::{Error, Result};
use crate::model::Architecture;
use crate::name::Spelling;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How a model is trained.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Gradient descent on batches of queries, for nets.
    #[default]
    Gradient,
    /// A tree per epoch, grown on the objective's gradient and second derivatives.
    Boosting(TreeSettings),
    /// The way of one of the papers' other systems.
    Baseline(BaselineSettings),
}

impl Method {
    /// Whether it is gradient descent, which settings in JSON leave out.
    pub(crate) fn is_gradient(&self) -> bool {
        *self == Method::Gradient
    }

    /// Refuses settings that make no sense.
    pub(super) fn check(&self, config: &TrainConfig) -> Result<()> {
        let wrong = |message: String| Err(Error::Config(message));
        if !self.is_gradient() && config.restart > 0 {
            return wrong("restart: only nets start again from other weights".into());
        }
        let Method::Boosting(settings) = self else { return Ok(()) };
        let Architecture::Trees { leaves, .. } = config.architecture else {
            return wrong(format!("{}: boosting grows trees", config.architecture));
        };
        let share = |name: &str, value: f64| match value > 0.0 && value <= 1.0 {
            true => Ok(()),
            false => Err(Error::Config(format!("{name} {value}: expected a share above 0 and of at most 1"))),
        };
        if !(2..=MOST_LEAVES).contains(&leaves) {
            return wrong(format!("leaves {leaves}: expected 2 to {MOST_LEAVES}"));
        }
        if !(2..=MOST_BINS).contains(&settings.bins) {
            return wrong(format!("bins {}: expected 2 to {MOST_BINS}", settings.bins));
        }
        if settings.min_data > i32::MAX as usize {
            return wrong(format!("min-data {}: more documents than there are", settings.min_data));
        }
        if !(settings.min_hessian >= 0.0 && settings.min_hessian.is_finite()) {
            return wrong(format!("min-hessian {}: expected a number of 0 or more", settings.min_hessian));
        }
        share("subsample", settings.subsample)?;
        share("feature-fraction", settings.feature_fraction)
    }
}

/// More leaves than LightGBM takes.
const MOST_LEAVES: usize = 131_072;
/// A bin is two bytes at most.
const MOST_BINS: usize = 65_535;

/// How trees are grown. The most trees are the epochs of a run, the shrinkage is its step size, the most leaves belong to
/// the architecture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeSettings {
    /// The fewest documents in a leaf.
    pub min_data: usize,
    /// The smallest sum of second derivatives in a leaf.
    pub min_hessian: f64,
    /// The most values that a feature is told apart by.
    pub bins: usize,
    /// The share of documents that each tree is grown on.
    pub subsample: f64,
    /// The share of features that each tree may split by.
    pub feature_fraction: f64,
}

impl Default for TreeSettings {
    fn default() -> Self {
        TreeSettings { min_data: 20, min_hessian: 1e-3, bins: 255, subsample: 1.0, feature_fraction: 1.0 }
    }
}

/// One of the papers' other systems, with its numbers. It prints as `--model` takes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineSettings {
    /// Its name in the list of models.
    pub name: String,
    /// All of its settings.
    pub numbers: BTreeMap<String, f64>,
}

impl fmt::Display for BaselineSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = ModelKind::of(&self.name).map_or(&[][..], |kind| kind.parameters);
        let default = |key: &str| known.iter().find(|parameter| parameter.key == key)?.default();
        let add = |name: Spelling, (key, value): (&String, &f64)| name.number(key, *value, default(key));
        f.write_str(&self.numbers.iter().fold(Spelling::new(&self.name), add).finish())
    }
}
