//! What a scaling does to the features of a document, step by step, in f64.

use super::columns::{Column, Measure};
use super::lines::Lines;

/// One step of a scaling. All rise with the feature, and each turns a column into one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// sign(x) ln(1 + abs(x)).
    SignedLog,
    /// (x - center) / spread, by numbers of the training split.
    Affine(Affine),
    /// The line through the points of a feature, flat outside.
    Lines(Lines),
    /// (x - center) / spread, by the documents of the query.
    WithinQuery(Measure),
}

impl Step {
    /// Whether a document's features depend on the others of its query.
    pub fn is_per_query(&self) -> bool {
        matches!(self, Step::WithinQuery(_))
    }

    /// Whether it has numbers of the training split.
    pub fn has_numbers(&self) -> bool {
        matches!(self, Step::Affine(_) | Step::Lines(_))
    }

    /// Does the step to all features of a document; `query` is fitted on the documents of its query.
    pub(super) fn apply(&self, row: &mut [f64], query: &Affine) {
        match self {
            Step::SignedLog => row.iter_mut().for_each(|x| *x = signed_log(*x)),
            Step::Affine(affine) => affine.apply(row),
            Step::Lines(lines) => lines.apply(row),
            Step::WithinQuery(_) => query.apply(row),
        }
    }

    /// Does the step to one feature; within a query there is no value for a document alone.
    fn value(&self, feature: usize, x: f64) -> Option<f64> {
        match self {
            Step::SignedLog => Some(signed_log(x)),
            Step::Affine(Affine { center, spread, .. }) => Some(standardise(x, center[feature], spread[feature])),
            Step::Lines(lines) => Some(lines.value(feature, x)),
            Step::WithinQuery(_) => None,
        }
    }
}

/// A feature's value behind steps, as the scorer sees it; within a query there is none for a document alone.
pub(crate) fn value(steps: &[Step], feature: usize, x: f32) -> Option<f32> {
    steps.iter().try_fold(f64::from(x), |x, step| step.value(feature, x)).map(|x| x as f32)
}

/// What is subtracted from each feature, and what it is divided by; a feature of spread 0 becomes 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Affine {
    /// What the numbers are, for engines that have a normaliser for each measure.
    pub measure: Measure,
    pub center: Vec<f64>,
    pub spread: Vec<f64>,
}

impl Affine {
    pub(super) fn of(measure: Measure, columns: &[Column]) -> Self {
        let mut affine = Affine::default();
        affine.set(measure, columns);
        affine
    }

    /// As [`Affine::of`], in the memory that it has.
    pub(super) fn set(&mut self, measure: Measure, columns: &[Column]) {
        self.measure = measure;
        self.center.clear();
        self.spread.clear();
        for column in columns {
            let (center, spread) = column.center_and_spread(measure);
            self.center.push(center);
            self.spread.push(spread);
        }
    }

    /// What each feature is multiplied with after its center was subtracted; 0 for a constant one.
    pub fn factors(&self) -> Vec<f64> {
        self.spread.iter().map(|&spread| if spread > 0.0 { 1.0 / spread } else { 0.0 }).collect()
    }

    fn apply(&self, row: &mut [f64]) {
        for ((x, &center), &spread) in row.iter_mut().zip(&self.center).zip(&self.spread) {
            *x = standardise(*x, center, spread);
        }
    }
}

/// sign(x) ln(1 + abs(x)).
fn signed_log(x: f64) -> f64 {
    x.abs().ln_1p().copysign(x)
}

/// (x - center) / spread, held at the largest f32; 0 where the spread is 0.
fn standardise(x: f64, center: f64, spread: f64) -> f64 {
    const LIMIT: f64 = f32::MAX as f64;
    if spread > 0.0 { ((x - center) / spread).clamp(-LIMIT, LIMIT) } else { 0.0 }
}
