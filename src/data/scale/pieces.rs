//! Positions between knots, and the piecewise linear encoding of features by nets.
//!
//! Each feature has ascending knots b_0 < b_1 < ... < b_n, n at most the number of bins. A value x has the position
//!
//! ```text
//! u(x) = t + (x - b_t) / (b_{t+1} - b_t)    for b_t <= x <= b_{t+1}
//! u(x) = 0 below b_0, n above b_n
//! ```
//!
//! A data set scaled by `piecewise` holds one position per value. Trees and other scorers use
//! positions as features. The first layer of a net reads a position as n inputs, so that a weight per bin can represent
//! thresholds and other curves:
//!
//! ```text
//! input t of x = clip(u(x) - t, 0, 1) - (its mean over the training documents)
//! ```
//!
//! that is, clip((x - b_t) / (b_{t+1} - b_t), 0, 1) minus its mean. Other [inputs](super::inputs) of a model, which are 0 or 1, are
//! read as they are.
//!
//! The knots of a feature are its most frequent value, if more than 1/bins of the documents have it, and equally spaced
//! quantiles of the other values; equal knots merge. A constant feature has no inputs.

use super::columns::{ColumnStats, SampledColumn};
use super::inputs::Input;
use super::lines::{Lines, TABLE_LENGTH};
use crate::numeric::order::from_ascending;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Default of the maximum number of bins per feature.
pub(crate) const DEFAULT_BINS: usize = 16;
/// Largest maximum number of bins per feature.
pub(crate) const MAX_BINS: usize = TABLE_LENGTH - 1;

/// The fitted knots of all features, and the inputs that nets derive from positions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pieces {
    columns: Vec<PieceColumn>,
    lines: Lines,
    encoding: Arc<Encoding>,
}

/// The knots of a feature.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PieceColumn {
    /// Ascending ends of the bins, at least two; none for a constant feature.
    pub knots: Vec<f32>,
    /// Mean of each input over the training documents; one fewer than knots.
    pub means: Vec<f32>,
}

/// How the first layer of a net reads scaled features.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    features: Vec<FeatureInputs>,
    /// Mean of each input.
    means: Vec<f32>,
}

/// Means are finite.
impl Eq for Encoding {}

/// The inputs of a feature, one per bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FeatureInputs {
    /// Number of the first input.
    pub first: usize,
    /// Number of bins.
    pub bins: usize,
}

impl Encoding {
    /// Number of features, which are columns of a scaled data set.
    pub fn n_features(&self) -> usize {
        self.features.len()
    }

    /// Number of inputs of all features.
    pub fn n_inputs(&self) -> usize {
        self.means.len()
    }

    pub(crate) fn features(&self) -> &[FeatureInputs] {
        &self.features
    }

    /// Mean of each input.
    pub(crate) fn means(&self) -> &[f32] {
        &self.means
    }

    /// The encoding of features with these means of their bins.
    fn of<'a>(columns: impl IntoIterator<Item = &'a [f32]>) -> Self {
        let (mut features, mut means) = (Vec::new(), Vec::new());
        for own in columns {
            features.push(FeatureInputs { first: means.len(), bins: own.len() });
            means.extend_from_slice(own);
        }
        Encoding { features, means }
    }
}

impl Pieces {
    /// Fits knots and means to a sample of the training documents.
    pub(super) fn fit(columns: &dyn ColumnStats) -> Self {
        let bins = columns.bins().clamp(1, MAX_BINS);
        let fitted = columns.sampled(&|column| PieceColumn::fit(column, bins).into_numbers());
        Pieces::of(fitted.iter().map(|numbers| PieceColumn::from_numbers(numbers)).collect())
    }

    pub(super) fn of(columns: Vec<PieceColumn>) -> Self {
        let points: Vec<Vec<(f32, f64)>> = columns.iter().map(PieceColumn::points).collect();
        let encoding = Encoding::of(columns.iter().map(|column| &column.means[..]));
        Pieces { lines: Lines::through(&points), encoding: Arc::new(encoding), columns }
    }

    /// The maps from values to positions.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    pub fn encoding(&self) -> &Arc<Encoding> {
        &self.encoding
    }

    /// The encoding of the inputs of a model: those that are not scaled features are a bin from 0 to 1 with mean 0.
    pub(super) fn encoding_of(&self, inputs: &[Input]) -> Encoding {
        Encoding::of(inputs.iter().map(|input| match input {
            Input::Scaled(feature) => &self.columns[*feature].means[..],
            Input::Missing(_) | Input::Level(..) => &[0.0],
        }))
    }

    pub(super) fn columns(&self) -> &[PieceColumn] {
        &self.columns
    }

    /// The knots of each feature.
    pub fn knots(&self) -> impl Iterator<Item = &[f32]> {
        self.columns.iter().map(|column| &column.knots[..])
    }
}

impl PieceColumn {
    fn fit(SampledColumn { mut keys }: SampledColumn, bins: usize) -> Self {
        keys.sort_unstable();
        let values: Vec<f32> = keys.into_iter().map(from_ascending).collect();
        let mut column = PieceColumn { knots: knots(&values, bins), means: Vec::new() };
        let line = Lines::through(&[column.points()]);
        let mut sums = vec![0.0; column.knots.len().saturating_sub(1)];
        for &x in &values {
            let position = line.value(0, f64::from(x));
            sums.iter_mut().enumerate().for_each(|(bin, sum)| *sum += (position - bin as f64).clamp(0.0, 1.0));
        }
        column.means = sums.into_iter().map(|sum| (sum / values.len() as f64) as f32).collect();
        column
    }

    /// The points of the map to positions.
    fn points(&self) -> Vec<(f32, f64)> {
        match &self.knots[..] {
            [] => vec![(0.0, 0.0)],
            knots => knots.iter().enumerate().map(|(bin, &knot)| (knot, bin as f64)).collect(),
        }
    }

    /// As a list of numbers, which processes exchange.
    fn into_numbers(self) -> Vec<f32> {
        std::iter::once(self.knots.len() as f32).chain(self.knots).chain(self.means).collect()
    }

    fn from_numbers(numbers: &[f32]) -> Self {
        let [count, rest @ ..] = numbers else { return PieceColumn::default() };
        let (knots, means) = rest.split_at((*count as usize).min(rest.len()));
        PieceColumn { knots: knots.to_vec(), means: means.to_vec() }
    }

    /// Whether these are knots and means that a fit can have.
    pub(super) fn is_valid(&self) -> bool {
        let ascends = self.knots.is_sorted_by(|a, b| a < b) && self.knots.iter().all(|knot| knot.is_finite());
        let is_share = |mean: &f32| (0.0..=1.0).contains(mean);
        let counts = self.knots.len() != 1 && self.knots.len() <= TABLE_LENGTH;
        counts && ascends && self.means.len() == self.knots.len().saturating_sub(1) && self.means.iter().all(is_share)
    }
}

/// The knots of ascending values; none if all are equal.
fn knots(values: &[f32], bins: usize) -> Vec<f32> {
    let mut first = 0;
    let mut most: std::ops::Range<usize> = 0..0;
    for equal in values.chunk_by(|a, b| a == b) {
        let run = first..first + equal.len();
        first = run.end;
        if run.len() > most.len() {
            most = run;
        }
    }
    // A value of its own leaves one bin fewer for the others.
    let is_frequent = most.len() * bins > values.len();
    let (most, bins) = if is_frequent { (most, bins - 1) } else { (0..0, bins) };
    let others = values.len() - most.len();
    let other = |place: usize| values[if place < most.start { place } else { place + most.len() }];
    let mut knots = vec![];
    if others > 0 {
        knots.extend((0..=bins).map(|k| other((k * (others - 1) + bins / 2) / bins.max(1))));
    }
    knots.extend(most.clone().next().map(|place| values[place]));
    knots.sort_by(f32::total_cmp);
    knots.dedup();
    if knots.len() < 2 {
        knots.clear();
    }
    knots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::order::ascending;

    fn column(values: &[f32], bins: usize) -> PieceColumn {
        let keys = values.iter().filter(|x| x.is_finite()).map(|&x| ascending(x)).collect();
        PieceColumn::fit(SampledColumn { keys }, bins)
    }

    #[test]
    fn knots_are_quantiles_and_the_most_frequent_value() {
        let even: Vec<f32> = (0..=160).map(|i| i as f32).collect();
        let expected: Vec<f32> = (0..=16).map(|k| 10.0 * k as f32).collect();
        assert_eq!(column(&even, 16).knots, expected);
        // Half of the documents have the value 0: the other 15 bins go to the others.
        let sparse: Vec<f32> = (0..=150).map(|i| 1.0 + i as f32).chain(vec![0.0; 150]).collect();
        let expected: Vec<f32> = std::iter::once(0.0).chain((0..=15).map(|k| 1.0 + 10.0 * k as f32)).collect();
        assert_eq!(column(&sparse, 16).knots, expected);
        assert_eq!(column(&[3.0; 9], 16), PieceColumn::default());
        assert_eq!(column(&[], 16), PieceColumn::default());
        assert_eq!(column(&[0.0, 1.0, -0.0, 0.0], 16).knots, [0.0, 1.0]);
        assert_eq!(column(&[1.0, f32::NAN, 2.0], 1).knots, [1.0, 2.0]);
    }

    #[test]
    fn means_are_those_of_the_inputs() {
        let values: Vec<f32> = (0..500).map(|i| ((i * i) % 97) as f32).collect();
        let PieceColumn { knots, means, .. } = column(&values, 8);
        assert_eq!(means.len(), knots.len() - 1);
        for (bin, mean) in means.iter().enumerate() {
            let width = f64::from(knots[bin + 1]) - f64::from(knots[bin]);
            let input = |&x: &f32| ((f64::from(x) - f64::from(knots[bin])) / width).clamp(0.0, 1.0);
            let expected = values.iter().map(input).sum::<f64>() / values.len() as f64;
            assert!((f64::from(*mean) - expected).abs() < 1e-6, "{bin}: {mean}, not {expected}");
        }
    }

    #[test]
    fn numbers_round_trip() {
        for values in [&[1.0, 2.0, 5.0, f32::NAN][..], &[7.0], &[]] {
            let fitted = column(values, 4);
            assert!(fitted.is_valid());
            assert_eq!(PieceColumn::from_numbers(&fitted.clone().into_numbers()), fitted);
        }
    }

    /// Ten million values of columns with ties, extremes, infinities, subnormal and missing values.
    #[test]
    fn positions_of_any_values_are_bounded_and_monotonic() {
        use crate::data::{Dataset, ScaleKind, Scaler, Scaling};
        use rand::{Rng, RngExt, SeedableRng};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let any = |random: &mut rand_chacha::ChaCha8Rng| f32::from_bits(random.next_u32());
        let mut count = 0;
        let mut column_number = 0usize;
        while count < 10_000_000 {
            let rows = [1, 2, 3, 17, 1000, 100_000, 400_000][column_number % 7];
            let ends = [any(&mut random), any(&mut random)];
            let value = |random: &mut rand_chacha::ChaCha8Rng| match column_number / 7 % 8 {
                0 => any(random),
                1 => 0.25,
                2 => ends[random.random_range(0..2)],
                3 => (20.0 * random.random::<f32>()).floor(),
                4 => f32::from_bits(random.next_u32() >> 12),
                5 => [f32::MIN, f32::MAX, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY][random.random_range(0..6)],
                6 if random.random::<f32>() < 0.8 => 0.0,
                6 => (30.0 * random.random::<f32>()).exp(),
                _ if random.random::<f32>() < 0.3 => f32::NAN,
                _ => 1e6 + random.random::<f32>(),
            };
            let values: Vec<f32> = (0..rows).map(|_| value(&mut random)).collect();
            let data = Dataset::new(1, values, vec![0.0; rows], vec![("a".into(), rows)]).unwrap();
            let bins = [2, 5, 16, MAX_BINS][column_number % 4];
            let scaler = Scaler::fit(Scaling { kind: ScaleKind::Piecewise, bins }, &data);
            let pieces = scaler.pieces().unwrap();
            let own = pieces.encoding().features()[0].bins;
            assert!(own <= bins && pieces.columns()[0].is_valid(), "{pieces:?}");
            // Values that the fit has not seen, too.
            let others = (0..100).map(|_| any(&mut random));
            let mut values: Vec<f32> = data.features().iter().copied().chain(others).collect();
            values.sort_by(f32::total_cmp);
            values.retain(|x| !x.is_nan() || x.is_sign_positive());
            let mut positions = values.clone();
            scaler.apply_rows(&mut positions).unwrap();
            for (x, position) in values.iter().zip(&positions) {
                assert!(x.is_nan() == position.is_nan(), "{x}: {position}");
                assert!(x.is_nan() || (0.0..=own as f32).contains(position), "{x}: {position} of {own}");
            }
            let finite = &positions[..positions.iter().position(|x| x.is_nan()).unwrap_or(positions.len())];
            assert!(finite.is_sorted(), "{pieces:?}");
            count += values.len();
            column_number += 1;
        }
    }
}
