//! Squared error, the loss of MART (Friedman 2001).

use super::super::registry::{Make, ObjectiveEntry};
use super::super::tensor::{TensorTile, TilePart};
use super::{Formula, SmoothLoss};
use crate::error::Result;
use crate::stop::Stop;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "squared-error",
    parameters: &[],
    help: "(s_i - y_i)^2 / 2 summed over documents (MART)",
    make: Make::Smooth(|_| Arc::new(SmoothLoss(SquaredError))),
};

/// `C = sum over documents of (s_i - y_i)^2 / 2`.
///
/// Scores should equal the labels, so adding a constant to all scores matters, and single documents, equal labels and
/// queries without relevant documents all contribute.
#[derive(Debug)]
pub(in super::super) struct SquaredError;

impl Formula for SquaredError {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], _: &Stop) -> f64 {
        hessian.fill(1.0);
        for ((derivative, score), label) in gradient.iter_mut().zip(scores).zip(labels) {
            *derivative = score - f64::from(*label);
        }
        gradient.iter().map(|derivative| derivative * derivative / 2.0).sum()
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let labels = tile.values(|query| query.labels.to_vec());
        let error = (tile.scores.clone() - labels) * tile.present.clone();
        Ok(tile.part((error.clone() * error).sum().div_scalar(2.0)))
    }

    fn needs_whole_queries(&self) -> bool {
        true
    }

    fn ignores_shifts(&self) -> bool {
        false
    }

    fn is_pointwise(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_agrees_with_tensorflow_ranking() {
        // Its documentation has the mean over two documents of the whole square: 0.4.
        let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 2]);
        let loss = SquaredError.evaluate(&[0.6, 0.8], &[1.0, 0.0], &mut gradient, &mut hessian, &Stop::new());
        assert!((loss - 0.4).abs() < 1e-15);
        assert_eq!((gradient, hessian), ([0.6 - 1.0, 0.8], [1.0; 2]));
    }
}
