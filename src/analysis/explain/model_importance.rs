//! The model's own feature importance: weights, split gain, or gradients.

use super::explainer::{Explainer, evenly_spaced, row_of};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Scorer;
use crate::name::words;
use rayon::prelude::*;
use serde::Serialize;

words! {
    /// Kind of the values of [`ModelImportance`].
    pub enum ModelImportanceKind: "importance" {
        /// Weight of the scaled feature.
        Weight = "weight",
        /// Total gain of the splits on the feature.
        Gain = "gain",
        /// Number of splits on the feature, for trees without stored gains.
        Splits = "splits",
        /// Mean absolute gradient of the score with respect to the scaled feature, over documents.
        Gradient = "gradient",
    }
}

impl ModelImportanceKind {
    /// Returns a description for reports.
    pub fn words(self) -> &'static str {
        match self {
            ModelImportanceKind::Weight => "weight of the scaled feature",
            ModelImportanceKind::Gain => "total gain of the splits on the feature",
            ModelImportanceKind::Splits => "number of splits on the feature (the model stores no gains)",
            ModelImportanceKind::Gradient => "mean absolute gradient of the score with respect to the scaled feature",
        }
    }
}

/// The model's own importance of each feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelImportance {
    /// Kind of the values.
    pub kind: ModelImportanceKind,
    /// One value per feature.
    pub values: Vec<f64>,
}

/// Maximum number of documents that gradients are averaged over, evenly spaced in the data.
const MAX_DOCUMENTS: usize = 2_000;

/// Returns the model's own importance of each feature. Gradients are computed at documents of the scaled data.
///
/// ```
/// use burnrank::analysis::explain::{ModelImportanceKind, model_importance};
/// use burnrank::model::{Branch, Child, Forest, Rule, Tree, WhenMissing};
/// use burnrank::{Dataset, Scorer};
/// let rule = Rule::AtMost { threshold: 0.5, missing: WhenMissing::NanIsZero };
/// let split = Branch { feature: 1, rule, left: Child::Leaf(0), right: Child::Leaf(1) };
/// let forest = Forest::from_trees(2, vec![Tree::new(vec![split], vec![-1.0, 1.0])?])?;
/// let data = Dataset::new(2, vec![0.0, 1.0], vec![1.0], vec![("a".into(), 1)])?;
/// let importance = model_importance(&Scorer::Trees(forest.into()), &data)?;
/// assert_eq!((importance.kind, importance.values), (ModelImportanceKind::Splits, vec![0.0, 1.0]));
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Explainer::new`].
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
    let rows: Vec<usize> = evenly_spaced(data.n_documents(), MAX_DOCUMENTS).collect();
    let gradients: Vec<Vec<f64>> =
        rows.par_iter().map(|&row| explainer.gradients(row_of(data, row)).unwrap_or_default()).collect();
    let mut values = vec![0.0; data.n_features()];
    for gradient in &gradients {
        values.iter_mut().zip(gradient).for_each(|(value, x)| *value += x.abs() / rows.len() as f64);
    }
    Ok(ModelImportance { kind: ModelImportanceKind::Gradient, values })
}
