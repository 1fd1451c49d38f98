//! What a model learnt: which features a measure depends on, how, and why queries won or lost.
//!
//! [`explain`] puts together what each file here computes on its own:
//! - [`importances`]: how far a measure falls when the values of one feature are exchanged between documents;
//! - [`model_importance`]: the weights, the gain of splits, or the mean gradient, feature by feature;
//! - [`dependence`]: the mean score as a function of one feature;
//! - [`Explainer`]: the part of each feature in a document's score, exact for linear nets and trees, by integrated gradients for others;
//! - [`Changes`]: the queries that won and lost most against a baseline, and the pair of documents that decided it.

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
pub use whole::{BaselineScores, ExplainOptions, Explanation, explain};
