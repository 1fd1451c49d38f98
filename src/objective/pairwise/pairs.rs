//! Enumeration of the pairs of a loss, and its lambdas in double precision.

use super::PairLoss;
use crate::numeric::order::training_order;
use crate::numeric::{sigmoid, softplus};
use crate::objective::lambda_field::LambdaField;
use crate::objective::loss::Loss;
use crate::stop::Stop;
use std::ops::Range;

impl PairLoss {
    /// Calls `pair` with `(i, j, weight)` for every ordered pair of documents that has a weight; `i` and `j` are
    /// document indices.
    pub fn for_each_weight(&self, scores: &[f32], labels: &[f32], pair: impl FnMut(usize, usize, f64)) {
        self.each_weight_of(labels, &training_order(scores), 0..scores.len(), &Stop::new(), pair);
    }

    /// The same for documents `i` of a range, ranked by `order`; stops early, skipping pairs, once `stop` is set.
    pub(super) fn each_weight_of(
        &self,
        labels: &[f32],
        order: &[usize],
        rows: Range<usize>,
        stop: &Stop,
        mut pair: impl FnMut(usize, usize, f64),
    ) {
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

    /// Calls `pair` with both documents of every pair, its weight in nats and `sigma (s_i - s_j)`.
    fn each_pair(&self, scores: &[f64], labels: &[f32], order: &[usize], mut pair: impl FnMut(usize, usize, f64, f64)) {
        self.each_weight_of(labels, order, 0..scores.len(), &Stop::new(), |i, j, weight| {
            pair(i, j, weight / self.base.nats(), self.sigma * (scores[i] - scores[j]));
        });
    }
}

impl LambdaField for PairLoss {
    fn name(&self) -> String {
        Loss::name(self)
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        let mut lambdas = vec![0.0; scores.len()];
        self.each_pair(scores, labels, order, |i, j, weight, difference| {
            let lambda = self.sigma * weight * sigmoid(-difference);
            lambdas[i] += lambda;
            lambdas[j] -= lambda;
        });
        lambdas
    }

    fn cost(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<f64> {
        let mut cost = 0.0;
        self.each_pair(scores, labels, order, |_, _, weight, difference| cost += weight * softplus(-difference));
        Some(cost)
    }

    fn jacobian(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<Vec<f64>> {
        let n = scores.len();
        let mut jacobian = vec![0.0; n * n];
        self.each_pair(scores, labels, order, |i, j, weight, difference| {
            let derivative = weight * self.sigma.powi(2) * sigmoid(difference) * sigmoid(-difference);
            jacobian[i * n + i] -= derivative;
            jacobian[j * n + j] -= derivative;
            jacobian[i * n + j] += derivative;
            jacobian[j * n + i] += derivative;
        });
        Some(jacobian)
    }

    fn ignores_shifts(&self) -> bool {
        true
    }

    fn width(&self) -> f64 {
        1.0 / self.sigma
    }
}
