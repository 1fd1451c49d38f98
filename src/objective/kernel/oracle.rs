//! The sums over pairs as the formulas say them, in f64, O(n²): what every other kernel is compared to.

use super::types::SATURATED;
use super::{Kernel, QueryResult};
use crate::numeric::order::{safe, training_order};
use crate::numeric::{sigmoid, softplus};
use std::ops::Range;

/// A query's gradient and sums by the plainest code there is.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// `dC/ds` of each document, in document order.
    pub gradient: Vec<f64>,
    /// The sums over its pairs, all of them.
    pub result: QueryResult,
}

impl Kernel {
    /// Computes a query in f64, pair by pair with one exponential each: slow, obviously right.
    ///
    /// ```
    /// use burnrank::{Kernel, Weighting};
    /// let reference = Kernel::new(Weighting::Arp2).reference(&[0.0, 0.0], &[2.0, 0.0]);
    /// assert_eq!(reference.result.loss, 2.0);
    /// ```
    pub fn reference(&self, scores: &[f32], labels: &[f32]) -> Reference {
        let mut sums = Reference { gradient: vec![0.0; scores.len()], result: QueryResult::default() };
        for_each_weight(self, scores, labels, |i, j, weight| sums.add(self, scores, i, j, weight));
        sums
    }
}

impl Reference {
    /// Adds the pair that wants `i` above `j`.
    pub(super) fn add(&mut self, kernel: &Kernel, scores: &[f32], i: usize, j: usize, weight: f64) {
        let difference = kernel.sigma * (f64::from(safe(scores[i])) - f64::from(safe(scores[j])));
        let factor = sigmoid(-difference);
        let pull = kernel.sigma * weight * factor / kernel.base.nats();
        self.gradient[i] -= pull;
        self.gradient[j] += pull;
        self.result.loss += weight * softplus(-difference) / kernel.base.nats();
        self.result.pairs += 1;
        self.result.saturated += u64::from(factor < SATURATED);
    }
}

/// Calls back with `(i, j, weight)` for every ordered pair of documents that has a weight, in document indices.
pub fn for_each_weight(kernel: &Kernel, scores: &[f32], labels: &[f32], pair: impl FnMut(usize, usize, f64)) {
    for_each_weight_of(kernel, scores, labels, 0..scores.len(), pair);
}

/// The same for documents `i` of a range only.
///
/// Ends early, with pairs missing, once [`Kernel::stop`] is set.
pub(crate) fn for_each_weight_of(
    kernel: &Kernel,
    scores: &[f32],
    labels: &[f32],
    rows: Range<usize>,
    mut pair: impl FnMut(usize, usize, f64),
) {
    let order = training_order(scores);
    let ranked: Vec<f32> = order.iter().map(|&document| labels[document]).collect();
    let weights = kernel.weights(&ranked);
    for (above, &i) in order.iter().enumerate().filter(|(_, i)| rows.contains(i)) {
        if kernel.stop.asked() {
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
