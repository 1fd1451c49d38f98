//! Quantiles of columns.

use super::blocks::Rows;
use crate::data::scale::lines::{KNOTS, share};
use crate::numeric::order::{ascending, from_ascending};
use rayon::prelude::*;
use std::ops::Range;

/// Documents that the quantiles are of: more change nothing that could be seen, and would take memory.
const SAMPLE: usize = 200_000;
/// Features that are looked at together: those of a line of the cache.
const TOGETHER: usize = 16;

/// Values that are in memory at once where documents are in a file: 128 MiB of them.
const FAR_VALUES: usize = 1 << 25;

/// The knots of every feature, one after the other, from documents at equal distances.
pub(in crate::data::scale) fn fit(rows: &impl Rows, width: usize) -> Vec<f32> {
    fit_sample(rows, width, SAMPLE)
}

fn fit_sample(rows: &impl Rows, width: usize, most: usize) -> Vec<f32> {
    if width == 0 {
        return Vec::new();
    }
    let sample: Vec<usize> = sample(rows.count(), most).collect();
    let shares = shares();
    let gather = |features: Range<usize>| {
        let mut columns = vec![Vec::with_capacity(sample.len()); features.len()];
        for &document in &sample {
            rows.with(document..document + 1, |row| {
                for (column, &x) in columns.iter_mut().zip(&row[features.clone()]).filter(|(_, x)| x.is_finite()) {
                    column.push(ascending(x));
                }
            });
        }
        columns
    };
    let groups = |size: usize| (0..width).step_by(size).map(move |first| first..width.min(first + size));
    if rows.are_mapped() {
        // One look at each document for as many features as memory is taken for; the sorting is what takes time.
        let size = (FAR_VALUES / sample.len().max(1)).max(TOGETHER);
        let knots = |mut column: Vec<u32>| column_knots(&mut column, &shares);
        return groups(size)
            .flat_map(|group| gather(group).into_par_iter().flat_map_iter(knots).collect::<Vec<_>>())
            .collect();
    }
    let knots = |group: Range<usize>| {
        gather(group).iter_mut().flat_map(|column| column_knots(column, &shares)).collect::<Vec<f32>>()
    };
    groups(TOGETHER).collect::<Vec<_>>().into_par_iter().flat_map_iter(knots).collect()
}

/// The documents that quantiles are of: all, or so many at equal distances.
fn sample(documents: usize, most: usize) -> impl Iterator<Item = usize> {
    let sampled = documents.min(most);
    (0..sampled).map(move |i| (i as u128 * documents as u128 / sampled as u128) as usize)
}

/// As [`sample`], of as many documents as the fit takes.
pub(super) fn sampled(documents: usize) -> impl Iterator<Item = usize> {
    sample(documents, SAMPLE)
}

/// The share of documents below each knot.
pub(super) fn shares() -> Vec<f64> {
    (0..KNOTS).map(share).collect()
}

/// The quantiles of the values with these keys; zeros where there is none.
pub(super) fn column_knots(keys: &mut [u32], shares: &[f64]) -> [f32; KNOTS] {
    keys.sort_unstable();
    let Some(last) = keys.len().checked_sub(1) else {
        return [0.0; KNOTS];
    };
    let mut knots = [0.0; KNOTS];
    for (k, knot) in knots.iter_mut().enumerate() {
        let place = match k {
            0 => 0,
            k if k == KNOTS - 1 => last,
            k => (shares[k] * last as f64).round() as usize,
        };
        *knot = from_ascending(keys[place]);
    }
    knots
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Slice;
    use super::*;
    use crate::data::scale::Lines;

    #[test]
    fn a_sample_is_of_all_parts_of_the_data() {
        let values: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
        let rows = Slice { values: &values, width: 1 };
        let (all, some) = (Lines::of(fit(&rows, 1)), Lines::of(fit_sample(&rows, 1, 1000)));
        for x in [100.0, 2500.0, 5000.0, 9900.0] {
            assert!((all.value(0, x) - some.value(0, x)).abs() < 0.05, "{x}");
        }
        // Features are not mixed up, whichever are looked at together.
        let width = 2 * TOGETHER + 3;
        let rows: Vec<f32> = (0..100 * width).map(|i| ((i % width) * 1000 + i / width) as f32).collect();
        let knots = fit(&Slice { values: &rows, width }, width);
        for (feature, knots) in knots.chunks(KNOTS).enumerate() {
            assert_eq!((knots[0], knots[KNOTS - 1]), ((feature * 1000) as f32, (feature * 1000 + 99) as f32));
        }
    }
}
