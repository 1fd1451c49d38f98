//! What happens to a field where two neighbours of the ranking change places.

use crate::objective::LambdaField;
use crate::objective::lambda_field::lambdas_at;
use serde::Serialize;

/// Two neighbours of the ranking that meet halfway and cross.
///
/// A cost that is continuous has a slope that may jump only across the tie, along `e_upper - e_lower`. A jump in any other
/// direction means that a walk over the tie and back elsewhere does work: no cost has these lambdas on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Crossing {
    /// The document that was above, from 0.
    pub upper: usize,
    /// The document that was below.
    pub lower: usize,
    /// The largest change of any document's lambda.
    pub jump: f64,
    /// The length of the part of the change that no cost explains; 0 up to rounding where one does.
    pub sideways: f64,
    /// How much harder the two are then pulled back to where they were; where this is negative no convex cost exists.
    pub stiffening: f64,
}

impl Crossing {
    /// Lets the documents at `place` and `place + 1` of the order cross, from a distance of twice `apart` to as much beyond.
    pub(super) fn at(
        field: &dyn LambdaField,
        scores: &[f64],
        labels: &[f32],
        order: &[usize],
        place: usize,
        apart: f64,
    ) -> Self {
        let (upper, lower) = (order[place], order[place + 1]);
        let middle = 0.5 * (scores[upper] + scores[lower]);
        let side = |sign: f64| {
            let mut moved = scores.to_vec();
            (moved[upper], moved[lower]) = (middle + sign * apart, middle - sign * apart);
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
            jump: change.iter().fold(0.0, |most: f64, change| most.max(change.abs())),
            sideways: change.iter().enumerate().map(rest).map(|x| x * x).sum::<f64>().sqrt(),
            stiffening: 2.0 * along,
        }
    }
}
