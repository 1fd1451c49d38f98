//! How a model is trained: gradient descent, boosting, or the way of one of the papers' other systems.

use super::model::{ModelChoice, ModelKind};
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
}

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

/// What the table of settings says where nothing is stated.
impl Default for TreeSettings {
    fn default() -> Self {
        match ModelChoice::trees().config().method {
            Method::Boosting(settings) => settings,
            _ => Self::BLANK,
        }
    }
}

impl TreeSettings {
    /// Before any row of the table is set.
    pub(super) const BLANK: TreeSettings =
        TreeSettings { min_data: 0, min_hessian: 0.0, bins: 0, subsample: 0.0, feature_fraction: 0.0 };
}

/// One of the papers' other systems, with its numbers. It prints as [`ModelChoice`] reads it.
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
