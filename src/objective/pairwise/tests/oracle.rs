//! Sums over pairs directly from the formulas, in f64 and O(n²): the reference for all other kernels.

use super::super::PairLoss;
use crate::numeric::order::safe;
use crate::numeric::{sigmoid, softplus};
use crate::objective::loss::{QueryResult, SATURATED};

/// The gradient and sums of a query, from straightforward code.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Reference {
    /// `dC/ds` of each document, in document order.
    pub gradient: Vec<f64>,
    /// Second derivative with respect to the score of each document.
    pub hessian: Vec<f64>,
    /// Sums over all its pairs.
    pub result: QueryResult,
}

impl PairLoss {
    /// Computes a query in f64, one exponential per pair: slow but simple.
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

    /// Adds the pair in which `i` is preferred to `j`.
    pub(super) fn add(&mut self, loss: &PairLoss, scores: &[f32], i: usize, j: usize, weight: f64) {
        let difference = loss.sigma * (f64::from(safe(scores[i])) - f64::from(safe(scores[j])));
        let factor = sigmoid(-difference);
        let unit = loss.base.nats();
        let gradient = loss.sigma * weight * factor / unit;
        self.gradient[i] -= gradient;
        self.gradient[j] += gradient;
        let second = loss.sigma.powi(2) * weight * factor * sigmoid(difference) / unit;
        self.hessian[i] += second;
        self.hessian[j] += second;
        self.result.loss += weight * softplus(-difference) / unit;
        self.result.pairs += 1;
        self.result.saturated += u64::from(factor < SATURATED);
    }
}
