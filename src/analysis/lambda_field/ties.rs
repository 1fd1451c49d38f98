//! How a field changes where two neighbours of the ranking swap.

use crate::objective::LambdaField;
use crate::objective::lambda_field::lambdas_at;
use serde::Serialize;

/// Two neighbours of the ranking that swap their order at a tie.
///
/// The gradient of a continuous cost may jump only along `e_upper - e_lower`. A jump in any other direction means that a closed
/// path across the tie does work: no cost has these lambdas on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Crossing {
    /// Index of the document ranked higher, from 0.
    pub upper: usize,
    /// Index of the document ranked lower.
    pub lower: usize,
    /// Largest change of any document's lambda.
    pub jump: f64,
    /// Norm of the part of the change that no cost explains; 0 up to rounding if a cost exists.
    pub sideways: f64,
    /// Change of the restoring lambda of the pair; if it is negative, no convex cost exists.
    pub stiffening: f64,
}

impl Crossing {
    /// Swaps the documents at `place` and `place + 1` of the order, which move from `distance` on one side of their mean to
    /// `distance` on the other.
    pub(super) fn at(
        field: &dyn LambdaField,
        scores: &[f64],
        labels: &[f32],
        order: &[usize],
        place: usize,
        distance: f64,
    ) -> Self {
        let (upper, lower) = (order[place], order[place + 1]);
        let middle = 0.5 * (scores[upper] + scores[lower]);
        let side = |sign: f64| {
            let mut moved = scores.to_vec();
            (moved[upper], moved[lower]) = (middle + sign * distance, middle - sign * distance);
            lambdas_at(field, &moved, labels)
        };
        let (before, after) = (side(1.0), side(-1.0));
        let change: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        // Along the unit vector (e_upper - e_lower) / sqrt 2.
        let along = (change[upper] - change[lower]) * 0.5;
        let rest = |(document, change): (usize, &f64)| match document {
            _ if document == upper => change - along,
            _ if document == lower => change + along,
            _ => *change,
        };
        Crossing {
            upper,
            lower,
            jump: change.iter().fold(0.0, |largest: f64, change| largest.max(change.abs())),
            sideways: change.iter().enumerate().map(rest).map(|x| x * x).sum::<f64>().sqrt(),
            stiffening: 2.0 * along,
        }
    }
}
