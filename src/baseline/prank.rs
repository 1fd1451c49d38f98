//! PRank: a perceptron that puts every document between two thresholds, one for each step from a label to the next.
//!
//! K. Crammer, Y. Singer: Pranking with Ranking (NIPS 2001), figure 1. Labels are ranks 1 to k; a document's rank is the
//! least r with `w . x < b_r`. Where that is wrong, each threshold on the wrong side is moved by 1, and `w` by `x` as
//! often. The paper has no constants. An epoch is a pass over all documents in a new order. As in the RankNet paper (2005,
//! section 6.2): at most 100 epochs, and the best one on validation queries counts.

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
    help: "PRank: a perceptron with a threshold between labels",
    optimises: Some("the distance of a document's label from the predicted one"),
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

/// Shows all training documents once, in an order of this round. What is shown answers by how many ranks it was wrong.
pub(super) fn pass(round: &Round<'_>, mut show: impl FnMut(usize) -> usize) -> Result<RoundEnd> {
    let mut wrong = 0;
    for (place, document) in shuffled(round).into_iter().enumerate() {
        if place % BETWEEN_LOOKS == 0 {
            round.stop.check()?;
        }
        wrong += show(document);
    }
    // Whoever makes no mistake in a whole pass changes nothing.
    Ok(RoundEnd { loss: wrong as f64 / round.train.n_queries() as f64, converged: wrong == 0 })
}

/// Documents between two looks at whether to stop; of many features, the products of one take long.
pub(super) const BETWEEN_LOOKS: usize = 1 << 4;

/// All training documents in an order of this round.
pub(super) fn shuffled(round: &Round<'_>) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(round.seed);
    random.set_stream(round.number as u64);
    let mut order: Vec<usize> = (0..round.train.n_documents()).collect();
    order.shuffle(&mut random);
    order
}

/// The thresholds between neighbouring labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LabelBounds {
    /// All labels of the training documents, upwards: the r-th is rank r.
    labels: Vec<f32>,
    /// One less than there are labels.
    pub bounds: Vec<f64>,
}

/// More labels than this are measurements, not ranks.
const MOST_LABELS: usize = 1000;

impl LabelBounds {
    /// All at 0, where the paper starts; `name` is that of the system which asks.
    pub fn new(train: &Dataset, name: &str) -> Result<Self> {
        let mut labels = train.labels().to_vec();
        labels.sort_unstable_by(f32::total_cmp);
        labels.dedup();
        if !(2..=MOST_LABELS).contains(&labels.len()) {
            return Err(Error::Data(format!(
                "{name}: the training documents have {} different labels: it needs at least 2, and takes at most \
                 {MOST_LABELS}",
                labels.len()
            )));
        }
        let bounds = vec![0.0; labels.len() - 1];
        Ok(LabelBounds { labels, bounds })
    }

    /// Moves the thresholds that a document is on the wrong side of. Returns how many steps the score has to move up (or
    /// down, if negative), and by how many ranks it was wrong.
    pub fn learn(&mut self, score: f64, label: f32) -> (f64, usize) {
        // Both are counted from 0 here.
        let rank = self.labels.partition_point(|&lower| lower < label);
        let found = self.bounds.iter().position(|&bound| score < bound).unwrap_or(self.bounds.len());
        if found == rank {
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
        (steps, rank.abs_diff(found))
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
        // A score of 0 is below no threshold, so rank 4: right for label 5.
        assert_eq!(thresholds.learn(0.0, 5.0), (0.0, 0));
        // For label 1, rank 2, the score is to be above the first and below the others. On the border of the first is wrong too.
        assert_eq!(thresholds.learn(0.0, 1.0), (1.0 - 1.0 - 1.0, 2));
        assert_eq!(thresholds.bounds, [-1.0, 1.0, 1.0]);
        // Now rank 2 for a score of 0; label 0 wants it below the first.
        assert_eq!(thresholds.learn(0.0, 0.0), (-1.0, 1));
        assert_eq!(thresholds.bounds, [0.0, 1.0, 1.0]);
        assert_eq!(thresholds.learn(-5.0, 5.0), (3.0, 3));
        assert_eq!(thresholds.bounds, [-1.0, 0.0, 0.0]);
    }

    #[test]
    fn bounds_stay_in_order() {
        // Lemma 1 of the paper.
        let mut thresholds = LabelBounds::new(&data(&[0.0, 1.0, 2.0, 3.0]), "x").unwrap();
        for step in 0..500u64 {
            let random = (step + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            thresholds.learn(random as f64 / 1e6 - 8.0, (random % 4) as f32);
            assert!(thresholds.bounds.is_sorted(), "{:?}", thresholds.bounds);
        }
    }

    #[test]
    fn labels_that_are_no_ranks_are_refused() {
        let error = LabelBounds::new(&data(&[1.0, 1.0]), "prank").unwrap_err().to_string();
        assert!(error.contains("prank: the training documents have 1 different labels"), "{error}");
        assert!(LabelBounds::new(&data(&(0..1001).map(|label| label as f32).collect::<Vec<_>>()), "x").is_err());
    }
}
