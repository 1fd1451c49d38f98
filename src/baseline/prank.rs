//! PRank: a perceptron that assigns each document to an interval between thresholds, one threshold per pair of adjacent labels.
//!
//! K. Crammer, Y. Singer: Pranking with Ranking (NIPS 2001), figure 1. Labels are ranks 1 to k; a document's rank is the smallest r
//! with `w . x < b_r`. If that is wrong, each threshold on the wrong side moves by 1, and `w` by `x` for each of them. The
//! algorithm has no constants. An epoch is a pass over all documents in a new random order. As in the RankNet paper (2005, section
//! 6.2), training takes at most 100 epochs and keeps the best one on the validation queries.

use super::algebra::add;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Architecture, Scorer};
use crate::setting::{Kinds, ModelKind};
use crate::train::Learner;
use burn::tensor::Device;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "prank",
    help: "PRank: a perceptron with thresholds between labels",
    optimises: Some("the distance between a document's label and the predicted one"),
    parameters: &[],
    epochs: 100,
    patience: 20,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: true,
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Prank {
    weights: Vec<f64>,
    thresholds: LabelBounds,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let thresholds = LabelBounds::new(start.train, KIND.name)?;
    Rounds::start(start, Prank { weights: vec![0.0; start.train.n_features()], thresholds })
}

impl Baseline for Prank {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let width = round.train.n_features();
        pass(round, |document| {
            let row = &round.train.features()[document * width..(document + 1) * width];
            let score = dot(&self.weights, row);
            let (steps, error) = self.thresholds.learn(score, round.train.labels()[document]);
            add(&mut self.weights, row, steps);
            error
        })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

/// Calls `learn` with each training document in the random order of this round; it returns by how many ranks the prediction was
/// wrong.
pub(super) fn pass(round: &Round<'_>, mut learn: impl FnMut(usize) -> usize) -> Result<RoundEnd> {
    let mut wrong = 0;
    for (place, document) in shuffled(round).into_iter().enumerate() {
        if place % CHECK_INTERVAL == 0 {
            round.stop.check()?;
        }
        wrong += learn(document);
    }
    // A pass without mistakes changes nothing.
    Ok(RoundEnd { loss: wrong as f64 / round.train.n_queries() as f64, converged: wrong == 0 })
}

/// Number of documents between two checks of the stop signal.
pub(super) const CHECK_INTERVAL: usize = 1 << 4;

/// All training documents in the random order of this round.
pub(super) fn shuffled(round: &Round<'_>) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(round.seed);
    random.set_stream(round.number as u64);
    let mut order: Vec<usize> = (0..round.train.n_documents()).collect();
    order.shuffle(&mut random);
    order
}

/// The thresholds between adjacent labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LabelBounds {
    /// All labels of the training documents, ascending: the r-th is rank r.
    labels: Vec<f32>,
    /// One fewer than labels.
    pub bounds: Vec<f64>,
}

/// Maximum number of labels; more would not be ranks.
const MAX_LABELS: usize = 1000;

impl LabelBounds {
    /// All thresholds at 0, as in the paper; `name` is the name of the system for errors.
    pub fn new(train: &Dataset, name: &str) -> Result<Self> {
        let mut labels = train.labels().to_vec();
        labels.sort_unstable_by(f32::total_cmp);
        labels.dedup();
        if !(2..=MAX_LABELS).contains(&labels.len()) {
            return Err(Error::Data(format!(
                "{name}: the training documents have {} different labels: expected 2 to {MAX_LABELS}",
                labels.len()
            )));
        }
        let bounds = vec![0.0; labels.len() - 1];
        Ok(LabelBounds { labels, bounds })
    }

    /// Moves the thresholds that a document is on the wrong side of. Returns the number of steps by which the score has to increase
    /// (negative: decrease), and by how many ranks the prediction was wrong.
    pub fn learn(&mut self, score: f64, label: f32) -> (f64, usize) {
        // Ranks count from 0 here.
        let rank = self.labels.partition_point(|&lower| lower < label);
        let predicted = self.bounds.iter().position(|&bound| score < bound).unwrap_or(self.bounds.len());
        if predicted == rank {
            return (0.0, 0);
        }
        let mut steps = 0.0;
        for (r, bound) in self.bounds.iter_mut().enumerate() {
            let side = if rank <= r { -1.0 } else { 1.0 };
            if (score - *bound) * side <= 0.0 {
                steps += side;
                *bound -= side;
            }
        }
        (steps, rank.abs_diff(predicted))
    }
}

/// The score of a document.
pub(super) fn dot(weights: &[f64], row: &[f32]) -> f64 {
    weights.iter().zip(row).map(|(weight, &value)| weight * f64::from(value)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(labels: &[f32]) -> Dataset {
        Dataset::new(1, vec![0.0; labels.len()], labels.to_vec(), vec![("a".into(), labels.len())]).unwrap()
    }

    #[test]
    fn steps_by_hand() {
        // Ranks 1 to 4 for the labels 0, 1, 2 and 5.
        let mut thresholds = LabelBounds::new(&data(&[1.0, 5.0, 0.0, 1.0, 2.0]), "x").unwrap();
        assert_eq!(thresholds.bounds, [0.0; 3]);
        // A score of 0 is below no threshold, so the rank is 4: correct for label 5.
        assert_eq!(thresholds.learn(0.0, 5.0), (0.0, 0));
        // For label 1, rank 2, the score must be above the first threshold and below the others. Equality with the first is wrong too.
        assert_eq!(thresholds.learn(0.0, 1.0), (1.0 - 1.0 - 1.0, 2));
        assert_eq!(thresholds.bounds, [-1.0, 1.0, 1.0]);
        // A score of 0 now has rank 2; for label 0 it must be below the first threshold.
        assert_eq!(thresholds.learn(0.0, 0.0), (-1.0, 1));
        assert_eq!(thresholds.bounds, [0.0, 1.0, 1.0]);
        assert_eq!(thresholds.learn(-5.0, 5.0), (3.0, 3));
        assert_eq!(thresholds.bounds, [-1.0, 0.0, 0.0]);
    }

    #[test]
    fn thresholds_stay_in_order() {
        // Lemma 1 of the paper.
        let mut thresholds = LabelBounds::new(&data(&[0.0, 1.0, 2.0, 3.0]), "x").unwrap();
        for step in 0..500u64 {
            let random = (step + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            thresholds.learn(random as f64 / 1e6 - 8.0, (random % 4) as f32);
            assert!(thresholds.bounds.is_sorted(), "{:?}", thresholds.bounds);
        }
    }

    #[test]
    fn too_few_and_too_many_labels_are_rejected() {
        let error = LabelBounds::new(&data(&[1.0, 1.0]), "prank").unwrap_err().to_string();
        assert!(error.contains("prank: the training documents have 1 different labels"), "{error}");
        assert!(LabelBounds::new(&data(&(0..1001).map(|label| label as f32).collect::<Vec<_>>()), "x").is_err());
    }
}
