//! The steps of a scaling, applied to the features of a document in f64.

use super::columns::{Column, Statistic};
use super::lines::Lines;
use super::pieces::Pieces;

/// A step of a scaling: a monotonic map from one column to one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// sign(x) ln(1 + abs(x)).
    SignedLog,
    /// (x - center) / spread, fitted to the training split.
    Affine(Affine),
    /// Piecewise linear map, constant outside its points.
    Lines(Lines),
    /// Position between knots.
    Pieces(Pieces),
    /// (x - center) / spread, fitted to the documents of each query.
    WithinQuery(Statistic),
}

impl Step {
    /// Whether the result depends on the other documents of the query.
    pub fn is_per_query(&self) -> bool {
        matches!(self, Step::WithinQuery(_))
    }

    /// Whether the step has numbers fitted to the training split.
    pub fn has_numbers(&self) -> bool {
        matches!(self, Step::Affine(_) | Step::Lines(_) | Step::Pieces(_))
    }

    /// Returns the piecewise linear maps of the step, if it has any.
    pub fn lines(&self) -> Option<&Lines> {
        match self {
            Step::Lines(lines) => Some(lines),
            Step::Pieces(pieces) => Some(pieces.lines()),
            Step::SignedLog | Step::Affine(_) | Step::WithinQuery(_) => None,
        }
    }

    /// Applies the step to all features of a document; `query` is fitted to the documents of its query.
    pub(super) fn apply(&self, row: &mut [f64], query: &Affine) {
        match self {
            Step::SignedLog => row.iter_mut().for_each(|x| *x = signed_log(*x)),
            Step::Affine(affine) => affine.apply(row),
            Step::Lines(lines) => lines.apply(row),
            Step::Pieces(pieces) => pieces.lines().apply(row),
            Step::WithinQuery(_) => query.apply(row),
        }
    }

    /// Applies the step to one feature. Returns `None` for a step within queries.
    fn value(&self, feature: usize, x: f64) -> Option<f64> {
        match self {
            Step::SignedLog => Some(signed_log(x)),
            Step::Affine(Affine { center, spread, .. }) => Some(standardize(x, center[feature], spread[feature])),
            Step::Lines(lines) => Some(lines.value(feature, x)),
            Step::Pieces(pieces) => Some(pieces.lines().value(feature, x)),
            Step::WithinQuery(_) => None,
        }
    }
}

/// Applies steps to one feature value. Returns `None` if there is a step within queries.
pub(crate) fn value(steps: &[Step], feature: usize, x: f32) -> Option<f32> {
    steps.iter().try_fold(f64::from(x), |x, step| step.value(feature, x)).map(|x| x as f32)
}

/// The affine map (x - center) / spread of each feature; a feature with spread 0 becomes 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Affine {
    /// Meaning of center and spread, for search engines with a normalizer for each statistic.
    pub statistic: Statistic,
    pub center: Vec<f64>,
    pub spread: Vec<f64>,
}

impl Affine {
    pub(super) fn of(statistic: Statistic, columns: &[Column]) -> Self {
        let mut affine = Affine::default();
        affine.set(statistic, columns);
        affine
    }

    /// Does the same as [`Affine::of`] in existing memory.
    pub(super) fn set(&mut self, statistic: Statistic, columns: &[Column]) {
        self.statistic = statistic;
        self.center.clear();
        self.spread.clear();
        for column in columns {
            let (center, spread) = column.center_and_spread(statistic);
            self.center.push(center);
            self.spread.push(spread);
        }
    }

    /// Returns 1 / spread of each feature, or 0 for a constant feature.
    pub fn factors(&self) -> Vec<f64> {
        self.spread.iter().map(|&spread| if spread > 0.0 { 1.0 / spread } else { 0.0 }).collect()
    }

    fn apply(&self, row: &mut [f64]) {
        for ((x, &center), &spread) in row.iter_mut().zip(&self.center).zip(&self.spread) {
            *x = standardize(*x, center, spread);
        }
    }
}

/// sign(x) ln(1 + abs(x)).
fn signed_log(x: f64) -> f64 {
    x.abs().ln_1p().copysign(x)
}

/// (x - center) / spread, clipped to the range of f32; 0 if the spread is 0.
fn standardize(x: f64, center: f64, spread: f64) -> f64 {
    const LIMIT: f64 = f32::MAX as f64;
    if spread > 0.0 { ((x - center) / spread).clamp(-LIMIT, LIMIT) } else { 0.0 }
}
