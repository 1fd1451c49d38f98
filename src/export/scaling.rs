//! What is done to features, in the terms that formats need.

use crate::data::scale::quantile::points;
use crate::data::{ScaleKind, Scaler};
use crate::numeric::order::{ascending, from_ascending};

/// What is done to the features of a document before it is scored, in f64.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scaling {
    /// Nothing.
    None,
    /// sign(x) ln(1 + abs(x)).
    Log,
    /// (x - center) / spread; 0 where the spread is 0.
    Affine(Affine),
    /// The logarithm, then the affine map.
    LogAffine(Affine),
    /// The line through points (x, y) of each feature, x ascending; flat outside.
    Points(Vec<Vec<(f32, f64)>>),
    /// (x - min) / (max - min) within the query; 0 where all are equal.
    QueryRange,
    /// (x - mean) / standard deviation within the query; 0 where all are equal.
    QueryMoments,
}

/// What is subtracted from each feature, and what it is divided by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Affine {
    pub center: Vec<f64>,
    pub spread: Vec<f64>,
}

impl Scaling {
    pub fn of(scaler: &Scaler) -> Self {
        let affine = || {
            let (center, spread) = scaler.numbers();
            Affine { center: center.to_vec(), spread: spread.to_vec() }
        };
        match scaler.kind() {
            ScaleKind::None => Scaling::None,
            ScaleKind::Log1p => Scaling::Log,
            ScaleKind::ZScore | ScaleKind::MinMax => Scaling::Affine(affine()),
            ScaleKind::Log1pZScore => Scaling::LogAffine(affine()),
            ScaleKind::Quantile => Scaling::Points(scaler.knots().map(points).collect()),
            ScaleKind::QueryMinMax => Scaling::QueryRange,
            ScaleKind::QueryZScore => Scaling::QueryMoments,
        }
    }

    /// Whether a document's features depend on its neighbours.
    pub fn is_per_query(&self) -> bool {
        matches!(self, Scaling::QueryRange | Scaling::QueryMoments)
    }

    /// A feature's value as the scorer sees it, to the last bit; within a query there is none for a document alone.
    fn value(&self, feature: usize, x: f32) -> Option<f32> {
        match self {
            Scaling::None => Some(x),
            Scaling::Log => Some(signed_log(f64::from(x)) as f32),
            Scaling::Affine(affine) => Some(affine.value(feature, f64::from(x))),
            Scaling::LogAffine(affine) => Some(affine.value(feature, signed_log(f64::from(x)))),
            Scaling::Points(points) => Some(interpolate(&points[feature], x)),
            Scaling::QueryRange | Scaling::QueryMoments => None,
        }
    }

    /// The value that a feature always has, where the training data had only one.
    pub fn constant(&self, feature: usize) -> Option<f32> {
        match self {
            Scaling::Affine(affine) | Scaling::LogAffine(affine) if affine.spread[feature] <= 0.0 => Some(0.0),
            _ => None,
        }
    }

    /// The largest raw value that is scaled to at most `bound`: minus infinity where none is, infinity where all are. Features
    /// that are scaled within queries stay as they are.
    ///
    /// All scalings of single documents rise with the raw value, so that it can be searched for among all f32.
    pub fn raw_bound(&self, feature: usize, bound: f32) -> f32 {
        let holds = |x: f32| self.value(feature, x).is_none_or(|value| value <= bound);
        if *self == Scaling::None || self.is_per_query() {
            return bound;
        }
        if !holds(f32::MIN) {
            return f32::NEG_INFINITY;
        }
        if holds(f32::MAX) {
            return f32::INFINITY;
        }
        let (mut inside, mut outside) = (ascending(f32::MIN), ascending(f32::MAX));
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            if holds(from_ascending(middle)) { inside = middle } else { outside = middle }
        }
        from_ascending(inside)
    }
}

impl Affine {
    fn value(&self, feature: usize, x: f64) -> f32 {
        const LIMIT: f64 = f32::MAX as f64;
        let (center, spread) = (self.center[feature], self.spread[feature]);
        if spread > 0.0 { ((x - center) / spread).clamp(-LIMIT, LIMIT) as f32 } else { 0.0 }
    }

    /// What each feature is multiplied with after its center was subtracted; 0 for a constant one.
    pub fn factors(&self) -> Vec<f64> {
        self.spread.iter().map(|&spread| if spread > 0.0 { 1.0 / spread } else { 0.0 }).collect()
    }
}

/// The line through points at `x`; NaN stays NaN.
fn interpolate(points: &[(f32, f64)], x: f32) -> f32 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0.0 };
    if x.is_nan() {
        return x;
    }
    let held = x.max(first.0).min(last.0);
    let place = points.partition_point(|(x, _)| *x <= held).max(1) - 1;
    let (from, y) = points[place];
    let slope = points.get(place + 1).map_or(0.0, |to| (to.1 - y) / (f64::from(to.0) - f64::from(from)));
    (y + (f64::from(held) - f64::from(from)) * slope) as f32
}

fn signed_log(x: f64) -> f64 {
    x.abs().ln_1p().copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    fn fitted(kind: ScaleKind) -> Scaler {
        let features = vec![-3.0, 7.0, 1e6, 1.0, 7.0, 1e6 + 1.0, 5.0, 7.0, 1e6 + 9.0];
        let data = Dataset::new(3, features, vec![0.0; 3], vec![("a".into(), 3)]).unwrap();
        Scaler::fit(kind, &data)
    }

    #[test]
    fn values_are_the_scalers_to_the_last_bit() {
        for kind in ScaleKind::ALL.into_iter().filter(|kind| !kind.is_per_query()) {
            let scaler = fitted(kind);
            let scaling = Scaling::of(&scaler);
            for x in [-1e30, -3.0, -1e-20, 0.0, 0.1, 2.5, 7.0, 1e6, 1e6 + 3.0, 1e30] {
                let mut row = [x; 3];
                scaler.apply_rows(&mut row).unwrap();
                for (feature, expected) in row.into_iter().enumerate() {
                    assert_eq!(scaling.value(feature, x), Some(expected), "{kind} {x}");
                }
            }
        }
    }

    #[test]
    fn bounds_of_raw_values_are_exact() {
        for kind in ScaleKind::ALL.into_iter().filter(|kind| !kind.is_per_query()) {
            let scaling = Scaling::of(&fitted(kind));
            for bound in [-2.0, -0.1, 0.0, 1e-35, 0.3, 1.0, 4.0] {
                for feature in [0, 2] {
                    let raw = scaling.raw_bound(feature, bound);
                    if raw.is_finite() {
                        assert!(scaling.value(feature, raw).unwrap() <= bound, "{kind} {bound}");
                        assert!(scaling.value(feature, raw.next_up()).unwrap() > bound, "{kind} {bound}");
                    }
                }
            }
        }
        let scaling = Scaling::of(&fitted(ScaleKind::ZScore));
        assert_eq!((scaling.constant(1), scaling.constant(0)), (Some(0.0), None));
    }
}
