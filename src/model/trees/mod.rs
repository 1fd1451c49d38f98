//! Ensembles of decision trees: reading LightGBM's text and XGBoost's JSON, scoring, and writing LightGBM's text.

mod block;
mod categories;
mod compile;
mod evaluate;
mod forest;
mod grown;
mod key;
mod missing;
mod shift;
mod text;
mod tree;
mod write;
mod xgboost;

#[cfg(test)]
mod tests;

pub(super) use evaluate::Keys;
pub use forest::Forest;
pub(crate) use key::{ZERO, largest_f32};
pub use tree::{Branch, Child, NegativeFractions, Rule, Tree, WhenMissing};
