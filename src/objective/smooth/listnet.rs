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
    help: "cross entropy of the chances to be on top, of labels and of scores (ListNet)",
    make: Make::Smooth(|_| Arc::new(SmoothLoss(ListNet))),
};

/// The cross entropy of the chances to be the top one, `C = -sum_i P_i log p_i` with `P = softmax(labels)` and
/// `p = softmax(scores)`.
///
/// Where all labels are equal there is nothing to learn: loss and slopes are 0, although `P` would draw the scores together.
#[derive(Debug)]
pub(in super::super) struct ListNet;

impl Formula for ListNet {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], slopes: &mut [f64], hessian: &mut [f64], _: &Stop) -> f64 {
        if all_equal(labels) {
            return 0.0;
        }
        let (targets, _) = softmax(labels.iter().map(|&label| f64::from(label)));
        let (chances, log_sum) = softmax(scores.iter().copied());
        for ((slope, chance), target) in slopes.iter_mut().zip(&chances).zip(&targets) {
            *slope = chance - target;
        }
        hessian.iter_mut().zip(&chances).for_each(|(hessian, chance)| *hessian = chance * (1.0 - chance));
        targets.iter().zip(scores).map(|(target, score)| target * (log_sum - score)).sum()
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let targets = tile.values(|query| {
            let targets = (!all_equal(query.labels)).then(|| softmax(query.labels.iter().map(|&label| label.into())).0);
            targets.iter().flatten().map(|&target| target as f32).collect()
        });
        // Far below all scores, yet of finite differences to them.
        let padding = tile.present.clone().equal_scalar(0.0);
        let logs = log_softmax(tile.scores.clone().mask_fill(padding, -3e38), 1);
        Ok(tile.part((logs * targets).sum().neg()))
    }

    fn needs_whole_queries(&self) -> bool {
        true
    }
}

/// The softmax of some numbers, and the logarithm of the sum of their exponentials.
fn softmax(values: impl Iterator<Item = f64> + Clone) -> (Vec<f64>, f64) {
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let mut chances: Vec<f64> = values.map(|value| (value - most).exp()).collect();
    let sum: f64 = chances.iter().sum();
    chances.iter_mut().for_each(|chance| *chance /= sum);
    (chances, most + sum.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_documents_are_a_logistic_regression() {
        // The chance of the first is a sigmoid of the difference: that of labels is the target.
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let (target, chance) = (sigmoid(1.0), sigmoid(0.6 - 0.8));
        let (mut slopes, mut hessian) = ([0.0; 2], [0.0; 2]);
        let loss = ListNet.evaluate(&[0.6, 0.8], &[1.0, 0.0], &mut slopes, &mut hessian, &Stop::new());
        assert!((loss + target * chance.ln() + (1.0 - target) * (1.0 - chance).ln()).abs() < 1e-14);
        assert!((slopes[0] - (chance - target)).abs() < 1e-15 && (slopes[1] + slopes[0]).abs() < 1e-15);
        assert!(hessian.iter().all(|hessian| (hessian - chance * (1.0 - chance)).abs() < 1e-15));
    }

    #[test]
    fn a_label_far_above_the_others_is_the_softmax_loss() {
        // -log softmax of the first document is 0.7981389 in TensorFlow Ranking's documentation.
        let loss = ListNet.evaluate(&[0.6, 0.8], &[50.0, 0.0], &mut [0.0; 2], &mut [], &Stop::new());
        assert!((loss - 0.7981389).abs() < 1e-7);
    }
}
