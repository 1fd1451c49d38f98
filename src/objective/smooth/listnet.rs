//! ListNet (Cao et al. 2007).

use super::super::registry::{Make, ObjectiveEntry};
use super::super::tensor::{TensorTile, TilePart};
use super::common::all_equal;
use super::{Formula, SmoothLoss};
use crate::error::Result;
use crate::stop::Stop;
use burn::tensor::activation::log_softmax;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "listnet",
    parameters: &[],
    help: "cross entropy between top-one probabilities of the labels and of the scores (ListNet)",
    make: Make::Smooth(|_| Arc::new(SmoothLoss(ListNet))),
};

/// Cross entropy of top-one probabilities, `C = -sum_i P_i log p_i` with `P = softmax(labels)` and
/// `p = softmax(scores)`.
///
/// Loss and gradient are 0 if all labels are equal, although a uniform `P` would make all scores equal.
#[derive(Debug)]
pub(in super::super) struct ListNet;

impl Formula for ListNet {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], _: &Stop) -> f64 {
        if all_equal(labels) {
            return 0.0;
        }
        let (targets, _) = softmax(labels.iter().map(|&label| f64::from(label)));
        let (probabilities, log_sum) = softmax(scores.iter().copied());
        for ((derivative, probability), target) in gradient.iter_mut().zip(&probabilities).zip(&targets) {
            *derivative = probability - target;
        }
        hessian.iter_mut().zip(&probabilities).for_each(|(to, p)| *to = p * (1.0 - p));
        targets.iter().zip(scores).map(|(target, score)| target * (log_sum - score)).sum()
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let targets = tile.values(|query| {
            let targets = (!all_equal(query.labels)).then(|| softmax(query.labels.iter().map(|&label| label.into())).0);
            targets.iter().flatten().map(|&target| target as f32).collect()
        });
        // Far below all scores, but with finite differences to them.
        let padding = tile.present.clone().equal_scalar(0.0);
        let logs = log_softmax(tile.scores.clone().mask_fill(padding, -3e38), 1);
        Ok(tile.part((logs * targets).sum().neg()))
    }

    fn needs_whole_queries(&self) -> bool {
        true
    }
}

/// Returns the softmax of some numbers, and the logarithm of the sum of their exponentials.
fn softmax(values: impl Iterator<Item = f64> + Clone) -> (Vec<f64>, f64) {
    let max = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let mut probabilities: Vec<f64> = values.map(|value| (value - max).exp()).collect();
    let sum: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|probability| *probability /= sum);
    (probabilities, max + sum.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_documents_give_logistic_regression() {
        // The probability of the first document is the sigmoid of the difference; that of the labels is the target.
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let (target, probability) = (sigmoid(1.0), sigmoid(0.6 - 0.8));
        let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 2]);
        let loss = ListNet.evaluate(&[0.6, 0.8], &[1.0, 0.0], &mut gradient, &mut hessian, &Stop::new());
        assert!((loss + target * probability.ln() + (1.0 - target) * (1.0 - probability).ln()).abs() < 1e-14);
        assert!((gradient[0] - (probability - target)).abs() < 1e-15 && (gradient[1] + gradient[0]).abs() < 1e-15);
        assert!(hessian.iter().all(|hessian| (hessian - probability * (1.0 - probability)).abs() < 1e-15));
    }

    #[test]
    fn a_dominant_label_gives_the_softmax_loss() {
        // -log softmax of the first document is 0.7981389 in TensorFlow Ranking's documentation.
        let loss = ListNet.evaluate(&[0.6, 0.8], &[50.0, 0.0], &mut [0.0; 2], &mut [], &Stop::new());
        assert!((loss - 0.7981389).abs() < 1e-7);
    }
}
