//! What a model itself says of each feature: weights, gain, or slopes.

use super::explainer::{Explainer, row_of, spread};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Scorer;
use crate::name::words;
use rayon::prelude::*;
use serde::Serialize;

words! {
    /// What the numbers of [`ModelImportance`] are.
    pub enum ModelImportanceKind: "importance" {
        /// The weight of the scaled feature.
        Weight = "weight",
        /// The gain of all splits on the feature, over all trees.
        Gain = "gain",
        /// The number of splits on the feature, of trees that do not tell their gain.
        Splits = "splits",
        /// The mean absolute slope of the score in the scaled feature, over documents.
        Gradient = "gradient",
    }
}

impl ModelImportanceKind {
    /// What it is, for people.
    pub fn words(self) -> &'static str {
        match self {
            ModelImportanceKind::Weight => "the weight of the scaled feature",
            ModelImportanceKind::Gain => "the gain of all splits on the feature, over all trees",
            ModelImportanceKind::Splits => {
                "the number of splits on the feature, over all trees, which do not tell their gain"
            }
            ModelImportanceKind::Gradient => {
                "the mean absolute gradient of the score in the scaled feature, over documents"
            }
        }
    }
}

/// A number per feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelImportance {
    /// What the numbers are.
    pub kind: ModelImportanceKind,
    /// One per feature.
    pub values: Vec<f64>,
}

/// Documents that slopes are averaged over, evenly spread over the data.
const SLOPES: usize = 2_000;

/// What a scorer says of each feature; slopes are taken at documents as it sees them, scaled.
///
/// ```
/// use burnrank::analysis::explain::{ModelImportanceKind, model_importance};
/// use burnrank::model::{Branch, Child, Forest, Rule, Tree, WhenMissing};
/// use burnrank::{Dataset, Scorer};
/// let rule = Rule::AtMost { threshold: 0.5, missing: WhenMissing::NanIsZero };
/// let split = Branch { feature: 1, rule, left: Child::Leaf(0), right: Child::Leaf(1) };
/// let forest = Forest::from_trees(2, vec![Tree::new(vec![split], vec![-1.0, 1.0])?])?;
/// let data = Dataset::new(2, vec![0.0, 1.0], vec![1.0], vec![("a".into(), 1)])?;
/// let found = model_importance(&Scorer::Trees(forest.into()), &data)?;
/// assert_eq!((found.kind, found.values), (ModelImportanceKind::Splits, vec![0.0, 1.0]));
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// As [`Explainer::new`].
pub fn model_importance(scorer: &Scorer, data: &Dataset) -> Result<ModelImportance> {
    if let Scorer::Trees(forest) = scorer {
        let gains = forest.split_gains();
        let mut values = vec![0.0; forest.n_features()];
        for (place, tree) in forest.trees().iter().enumerate() {
            for (index, branch) in tree.branches().iter().enumerate() {
                values[branch.feature] += gains.as_ref().map_or(1.0, |gains| gains[place][index]);
            }
        }
        return Ok(ModelImportance {
            kind: if gains.is_some() { ModelImportanceKind::Gain } else { ModelImportanceKind::Splits },
            values,
        });
    }
    let explainer = Explainer::new(scorer, data)?;
    if matches!(scorer, Scorer::Net(ranker) if ranker.config().architecture.hidden().is_empty()) {
        let values = explainer.gradients(row_of(data, 0)).unwrap_or_default();
        return Ok(ModelImportance { kind: ModelImportanceKind::Weight, values });
    }
    let rows: Vec<usize> = spread(data.n_documents(), SLOPES).collect();
    let slopes: Vec<Vec<f64>> =
        rows.par_iter().map(|&row| explainer.gradients(row_of(data, row)).unwrap_or_default()).collect();
    let mut values = vec![0.0; data.n_features()];
    for slopes in &slopes {
        values.iter_mut().zip(slopes).for_each(|(value, slope)| *value += slope.abs() / rows.len() as f64);
    }
    Ok(ModelImportance { kind: ModelImportanceKind::Gradient, values })
}
