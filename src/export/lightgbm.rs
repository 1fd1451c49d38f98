//! `lightgbm`: LightGBM's text format, which Treelite, ONNX tools and others also read.
//!
//! For trees on unscaled features this is the text of the model folder with feature names. For trees on scaled
//! features, thresholds are converted to unscaled features. Splits on categories that LightGBM would score otherwise, such
//! as XGBoost's, become splits on thresholds: LightGBM sends missing categories right.

use super::plain::{PlainTree, PlainTrees};
use super::{Exported, Request};
use crate::error::Result;
use crate::model::{Branch, Forest, NegativeFractions, Rule, Scorer, Tree, WhenMissing};

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let forest = match &model.scorer {
        Scorer::Trees(forest) => forest,
        Scorer::Net(_) | Scorer::Kernel(_) => return Err(request.unsupported()),
    };
    let scaling = model.info.scaler.steps();
    let is_known = |rule: &Rule| {
        matches!(rule, Rule::OneOf { nan_left: false, fractions: NegativeFractions::Zero, .. } | Rule::AtMost { .. })
    };
    let is_known = forest.features_where(|rule| !is_known(rule)).is_empty();
    let forest = if scaling.is_empty() && is_known {
        (**forest).clone()
    } else {
        let trees = PlainTrees::of(forest, scaling)?.trees.iter().map(tree).collect::<Result<_>>()?;
        Forest::from_trees(model.info.ranker.features, trees)?
    };
    // Keep LightGBM's default names if the features have no names.
    let named = request.feature_names != crate::data::default_feature_names(1, request.feature_names.len());
    let forest = if named { forest.with_names(&request.feature_names) } else { forest };
    Ok(Exported::alone(forest.to_text()))
}

fn tree(plain: &PlainTree) -> Result<Tree> {
    let branches = plain.branches.iter().map(|branch| Branch {
        feature: branch.feature,
        rule: Rule::AtMost {
            threshold: f64::from(branch.threshold),
            missing: if branch.nan_left { WhenMissing::NanLeft } else { WhenMissing::NanRight },
        },
        left: branch.left,
        right: branch.right,
    });
    Tree::new(branches.collect(), plain.leaves.clone())
}
