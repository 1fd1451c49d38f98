//! Tuning of trees on validation queries, one setting at a time.

use super::forest::{LIGHTGBM, METRIC, Parts, Shape, config, grew_no_tree, grow};
use crate::harness::finding::{Finding, no_share};
use crate::harness::tuning::{Tuned, tune};
use crate::harness::{Execution, Ticker};
use anyhow::Context;
use serde::{Deserialize, Serialize};

/// Grids of the search, the same for every loss.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Grids {
    /// Number of leaves.
    pub leaves: &'static [f64],
    /// Minimum hessian of a leaf.
    pub hessians: &'static [f64],
    /// Minimum number of documents of a leaf.
    pub documents_in_leaf: &'static [f64],
    /// Maximum number of extensions of a grid while the best value is at its end.
    pub extensions: usize,
}

/// Result of a search over three settings, one at a time with the others at their best values so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Search {
    pub leaves: Tuned,
    pub hessian: Tuned,
    pub documents: Tuned,
}

impl Search {
    pub fn shape(&self) -> Shape {
        Shape {
            leaves: whole_leaves(self.leaves.best),
            min_hessian: self.hessian.best,
            min_data: whole_documents(self.documents.best),
            ..LIGHTGBM
        }
    }
}

impl Finding for Search {
    fn impossible(&self) -> Option<String> {
        let all = [&self.leaves, &self.hessian, &self.documents];
        no_share("a validation value", all.iter().flat_map(|tuned| &tuned.trials).map(|trial| trial.1))
    }
}

/// Tunes the number of leaves, then the minimum hessian, then the minimum number of documents of a leaf on validation queries.
pub fn search(
    execution: &Execution<'_>,
    (grids, trees): (&Grids, usize),
    key: &str,
    objective: &str,
    parts: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Search> {
    let mut done = 0.0;
    let mut value = |shape: Shape| -> anyhow::Result<f64> {
        let share = (done, 0.85 * done + 0.15);
        done = share.1;
        let config = config(objective, shape, trees, METRIC, execution.session)?;
        match grow(execution, &format!("{key} {}", shape.words()), &config, parts, (ticker, share)) {
            Ok(model) => model.best_value().context("no tree was grown"),
            // With these settings no leaf is large enough: the worst value.
            Err(error) if grew_no_tree(&error) => Ok(0.0),
            Err(error) => Err(error),
        }
    };
    // The first search uses the middle values of the other grids.
    let middle = |grid: &[f64]| grid[grid.len() / 2];
    let mut shape =
        Shape { min_hessian: middle(grids.hessians), min_data: middle(grids.documents_in_leaf) as usize, ..LIGHTGBM };
    let leaves = tune(grids.leaves, grids.extensions, |leaves| value(Shape { leaves: whole_leaves(leaves), ..shape }))?;
    shape.leaves = whole_leaves(leaves.best);
    let hessian = tune(grids.hessians, grids.extensions, |min_hessian| value(Shape { min_hessian, ..shape }))?;
    shape.min_hessian = hessian.best;
    let documents = tune(grids.documents_in_leaf, grids.extensions, |min_data| {
        value(Shape { min_data: whole_documents(min_data), ..shape })
    })?;
    Ok(Search { leaves, hessian, documents })
}

/// Number of leaves for a value of the grid, at least two.
pub fn whole_leaves(setting: f64) -> usize {
    whole(setting, 2)
}

/// Minimum number of documents of a leaf for a value of the grid, at least one.
pub fn whole_documents(setting: f64) -> usize {
    whole(setting, 1)
}

/// Rounds a value of a grid.
fn whole(value: f64, min: usize) -> usize {
    (value.round() as usize).max(min)
}
