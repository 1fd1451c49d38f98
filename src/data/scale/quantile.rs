//! Quantiles of columns, and the piecewise linear maps through them.
//!
//! Feature by feature, x becomes y = sqrt(3) (2 F - 1), F being the share of training documents below x, as a line through the
//! points of a table, flat outside:
//!
//! - the shares are F_k = 1 / (1 + exp(-0.6 (k - 15))), k = 0..30, from 0.0001 to 0.9999, and closer together near both ends,
//!   where values with outliers are far apart;
//! - the knot x_k is the quantile F_k of the finite training values; the first is the smallest value, the last the largest;
//! - equal knots, of a value that many documents have, become one point, at the mean of their first and last share.
//!
//! So the most common value of sparse counts is one point, and the line goes on to the largest; what never varies becomes 0. On
//! values of any continuous distribution y has mean 0 and standard deviation 1, and it never leaves -1.74..1.74. It is
//! `numpy.interp(x, [x of points], [y of points])`.

use super::fit::Rows;
use crate::numeric::order::{ascending, from_ascending};
use rayon::prelude::*;
use std::ops::Range;

/// Knots of a feature.
pub(super) const KNOTS: usize = 31;
/// The knots' places in a table, a whole number of SIMD registers.
const PLACES: usize = 32;
/// The distance of two knots' ln(F / (1 - F)).
const STEP: f64 = 0.6;
/// Documents that the quantiles are of: more change nothing that could be seen, and would take memory.
const SAMPLE: usize = 200_000;
/// Features that are looked at together: those of a line of the cache.
const TOGETHER: usize = 16;

/// Values that are in memory at once where documents are in a file: 128 MiB of them.
const FAR_VALUES: usize = 1 << 25;

/// The share of documents below the knot `k`.
fn share(k: usize) -> f64 {
    1.0 / (1.0 + (-STEP * (k as f64 - (KNOTS - 1) as f64 / 2.0)).exp())
}

/// What the values with this share of documents below them become.
fn position(share: f64) -> f64 {
    3f64.sqrt() * (2.0 * share - 1.0)
}

/// The knots of every feature, one after the other, from documents at equal distances.
pub(super) fn fit(rows: &impl Rows, width: usize) -> Vec<f32> {
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
    if rows.are_far() {
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

/// The points that a feature's map is drawn through, x ascending, from its knots, which must ascend.
pub(crate) fn points(knots: &[f32]) -> Vec<(f32, f64)> {
    let mut points = Vec::with_capacity(knots.len());
    let mut first = 0;
    for equal in knots.chunk_by(|a, b| a == b) {
        let last = first + equal.len() - 1;
        let y = position((share(first) + share(last)) / 2.0);
        // Not a rounding error away from it.
        points.push((equal[0], if equal.len() == knots.len() { 0.0 } else { y }));
        first = last + 1;
    }
    points
}

/// The map of one feature, laid out for speed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// The points' x, then infinities.
    x: [f32; PLACES],
    y: [f64; PLACES],
    /// The slope behind each point; 0 behind the last.
    slope: [f64; PLACES],
    /// The last point's x.
    end: f32,
}

impl Table {
    pub fn of(knots: &[f32]) -> Self {
        let points = points(knots);
        let mut table =
            Table { x: [f32::INFINITY; PLACES], y: [0.0; PLACES], slope: [0.0; PLACES], end: f32::NEG_INFINITY };
        for (place, &(x, y)) in points.iter().enumerate() {
            (table.x[place], table.y[place], table.end) = (x, y, x);
        }
        for (place, pair) in points.windows(2).enumerate() {
            table.slope[place] = (pair[1].1 - pair[0].1) / (f64::from(pair[1].0) - f64::from(pair[0].0));
        }
        table
    }

    /// NaN stays NaN.
    #[inline]
    pub fn map(&self, x: f32) -> f32 {
        let held = x.max(self.x[0]).min(self.end);
        // Without branches, and with as many comparisons at once as the machine has.
        let passed = self.x.iter().map(|&knot| u32::from(knot <= held)).sum::<u32>();
        let place = (passed as usize).clamp(1, PLACES) - 1;
        let y = self.y[place] + (f64::from(held) - f64::from(self.x[place])) * self.slope[place];
        if x.is_nan() { x } else { y as f32 }
    }
}

/// Maps rows of as many features as there are tables, in place.
pub(super) fn apply(rows: &mut [f32], tables: &[Table]) {
    for row in rows.chunks_exact_mut(tables.len()) {
        row.iter_mut().zip(tables).for_each(|(x, table)| *x = table.map(*x));
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit::Slice;
    use super::*;

    fn fitted(values: &[f32]) -> Table {
        Table::of(&fit(&Slice { values, width: 1 }, 1))
    }

    #[test]
    fn many_different_values_follow_the_formula_whatever_their_distribution() {
        let n = 100_000;
        for stretch in [|u: f64| u, |u: f64| (12.0 * u).exp(), |u: f64| 1.0 / (1.0 - u)] {
            let at = |f: f64| stretch(f) as f32;
            let values: Vec<f32> = (0..n).map(|i| at((i * 7919 % n) as f64 / n as f64)).collect();
            let table = fitted(&values);
            for f in [0.003, 0.02, 0.1, 0.3, 0.5, 0.77, 0.9, 0.99, 0.999] {
                assert!((f64::from(table.map(at(f))) - position(f)).abs() < 0.12, "{f}: {}", table.map(at(f)));
            }
            let mut mean = [0.0, 0.0];
            values.iter().map(|&x| f64::from(table.map(x))).for_each(|y| {
                mean[0] += y / n as f64;
                mean[1] += y * y / n as f64;
            });
            assert!(mean[0].abs() < 0.1 && (mean[1].sqrt() - 1.0).abs() < 0.1, "{mean:?}");
        }
    }

    #[test]
    fn outliers_change_nothing_elsewhere_and_are_clipped() {
        let mut values: Vec<f32> = (0..20_000).map(|i| (i % 1000) as f32).collect();
        let before = fitted(&values);
        values[7] = 3e38;
        let after = fitted(&values);
        for x in [0.0, 10.0, 500.0, 990.0] {
            assert!((before.map(x) - after.map(x)).abs() < 0.01, "{x}");
        }
        let highest = position(share(KNOTS - 1)) as f32;
        for x in [3e38, f32::MAX, f32::INFINITY] {
            assert_eq!(after.map(x), highest);
        }
        assert_eq!(after.map(f32::NEG_INFINITY), after.map(0.0));
        assert!(after.map(f32::NAN).is_nan());
    }

    #[test]
    fn sparse_counts_keep_their_order() {
        // 995 zeros in 1000, and a count in a million that is far away.
        let mut values = vec![0.0; 1000];
        values[..5].copy_from_slice(&[1.0, 2.0, 4.0, 9.0, 1e8]);
        let table = fitted(&values);
        assert!(table.map(0.0).abs() < 0.05, "the most common value is the middle: {}", table.map(0.0));
        let mapped = [0.0, 1.0, 2.0, 4.0, 9.0, 1e8].map(|x| table.map(x));
        assert!(mapped.is_sorted_by(|a, b| a < b), "{mapped:?}");
        // One document in a million keeps its value apart from all others'.
        let mut values = vec![0.0; 100_000];
        values[99] = 5.0;
        assert_eq!(fitted(&values).map(5.0), position(share(KNOTS - 1)) as f32);
    }

    #[test]
    fn two_values_are_two_points() {
        let knots = fit(&Slice { values: &[0.0, 1.0, 0.0, 1.0], width: 1 }, 1);
        let points = points(&knots);
        let below = knots.iter().filter(|&&x| x == 0.0).count();
        let middle = |first, last| position((share(first) + share(last)) / 2.0);
        assert_eq!(points, [(0.0, middle(0, below - 1)), (1.0, middle(below, KNOTS - 1))]);
        assert!((points[0].1 + points[1].1).abs() < 0.3, "{points:?}");
    }

    #[test]
    fn nothing_to_tell_apart_becomes_zero() {
        for values in [&[][..], &[0.1; 9], &[f32::NAN, f32::INFINITY], &[f32::NAN, 3.0, f32::NEG_INFINITY]] {
            let table = fitted(values);
            [-1e38, 0.0, 0.1, 3.0, 1e38].iter().for_each(|&x| assert_eq!(table.map(x), 0.0, "{values:?}"));
        }
        assert_eq!(fit(&Slice { values: &[-0.0, 0.0], width: 1 }, 1), [0.0; KNOTS]);
    }

    #[test]
    fn a_map_rises_and_stays_in_bounds() {
        for values in [vec![1e-40, 2e-40, 0.0, 3e38, -3e38], (0..50).map(|i| (i * i) as f32 * 1e-3).collect()] {
            let table = fitted(&values);
            let highest = position(share(KNOTS - 1)) as f32;
            let mut sorted = values.clone();
            sorted.sort_by(f32::total_cmp);
            for pair in sorted.windows(2) {
                for x in [pair[0] / 2.0 + pair[1] / 2.0, pair[0]] {
                    assert!(table.map(pair[0]) <= table.map(x) && table.map(x) <= table.map(pair[1]), "{pair:?}");
                    assert!(table.map(x).abs() <= highest);
                }
            }
        }
    }

    #[test]
    fn a_sample_is_of_all_parts_of_the_data() {
        let values: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
        let rows = Slice { values: &values, width: 1 };
        let (all, some) = (Table::of(&fit(&rows, 1)), Table::of(&fit_sample(&rows, 1, 1000)));
        for x in [100.0, 2500.0, 5000.0, 9900.0] {
            assert!((all.map(x) - some.map(x)).abs() < 0.05, "{x}");
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
