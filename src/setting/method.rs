//! Training methods: gradient descent, boosting, and the baselines.

use super::model::{ModelChoice, ModelKind};
use super::words::MissingValues;
use crate::name::Spelling;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Training method.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Gradient descent on batches of queries, for nets.
    #[default]
    Gradient,
    /// Gradient boosting: each epoch adds a tree, fitted to the gradient and hessian of the objective.
    Boosting(TreeSettings),
    /// The algorithm of a baseline.
    Baseline(BaselineSettings),
}

impl Method {
    /// Whether it is gradient descent, which settings in JSON omit.
    pub(crate) fn is_gradient(&self) -> bool {
        *self == Method::Gradient
    }
}

/// Settings of boosting. The number of trees is [`TrainConfig::epochs`](super::TrainConfig::epochs), the shrinkage is
/// [`TrainConfig::learning_rate`](super::TrainConfig::learning_rate), and the number of leaves is part of the architecture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeSettings {
    /// Minimum number of documents per leaf.
    pub min_data: usize,
    /// Minimum sum of hessians per leaf.
    pub min_hessian: f64,
    /// Maximum number of histogram bins per feature.
    pub bins: usize,
    /// Fraction of documents sampled for each tree.
    pub subsample: f64,
    /// Fraction of features sampled for each tree.
    pub feature_fraction: f64,
    /// Which values of features are missing.
    #[serde(default, skip_serializing_if = "MissingValues::is_default")]
    pub missing: MissingValues,
}

/// The defaults of the settings table.
impl Default for TreeSettings {
    fn default() -> Self {
        match ModelChoice::trees().config().method {
            Method::Boosting(settings) => settings,
            _ => Self::BLANK,
        }
    }
}

impl TreeSettings {
    /// Values before any setting is applied.
    pub(super) const BLANK: TreeSettings = TreeSettings {
        min_data: 0,
        min_hessian: 0.0,
        bins: 0,
        subsample: 0.0,
        feature_fraction: 0.0,
        missing: MissingValues::Nan,
    };
}

/// A baseline and its parameters. `Display` writes the form that [`ModelChoice`] parses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineSettings {
    /// Name of the model.
    pub name: String,
    /// Value of each parameter.
    pub numbers: BTreeMap<String, f64>,
}

impl fmt::Display for BaselineSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = ModelKind::of(&self.name).map_or(&[][..], |kind| kind.parameters);
        let default = |key: &str| parameters.iter().find(|parameter| parameter.key == key)?.default();
        let add = |name: Spelling, (key, value): (&String, &f64)| name.number(key, *value, default(key));
        f.write_str(&self.numbers.iter().fold(Spelling::new(&self.name), add).finish())
    }
}
