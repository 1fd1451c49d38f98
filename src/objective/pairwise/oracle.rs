//! The sums over pairs as the formulas say them, in f64, O(n²): what every other kernel is compared to.

use super::super::loss::{QueryResult, SATURATED};
use super::PairLoss;
use crate::numeric::order::{safe, training_order};
use crate::numeric::{sigmoid, softplus};
use crate::stop::Stop;
use std::ops::Range;

/// A query's slopes and sums by the plainest code there is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reference {
    /// `dC/ds` of each document, in document order.
    pub gradient: Vec<f64>,
    /// The second derivative by the score of each document.
    pub second: Vec<f64>,
    /// The sums over its pairs, all of them.
    pub result: QueryResult,
}

impl PairLoss {
    /// Computes a query in f64, pair by pair with one exponential each: slow, obviously right.
    pub fn reference(&self, scores: &[f32], labels: &[f32]) -> Reference {
        let mut sums = Reference::new(scores.len());
        self.for_each_weight(scores, labels, |i, j, weight| sums.add(self, scores, i, j, weight));
        sums
    }

    /// Calls back with `(i, j, weight)` for every ordered pair of documents that has a weight, in document indices.
    pub fn for_each_weight(&self, scores: &[f32], labels: &[f32], pair: impl FnMut(usize, usize, f64)) {
        self.for_each_weight_of(scores, labels, 0..scores.len(), &Stop::new(), pair);
    }

    /// The same for documents `i` of a range only; ends early, with pairs missing, once `stop` is set.
    pub(super) fn for_each_weight_of(
        &self,
        scores: &[f32],
        labels: &[f32],
        rows: Range<usize>,
        stop: &Stop,
        mut pair: impl FnMut(usize, usize, f64),
    ) {
        let order = training_order(scores);
        let ranked: Vec<f32> = order.iter().map(|&document| labels[document]).collect();
        let weights = self.weights(&ranked);
        for (above, &i) in order.iter().enumerate().filter(|(_, i)| rows.contains(i)) {
            if stop.asked() {
                return;
            }
            for (below, &j) in order.iter().enumerate() {
                let weight = weights.get(above, below);
                if weight != 0.0 {
                    pair(i, j, weight);
                }
            }
        }
    }
}

impl Reference {
    pub(super) fn new(n: usize) -> Self {
        Reference { gradient: vec![0.0; n], second: vec![0.0; n], result: QueryResult::default() }
    }

    /// Adds the pair that wants `i` above `j`.
    pub(super) fn add(&mut self, loss: &PairLoss, scores: &[f32], i: usize, j: usize, weight: f64) {
        let difference = loss.sigma * (f64::from(safe(scores[i])) - f64::from(safe(scores[j])));
        let factor = sigmoid(-difference);
        let unit = loss.base.nats();
        let pull = loss.sigma * weight * factor / unit;
        self.gradient[i] -= pull;
        self.gradient[j] += pull;
        let curve = loss.sigma.powi(2) * weight * factor * sigmoid(difference) / unit;
        self.second[i] += curve;
        self.second[j] += curve;
        self.result.loss += weight * softplus(-difference) / unit;
        self.result.pairs += 1;
        self.result.saturated += u64::from(factor < SATURATED);
    }
}
