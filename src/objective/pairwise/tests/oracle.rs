//! The sums over pairs as the formulas say them, in f64, O(n²): what every other kernel is compared to.

use super::super::PairLoss;
use crate::numeric::order::safe;
use crate::numeric::{sigmoid, softplus};
use crate::objective::loss::{QueryResult, SATURATED};

/// A query's slopes and sums by the plainest code there is.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Reference {
    /// `dC/ds` of each document, in document order.
    pub gradient: Vec<f64>,
    /// The second derivative by the score of each document.
    pub hessian: Vec<f64>,
    /// The sums over its pairs, all of them.
    pub result: QueryResult,
}

impl PairLoss {
    /// Computes a query in f64, pair by pair with one exponential each: slow, obviously right.
    pub(super) fn reference(&self, scores: &[f32], labels: &[f32]) -> Reference {
        let mut sums = Reference::new(scores.len());
        self.for_each_weight(scores, labels, |i, j, weight| sums.add(self, scores, i, j, weight));
        sums
    }
}

impl Reference {
    pub(super) fn new(n: usize) -> Self {
        Reference { gradient: vec![0.0; n], hessian: vec![0.0; n], result: QueryResult::default() }
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
        self.hessian[i] += curve;
        self.hessian[j] += curve;
        self.result.loss += weight * softplus(-difference) / unit;
        self.result.pairs += 1;
        self.result.saturated += u64::from(factor < SATURATED);
    }
}
