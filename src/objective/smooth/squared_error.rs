//! Squared error: what MART fits (Friedman 2001).

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
/// Scores are to be the labels themselves, so that a shift of all scores matters, and there is something to learn from one
/// document, from equal labels and where nothing is relevant.
#[derive(Debug)]
pub(in super::super) struct SquaredError;

impl Formula for SquaredError {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], slopes: &mut [f64], hessian: &mut [f64], _: &Stop) -> f64 {
        hessian.fill(1.0);
        for ((slope, score), label) in slopes.iter_mut().zip(scores).zip(labels) {
            *slope = score - f64::from(*label);
        }
        slopes.iter().map(|slope| slope * slope / 2.0).sum()
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
    fn the_value_is_that_of_tensorflow_ranking() {
        // Its documentation has the mean over two documents of the whole square: 0.4.
        let (mut slopes, mut hessian) = ([0.0; 2], [0.0; 2]);
        let loss = SquaredError.evaluate(&[0.6, 0.8], &[1.0, 0.0], &mut slopes, &mut hessian, &Stop::new());
        assert!((loss - 0.4).abs() < 1e-15);
        assert_eq!((slopes, hessian), ([0.6 - 1.0, 0.8], [1.0; 2]));
    }
}
