//! Scaled features as functions of raw features, for engines that compute features by formulas.

use super::Request;
use crate::data::scale::{Affine, Step};
use crate::error::Result;

/// A scaling of single documents.
pub(super) enum Formula<'s> {
    /// (x - center) / spread, or x.
    Affine(Option<&'s Affine>),
    /// sign(x) ln(1 + abs(x)), then (x - center) / spread.
    SignedLog(Option<&'s Affine>),
    /// The points (x, y) of each feature's piecewise linear map, x ascending; constant outside.
    Lines(Vec<Vec<(f32, f64)>>),
}

impl<'s> Formula<'s> {
    /// # Errors
    /// For scalings within queries, which [`Capability`](crate::model::Capability) excludes.
    pub fn of(request: &Request<'_>, scaling: &'s [Step]) -> Result<Self> {
        Ok(match scaling {
            [] => Formula::Affine(None),
            [Step::Affine(affine)] => Formula::Affine(Some(affine)),
            [Step::SignedLog] => Formula::SignedLog(None),
            [Step::SignedLog, Step::Affine(affine)] => Formula::SignedLog(Some(affine)),
            [Step::Lines(lines)] => Formula::Lines(lines.points()),
            _ => return Err(request.unsupported()),
        })
    }

    /// Whether the scaled feature is constant.
    pub fn is_constant(&self, feature: usize) -> bool {
        match self {
            Formula::Affine(affine) | Formula::SignedLog(affine) => {
                affine.is_some_and(|affine| affine.spread[feature] <= 0.0)
            }
            Formula::Lines(points) => points[feature].len() < 2,
        }
    }
}

/// The center and the spread of a feature.
pub(super) fn center_and_spread(affine: Option<&Affine>, feature: usize) -> (f64, f64) {
    affine.map_or((0.0, 1.0), |affine| (affine.center[feature], affine.spread[feature]))
}

/// A piece of a piecewise linear map: y + slope (x - start).
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub start: f32,
    pub y: f64,
    pub slope: f64,
}

/// Writes a piecewise linear map as nested conditions: `condition(a, left, right)` is `left` for x < a and `right`
/// otherwise.
pub(super) fn nested(
    points: &[(f32, f64)],
    condition: &dyn Fn(f32, String, String) -> String,
    piece: &dyn Fn(Piece) -> String,
) -> String {
    let constant = |(start, y): (f32, f64)| Piece { start, y, slope: 0.0 };
    let rising = |pair: &[(f32, f64)]| Piece {
        start: pair[0].0,
        y: pair[0].1,
        slope: (pair[1].1 - pair[0].1) / (f64::from(pair[1].0) - f64::from(pair[0].0)),
    };
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return piece(constant((0.0, 0.0))) };
    let mut pieces = vec![constant(*first)];
    pieces.extend(points.windows(2).map(rising));
    pieces.push(constant(*last));
    halves(&pieces, condition, piece)
}

/// Every piece except the first begins at its `start`.
fn halves(
    pieces: &[Piece],
    condition: &dyn Fn(f32, String, String) -> String,
    piece: &dyn Fn(Piece) -> String,
) -> String {
    if let [single] = pieces {
        return piece(*single);
    }
    let (left, right) = pieces.split_at(pieces.len() / 2);
    condition(right[0].start, halves(left, condition, piece), halves(right, condition, piece))
}
