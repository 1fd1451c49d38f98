//! Explanations of a model: which features a metric depends on, how, and why queries got better or worse.
//!
//! [`explain`] combines the results of the other functions:
//! - [`importances`]: permutation importance, the decrease of a metric if one feature's values are shuffled between documents;
//! - [`model_importance`]: the model's own importance of each feature: weight, split gain or mean gradient;
//! - [`dependence`]: partial dependence, the mean score as a function of one feature;
//! - [`Explainer`]: the contribution of each feature to a document's score; exact for linear nets and trees, integrated gradients for
//!   other models;
//! - [`Changes`]: the queries with the largest gain and loss against a baseline, and the pair of documents responsible.

mod changes;
mod dependence;
mod explainer;
mod gradient;
mod importance;
mod integrated;
mod model_importance;
mod quadrature;
mod shapley;
mod whole;

#[cfg(test)]
mod tests;

pub use changes::{Change, Changes, Contribution, Place, QueryChange};
pub use dependence::{Axis, Dependence, dependence, grids};
pub use explainer::{AttributionMethod, Counts, Explainer};
pub use importance::{Importance, Permute, importances};
pub use model_importance::{ModelImportance, ModelImportanceKind, model_importance};
pub use whole::{BaselineScores, ExplainOptions, Explanation, explain, feature_importance};
