//! OAP-BPM: the average of many PRank perceptrons, each trained on a random part of the documents.
//!
//! E. F. Harrington: Online Ranking/Collaborative Filtering Using the Perceptron Algorithm (ICML 2003), "online aggregate
//! PRank - Bayes point machine". Each perceptron sees each document with probability tau. The average of their directions
//! approximates the centre of all consistent perceptrons (the Bayes point). The RankNet paper (2005, section 6.2) selected tau 0.3
//! and 100 perceptrons on validation queries.

use super::algebra::add;
use super::prank::{CHECK_INTERVAL, LabelBounds, dot, shuffled};
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::Result;
use crate::memory;
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::train::Learner;
use burn::tensor::Device;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "oap-bpm",
    help: "OAP-BPM: average of PRank perceptrons on random documents",
    optimises: super::prank::KIND.optimises,
    parameters: &[
        Parameter::number("tau", 0.3, 0.001..=1.0, "fraction of documents that each perceptron sees"),
        Parameter::number("perceptrons", 100.0, 1.0..=10_000.0, "number of perceptrons"),
    ],
    epochs: 100,
    patience: 20,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: true,
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct OapBpm {
    tau: f64,
    perceptrons: Vec<Perceptron>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Perceptron {
    weights: Vec<f64>,
    thresholds: LabelBounds,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let (tau, count, width) = (start.number("tau"), start.number("perceptrons") as usize, start.train.n_features());
    let thresholds = LabelBounds::new(start.train, KIND.name)?;
    let numbers = (width as u64).saturating_add(2 * thresholds.bounds.len() as u64).saturating_mul(count as u64);
    // The states before and after a round and of the best round, and a checkpoint as text.
    let bytes = memory::bytes_of::<f64>(numbers).saturating_mul(9);
    memory::ask(bytes, &format!("{}: {count} perceptrons", KIND.name), "use fewer perceptrons or features")?;
    let perceptrons = vec![Perceptron { weights: vec![0.0; width], thresholds }; count];
    Rounds::start(start, OapBpm { tau, perceptrons })
}

impl Baseline for OapBpm {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let (order, tau) = (shuffled(round), self.tau);
        let perceptrons = self.perceptrons.par_iter_mut().enumerate();
        let errors = perceptrons.map(|(index, perceptron)| perceptron.pass(round, &order, tau, index as u64));
        let errors: Vec<f64> = errors.collect::<Result<_>>()?;
        // Scaled as if each had seen all documents.
        let error = errors.iter().sum::<f64>() / (tau * errors.len() as f64);
        Ok(RoundEnd { loss: error / round.train.n_queries() as f64, converged: false })
    }

    fn scorer(&self, train: &Dataset, device: &Device) -> Result<Scorer> {
        let mut mean = vec![0.0; train.n_features()];
        for perceptron in &self.perceptrons {
            let length = perceptron.weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
            // A perceptron without mistakes has no direction.
            if length > 0.0 {
                let share = 1.0 / (length * self.perceptrons.len() as f64);
                mean.iter_mut().zip(&perceptron.weights).for_each(|(mean, weight)| *mean += share * weight);
            }
        }
        linear(&mean, device)
    }
}

impl Perceptron {
    /// Trains on a random part of the documents. Returns the sum of the rank errors.
    fn pass(&mut self, round: &Round<'_>, order: &[usize], tau: f64, index: u64) -> Result<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(round.seed);
        // The order of the documents uses lower stream numbers.
        random.set_stream((index + 1) << 32 | round.number as u64);
        let (width, mut wrong) = (round.train.n_features(), 0);
        for (place, &document) in order.iter().enumerate() {
            if place % CHECK_INTERVAL == 0 {
                round.stop.check()?;
            }
            if !random.random_bool(tau) {
                continue;
            }
            let row = &round.train.features()[document * width..(document + 1) * width];
            let score = dot(&self.weights, row);
            let (steps, error) = self.thresholds.learn(score, round.train.labels()[document]);
            add(&mut self.weights, row, steps);
            wrong += error;
        }
        Ok(wrong as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;

    #[test]
    fn directions_are_averaged_regardless_of_their_norms() {
        let train = Dataset::new(2, vec![0.0; 4], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
        let thresholds = LabelBounds::new(&train, "x").unwrap();
        let of = |weights: [f64; 2]| Perceptron { weights: weights.to_vec(), thresholds: thresholds.clone() };
        let all =
            OapBpm { tau: 0.3, perceptrons: vec![of([3.0, 4.0]), of([0.0, -100.0]), of([0.0; 2]), of([0.5, 0.0])] };
        let scorer = all.scorer(&train, &device::open("auto").unwrap()).unwrap();
        let scores = scorer.score_rows(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
        assert_eq!(scores, [((0.6 + 1.0) / 4.0) as f32, ((0.8 - 1.0) / 4.0) as f32]);
    }
}
