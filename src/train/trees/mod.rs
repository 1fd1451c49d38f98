//! Gradient boosted trees: each epoch grows one tree on the objective's gradients and hessian diagonal.

mod lightgbm;
mod threads;

use super::learner::{EpochStart, EpochTotals, Learner, query_seeds};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Architecture, Forest, Scorer};
use crate::objective::{Batch, Gradients, Outputs};
use crate::setting::TrainConfig;
use crate::setting::TreeSettings;
use crate::stop::Stop;
use lightgbm::{Binned, Grown, Growth};
use std::sync::Arc;

/// The largest level of a categorical feature: all whole numbers up to it are f32 values.
const LARGEST_LEVEL: f32 = 16_777_216.0;

/// The trees so far, and the scores that the next tree corrects.
pub(super) struct TreeLearner {
    binned: Binned,
    /// `None` before the first tree.
    forest: Option<Forest>,
    /// Number of trees at the best epoch.
    best: usize,
    /// Whether no further tree can be grown.
    converged: bool,
    train: Vec<f64>,
    /// Scores of the validation documents; empty until they are first computed.
    valid: Vec<f64>,
    tried: Option<Tried>,
}

/// The result of an epoch that is not accepted yet.
struct Tried {
    /// A forest with only the new tree; `None` if no tree could be grown.
    tree: Option<Forest>,
    train: Vec<f64>,
    valid: Vec<f64>,
}

impl TreeLearner {
    pub fn new(config: &TrainConfig, settings: &TreeSettings, train: &Dataset) -> Result<Self> {
        let Architecture::Trees { leaves, .. } = config.architecture else {
            return Err(Error::Config(format!("{}: boosting needs trees", config.architecture)));
        };
        let growth = Growth {
            leaves,
            shrinkage: config.learning_rate,
            min_data: settings.min_data,
            min_hessian: settings.min_hessian,
            bins: settings.bins,
            l2: config.l2,
            subsample: settings.subsample,
            feature_fraction: settings.feature_fraction,
            missing: settings.missing,
            categorical: config.categorical_columns(train)?,
        };
        check_levels(train, &growth.categorical)?;
        let binned = Binned::new(train, growth)?;
        let train = vec![0.0; train.n_documents()];
        Ok(TreeLearner { binned, forest: None, best: 0, converged: false, train, valid: Vec::new(), tried: None })
    }

    fn n_trees(&self) -> usize {
        self.forest.as_ref().map_or(0, Forest::n_trees)
    }
}

impl Learner for TreeLearner {
    fn try_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals> {
        self.tried = None;
        let scores: Vec<f32> = self.train.iter().map(|&score| score as f32).collect();
        let (objective, data) = (&epoch.config.objective, epoch.data);
        let n = data.n_documents();
        let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; n]);
        let seeds = query_seeds(objective, epoch.draws(), 0..data.n_queries());
        let batch = Batch { labels: data.labels(), offsets: data.offsets() };
        let gradients = Gradients { gradient: &mut gradient, hessian: Some(&mut hessian) };
        let result =
            objective.gradients(&scores, batch, gradients, Outputs { loss: true, pairs: true }, &seeds, epoch.stop)?;
        if self.forest.is_none() && gradient.iter().all(|&value| value == 0.0) {
            // Some objectives, such as rankcosine, have zero gradients at equal scores: fit the first tree to the
            // labels.
            gradient.iter_mut().zip(data.labels()).for_each(|(value, label)| *value = -label);
        }
        make_positive(&mut hessian);
        // Hash the seed, so that neighbouring epochs get unrelated seeds.
        let seed =
            (epoch.config.seed ^ (epoch.number as u64).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let grown = self.binned.grow(&gradient, &hessian, seed, self.n_trees())?;
        epoch.stop.check()?;
        if grown.is_none() && self.forest.is_none() {
            return Err(Error::Training(NO_TREE.into()));
        }
        let tried = match grown {
            None => Tried { tree: None, train: self.train.clone(), valid: Vec::new() },
            Some(Grown { text, scores }) => {
                let tree = alone(&text)?;
                let added = || -> Result<Vec<f64>> {
                    let mut train = self.train.clone();
                    tree.add_tree(0, data.features(), data.n_features(), &mut train)?;
                    Ok(train)
                };
                let train = scores.map_or_else(added, Ok)?;
                Tried { tree: Some(tree), train, valid: Vec::new() }
            }
        };
        self.tried = Some(tried);
        Ok(EpochTotals { loss: result.loss, pairs: result.pairs, saturated: result.saturated, scores })
    }

    fn score_valid(&mut self, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        let (features, width) = (valid.features(), valid.n_features());
        if self.valid.len() != valid.n_documents() {
            self.valid = vec![0.0; valid.n_documents()];
            if let Some(forest) = &self.forest {
                forest.score_rows(features, width, &mut self.valid)?;
            }
        }
        stop.check()?;
        let mut scores = self.valid.clone();
        if let Some(tried) = &mut self.tried {
            if let Some(tree) = &tried.tree {
                tree.add_tree(0, features, width, &mut scores)?;
            }
            tried.valid.clone_from(&scores);
        }
        Ok(scores.into_iter().map(|score| score as f32).collect())
    }

    fn is_finite(&self) -> bool {
        let scores = self.tried.as_ref().map_or(&self.train, |tried| &tried.train);
        scores.iter().all(|score| score.is_finite())
    }

    fn accept_epoch(&mut self, best: bool) -> Result<()> {
        if let Some(tried) = self.tried.take() {
            self.converged = tried.tree.is_none();
            match (&mut self.forest, tried.tree) {
                (Some(forest), Some(tree)) => forest.push_block(&block(&tree)?)?,
                (forest, Some(tree)) => *forest = Some(tree),
                (_, None) => {}
            }
            (self.train, self.valid) = (tried.train, tried.valid);
        }
        if best {
            self.best = self.n_trees();
        }
        Ok(())
    }

    fn has_converged(&self) -> bool {
        self.converged
    }

    fn best(&self, _: &Dataset) -> Result<Scorer> {
        let forest = self.forest.as_ref().ok_or_else(|| Error::Training("no tree has been grown yet".into()))?;
        Ok(Scorer::Trees(Arc::new(forest.truncated(self.best.max(1)))))
    }

    fn save(&self) -> Result<Vec<Vec<u8>>> {
        let text = self.forest.as_ref().map_or(String::new(), Forest::to_text);
        let numbers = [self.best as u64, u64::from(self.converged)];
        Ok(vec![text.into_bytes(), numbers.iter().flat_map(|number| number.to_le_bytes()).collect()])
    }

    fn restore(&mut self, parts: Vec<Vec<u8>>, train: &Dataset) -> Result<()> {
        let damaged = || Error::Record("damaged checkpoint: it is not of trees".into());
        let [text, numbers] = <[Vec<u8>; 2]>::try_from(parts).map_err(|_| damaged())?;
        let text = String::from_utf8(text).map_err(|_| damaged())?;
        let numbers: Vec<u64> = numbers
            .chunks_exact(8)
            .map(|bytes| bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)))
            .collect();
        let [best, converged] = numbers[..] else { return Err(damaged()) };
        self.forest = if text.is_empty() { None } else { Some(Forest::parse(&text)?) };
        (self.best, self.converged) = (best as usize, converged == 1);
        if self.best > self.n_trees() {
            return Err(damaged());
        }
        self.train.fill(0.0);
        self.valid.clear();
        match &self.forest {
            // Tree by tree, in the order in which they were added.
            Some(forest) => forest.score_rows(train.features(), train.n_features(), &mut self.train),
            None => Ok(()),
        }
    }
}

/// Checks that the values of categorical features are levels: whole numbers of 0 or more. LightGBM would take negative numbers as
/// missing, and cut off fractions.
fn check_levels(train: &Dataset, columns: &[usize]) -> Result<()> {
    let width = train.n_features();
    for (row, values) in train.features().chunks(width.max(1)).enumerate() {
        for &column in columns {
            let value = values[column];
            if !(value.is_nan() || (value >= 0.0 && value.fract() == 0.0 && value <= LARGEST_LEVEL)) {
                return Err(Error::Data(format!(
                    "categorical feature {} of document {} is {value}: levels are whole numbers from 0 to {LARGEST_LEVEL}; number \
                     the levels, or remove the feature from `categorical`",
                    column + 1,
                    row + 1
                )));
            }
        }
    }
    Ok(())
}

const NO_TREE: &str = "no tree can be grown: every split would leave a leaf with too few documents or too small a \
                       hessian: lower `min_data` or `min_hessian`";

/// The text of the tree in a forest of one tree.
fn block(forest: &Forest) -> Result<String> {
    let text = forest.to_text();
    let block = text.split_once("\nTree=0\n").and_then(|(_, rest)| rest.split_once("\nend of trees"));
    block
        .map(|(block, _)| block.to_owned())
        .ok_or_else(|| Error::Training("LightGBM returned a model without a tree".into()))
}

/// Parses LightGBM's model of one tree.
fn alone(text: &str) -> Result<Forest> {
    // Drop LightGBM's parameters: settings are in model.json, and these include the number of threads.
    let text = text.split_once("\nparameters:\n").map_or(text, |(before, _)| before);
    Forest::parse(&format!("{text}\n"))
}

/// Makes the hessian diagonal safe to divide by in a Newton step.
///
/// A loss that is not convex has negative values; they are replaced by their absolute values, at least the mean, so
/// that steps descend and stay short. A loss without second derivatives, such as the hinge, gets plain gradient steps.
fn make_positive(hessian: &mut [f32]) {
    let sum: f64 = hessian.iter().map(|&value| f64::from(value.abs())).sum();
    if sum == 0.0 {
        hessian.fill(1.0);
    } else if hessian.iter().any(|&value| value < 0.0) {
        let mean = (sum / hessian.len() as f64) as f32;
        hessian.iter_mut().for_each(|value| *value = value.abs().max(mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hessians_are_made_positive() {
        let positive = |mut hessian: Vec<f32>| {
            make_positive(&mut hessian);
            hessian
        };
        assert_eq!(positive(vec![0.0, 0.25, 1.0]), [0.0, 0.25, 1.0]);
        assert_eq!(positive(vec![0.0, 0.0]), [1.0, 1.0]);
        assert_eq!(positive(vec![-3.0, 1.0, 2.0]), [3.0, 2.0, 2.0]);
    }
}
