//! Quantiles of columns, and other fits to a sample of their values.

use super::blocks::Rows;
use crate::data::scale::lines::{KNOTS, share};
use crate::numeric::order::{ascending, from_ascending};
use rayon::prelude::*;
use std::ops::Range;

/// The knot that is the median.
pub(in crate::data::scale) const MEDIAN: usize = KNOTS / 2;

/// Maximum number of sampled documents; more would not change the quantiles noticeably.
const SAMPLE: usize = 200_000;
/// Number of features processed at a time: those of a cache line.
const GROUP: usize = 16;

/// Maximum number of values in memory for mapped files (128 MiB).
const MAPPED_VALUES: usize = 1 << 25;

/// The values of a feature in a sample of documents.
#[derive(Debug, Clone, Default)]
pub struct SampledColumn {
    /// Sort keys of the finite values, in any order.
    pub keys: Vec<u32>,
}

impl SampledColumn {
    fn with_capacity(documents: usize) -> Self {
        SampledColumn { keys: Vec::with_capacity(documents) }
    }

    pub fn push(&mut self, x: f32) {
        if x.is_finite() {
            self.keys.push(ascending(x));
        }
    }
}

/// Computes numbers from a sample of the values of a feature.
pub type ColumnFit<'a> = dyn Fn(SampledColumn) -> Vec<f32> + Sync + 'a;

/// Computes the knots of all features, feature by feature, from equally spaced documents.
pub(in crate::data::scale) fn fit(rows: &impl Rows, width: usize) -> Vec<f32> {
    fit_sample(rows, width, SAMPLE)
}

fn fit_sample(rows: &impl Rows, width: usize, max_documents: usize) -> Vec<f32> {
    let shares = shares();
    fit_columns(rows, width, max_documents, &|column| column_knots(column, &shares)).concat()
}

/// Fits each feature to equally spaced documents.
pub(super) fn fit_each(rows: &impl Rows, width: usize, fit: &ColumnFit<'_>) -> Vec<Vec<f32>> {
    fit_columns(rows, width, SAMPLE, fit)
}

fn fit_columns(rows: &impl Rows, width: usize, max_documents: usize, fit: &ColumnFit<'_>) -> Vec<Vec<f32>> {
    if width == 0 {
        return Vec::new();
    }
    let sample: Vec<usize> = sample(rows.count(), max_documents).collect();
    let gather = |features: Range<usize>| {
        let mut columns = vec![SampledColumn::with_capacity(sample.len()); features.len()];
        for &document in &sample {
            rows.with(document..document + 1, |row| {
                columns.iter_mut().zip(&row[features.clone()]).for_each(|(column, &x)| column.push(x));
            });
        }
        columns
    };
    let groups = |size: usize| (0..width).step_by(size).map(move |first| first..width.min(first + size));
    if rows.are_mapped() {
        // Reads each document once for as many features as memory allows, then sorts in parallel.
        let size = (MAPPED_VALUES / sample.len().max(1)).max(GROUP);
        return groups(size).flat_map(|group| gather(group).into_par_iter().map(fit).collect::<Vec<_>>()).collect();
    }
    let each = |group: Range<usize>| gather(group).into_iter().map(fit).collect::<Vec<_>>();
    groups(GROUP).collect::<Vec<_>>().into_par_iter().flat_map_iter(each).collect()
}

/// Returns all documents, or `max_documents` equally spaced ones.
fn sample(documents: usize, max_documents: usize) -> impl Iterator<Item = usize> {
    let sampled = documents.min(max_documents);
    (0..sampled).map(move |i| (i as u128 * documents as u128 / sampled as u128) as usize)
}

/// Returns the documents that the fit samples.
pub(super) fn sampled(documents: usize) -> impl Iterator<Item = usize> {
    sample(documents, SAMPLE)
}

/// Returns the fraction of documents below each knot.
pub(super) fn shares() -> Vec<f64> {
    (0..KNOTS).map(share).collect()
}

/// Computes the quantiles of a column; zeros if it has no finite values.
pub(super) fn column_knots(SampledColumn { mut keys }: SampledColumn, shares: &[f64]) -> Vec<f32> {
    keys.sort_unstable();
    let mut knots = vec![0.0; KNOTS];
    let Some(last) = keys.len().checked_sub(1) else {
        return knots;
    };
    for (k, knot) in knots.iter_mut().enumerate() {
        let index = match k {
            0 => 0,
            k if k == KNOTS - 1 => last,
            k => (shares[k] * last as f64).round() as usize,
        };
        *knot = from_ascending(keys[index]);
    }
    knots
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Slice;
    use super::*;
    use crate::data::scale::Lines;

    #[test]
    fn a_sample_covers_the_whole_data() {
        let values: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
        let rows = Slice { values: &values, width: 1 };
        let (all, some) = (Lines::of(fit(&rows, 1)), Lines::of(fit_sample(&rows, 1, 1000)));
        for x in [100.0, 2500.0, 5000.0, 9900.0] {
            assert!((all.value(0, x) - some.value(0, x)).abs() < 0.05, "{x}");
        }
        // Groups of features do not mix.
        let width = 2 * GROUP + 3;
        let rows: Vec<f32> = (0..100 * width).map(|i| ((i % width) * 1000 + i / width) as f32).collect();
        let knots = fit(&Slice { values: &rows, width }, width);
        for (feature, knots) in knots.chunks(KNOTS).enumerate() {
            assert_eq!((knots[0], knots[KNOTS - 1]), ((feature * 1000) as f32, (feature * 1000 + 99) as f32));
        }
    }
}
