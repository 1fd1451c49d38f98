//! Trees, by boosting: each epoch grows one on the objective's gradient and second derivatives.

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

/// Trees so far, and the scores that the next one is to mend.
pub(super) struct TreeLearner {
    binned: Binned,
    /// Nothing before the first tree.
    forest: Option<Forest>,
    /// The first of these trees are those of the best epoch.
    best: usize,
    /// Whether no further tree could be grown.
    converged: bool,
    train: Vec<f64>,
    /// Empty until validation documents have been scored.
    valid: Vec<f64>,
    tried: Option<Tried>,
}

/// What an epoch that is not taken yet came to.
struct Tried {
    /// A forest of the new tree alone; nothing when none could be grown.
    tree: Option<Forest>,
    train: Vec<f64>,
    valid: Vec<f64>,
}

impl TreeLearner {
    pub fn new(config: &TrainConfig, settings: &TreeSettings, train: &Dataset) -> Result<Self> {
        let Architecture::Trees { leaves, .. } = config.architecture else {
            return Err(Error::Config(format!("{}: boosting grows trees", config.architecture)));
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
        };
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
        let slopes = Gradients { gradient: &mut gradient, hessian: Some(&mut hessian) };
        let result =
            objective.gradients(&scores, batch, slopes, Outputs { loss: true, pairs: true }, &seeds, epoch.stop)?;
        if self.forest.is_none() && gradient.iter().all(|&slope| slope == 0.0) {
            // An objective that is flat where all scores are equal, as rankcosine: its first tree is fitted to the labels.
            gradient.iter_mut().zip(data.labels()).for_each(|(slope, label)| *slope = -label);
        }
        make_positive(&mut hessian);
        // The seed of the tree is one of a sequence whose neighbours have nothing in common.
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

    fn take_epoch(&mut self, best: bool) -> Result<()> {
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
        let forest = self.forest.as_ref().ok_or_else(|| Error::Training("there is no tree yet".into()))?;
        Ok(Scorer::Trees(Arc::new(forest.truncated(self.best.max(1)))))
    }

    fn save(&self) -> Result<Vec<Vec<u8>>> {
        let text = self.forest.as_ref().map_or(String::new(), Forest::to_text);
        let numbers = [self.best as u64, u64::from(self.converged)];
        Ok(vec![text.into_bytes(), numbers.iter().flat_map(|number| number.to_le_bytes()).collect()])
    }

    fn restore(&mut self, parts: Vec<Vec<u8>>, train: &Dataset) -> Result<()> {
        let damaged = || Error::Record("damaged checkpoint: it is not that of trees".into());
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
            // Tree by tree, as they were added when they grew.
            Some(forest) => forest.score_rows(train.features(), train.n_features(), &mut self.train),
            None => Ok(()),
        }
    }
}

const NO_TREE: &str = "no tree can be grown: every split would leave a leaf with too few documents or too little to learn \
                       from: lower `min_data` or `min_hessian`";

/// The text of the only tree of a forest.
fn block(forest: &Forest) -> Result<String> {
    let text = forest.to_text();
    let block = text.split_once("\nTree=0\n").and_then(|(_, rest)| rest.split_once("\nend of trees"));
    block
        .map(|(block, _)| block.to_owned())
        .ok_or_else(|| Error::Training("LightGBM gave a model without a tree".into()))
}

/// The forest of one tree.
fn alone(text: &str) -> Result<Forest> {
    // The settings of the run are in model.json; LightGBM's own name the number of threads, which nothing depends on.
    let text = text.split_once("\nparameters:\n").map_or(text, |(before, _)| before);
    Forest::parse(&format!("{text}\n"))
}

/// Second derivatives that a Newton step can divide by.
///
/// A loss that is not convex has negative ones; a step then goes by their sizes, none below the mean, so that it goes
/// downhill and not far. A loss without any, such as the hinge, takes plain gradient steps.
fn make_positive(hessian: &mut [f32]) {
    let sum: f64 = hessian.iter().map(|&slope| f64::from(slope.abs())).sum();
    if sum == 0.0 {
        hessian.fill(1.0);
    } else if hessian.iter().any(|&slope| slope < 0.0) {
        let mean = (sum / hessian.len() as f64) as f32;
        hessian.iter_mut().for_each(|slope| *slope = slope.abs().max(mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_derivatives_are_made_to_divide_by() {
        let positive = |mut hessian: Vec<f32>| {
            make_positive(&mut hessian);
            hessian
        };
        assert_eq!(positive(vec![0.0, 0.25, 1.0]), [0.0, 0.25, 1.0]);
        assert_eq!(positive(vec![0.0, 0.0]), [1.0, 1.0]);
        assert_eq!(positive(vec![-3.0, 1.0, 2.0]), [3.0, 2.0, 2.0]);
    }
}
