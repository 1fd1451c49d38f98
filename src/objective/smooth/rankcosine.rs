//! RankCosine (Qin et al., 2008).

use super::super::registry::{Make, ObjectiveEntry};
use super::super::tensor::{TensorTile, TilePart};
use super::common::all_equal;
use super::{Formula, SmoothLoss};
use crate::error::Result;
use crate::stop::Stop;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "rankcosine",
    parameters: &[],
    help: "cosine distance between scores and labels (RankCosine)",
    make: Make::Smooth(|_| Arc::new(SmoothLoss(RankCosine))),
};

/// `C = (1 - cos(y, s)) / 2`: the cosine distance between the vectors of scores and labels.
///
/// The paper leaves the target of a label open; here it is the label itself. Scaling all scores does not change the
/// loss, shifting them does. Loss and gradient are 0 if all labels are equal. For scores that are all (almost) 0, the
/// cosine and the gradient are 0.
#[derive(Debug)]
pub(in super::super) struct RankCosine;

/// Score vectors shorter than this count as 0, so that the gradient, which grows with the reciprocal of the length,
/// stays finite.
const MIN_LENGTH: f64 = 1e-15;

impl Formula for RankCosine {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], _: &Stop) -> f64 {
        if all_equal(labels) {
            return 0.0;
        }
        let norm = length(scores.iter().copied());
        if norm < MIN_LENGTH {
            return 0.5;
        }
        // Both vectors are normalised first, to avoid squares of large scores.
        let label_norm = length(labels.iter().map(|&label| f64::from(label)));
        let target_of = |document: usize| f64::from(labels[document]) / label_norm;
        let cosine: f64 = scores.iter().enumerate().map(|(document, score)| target_of(document) * (score / norm)).sum();
        for (document, derivative) in gradient.iter_mut().enumerate() {
            *derivative = -(target_of(document) - cosine * (scores[document] / norm)) / (2.0 * norm);
        }
        for (document, hessian) in hessian.iter_mut().enumerate() {
            let (target, score) = (target_of(document), scores[document] / norm);
            *hessian = (2.0 * target * score + cosine * (1.0 - 3.0 * score * score)) / (2.0 * norm * norm);
        }
        (1.0 - cosine) / 2.0
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let targets = tile.values(|query| {
            let norm = length(query.labels.iter().map(|&label| f64::from(label)));
            let target = |&label: &f32| if all_equal(query.labels) { 0.0 } else { (f64::from(label) / norm) as f32 };
            query.labels.iter().map(target).collect()
        });
        // Scaling does not change the loss, and squares of normalised scores are finite.
        let factors = tile.values(|query| {
            let norm = length(query.scores.iter().map(|&score| f64::from(score)));
            vec![if norm < MIN_LENGTH { 0.0 } else { norm.recip() as f32 }; query.scores.len()]
        });
        let scores = tile.scores.clone() * factors;
        let products = (scores.clone() * targets.clone()).sum_dim(1);
        let squares = (scores.clone() * scores).sum_dim(1);
        let is_zero = squares.clone().without_autodiff().equal_scalar(0.0).float();
        let learnable = targets.abs().sum_dim(1).greater_scalar(0.0).float();
        let cosines = products / (squares + is_zero).sqrt();
        Ok(tile.part((cosines.neg().add_scalar(1.0) * learnable).sum().div_scalar(2.0)))
    }

    fn needs_whole_queries(&self) -> bool {
        true
    }

    fn ignores_shifts(&self) -> bool {
        false
    }
}

/// Euclidean norm.
fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_0_to_1_depending_on_the_angle() {
        let loss = |scores: [f64; 2]| RankCosine.evaluate(&scores, &[3.0, 4.0], &mut [0.0; 2], &mut [], &Stop::new());
        assert!(loss([0.3, 0.4]).abs() < 1e-15 && (loss([-3e20, -4e20]) - 1.0).abs() < 1e-15);
        // Cosine (3 * 1 + 4 * 0) / (5 * 1).
        assert!((loss([1.0, 0.0]) - 0.2).abs() < 1e-15);
        assert_eq!((loss([4.0, -3.0]), loss([0.0; 2]), loss([1e-20; 2])), (0.5, 0.5, 0.5));
    }
}
