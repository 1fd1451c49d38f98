//! Piecewise linear maps through quantiles of the training values.
//!
//! For each feature, x is mapped to y = sqrt(3) (2 F - 1), where F is the fraction of training documents below x. The map is
//! piecewise linear between points and constant outside:
//!
//! - the fractions are F_k = 1 / (1 + exp(-0.6 (k - 15))), k = 0..30, from 0.0001 to 0.9999, closer together near both ends,
//!   where outliers are far apart;
//! - the knot x_k is the quantile F_k of the finite training values; the first is the minimum, the last the maximum;
//! - equal knots, for a value that many documents have, become one point, at the mean of their first and last fraction.
//!
//! So the most common value of sparse counts becomes one point, and constant features become 0. For values of any continuous
//! distribution, y has mean 0 and standard deviation 1; it is always within -1.74..1.74. The map is
//! `numpy.interp(x, [x of points], [y of points])`.

/// Number of knots of a feature.
pub(super) const KNOTS: usize = 31;
/// Length of a table: the knots, padded to a whole number of SIMD registers.
pub(super) const TABLE_LENGTH: usize = 32;
/// Distance of ln(F / (1 - F)) between two knots.
const STEP: f64 = 0.6;

/// Returns the fraction of documents below the knot `k`.
pub(super) fn share(k: usize) -> f64 {
    1.0 / (1.0 + (-STEP * (k as f64 - (KNOTS - 1) as f64 / 2.0)).exp())
}

/// Maps a fraction F to y.
fn position(share: f64) -> f64 {
    3f64.sqrt() * (2.0 * share - 1.0)
}

/// The maps of all features.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Lines {
    /// Ascending quantiles, feature by feature.
    knots: Vec<f32>,
    /// Tables computed from the knots.
    tables: Vec<Table>,
}

impl Lines {
    /// Builds the maps from knots, which must ascend within each feature.
    pub(super) fn of(knots: Vec<f32>) -> Self {
        let tables = knots.chunks(KNOTS).map(|knots| Table::through(&points(knots))).collect();
        Lines { knots, tables }
    }

    /// Builds the maps from at most [`TABLE_LENGTH`] points per feature, x ascending, at least one.
    pub(super) fn through(points: &[Vec<(f32, f64)>]) -> Self {
        Lines { knots: Vec::new(), tables: points.iter().map(|points| Table::through(points)).collect() }
    }

    pub fn knots(&self) -> &[f32] {
        &self.knots
    }

    /// Returns the points (x, y) of the map of each feature, x ascending.
    pub fn points(&self) -> Vec<Vec<(f32, f64)>> {
        self.tables.iter().map(Table::points).collect()
    }

    /// Maps values after rounding them to f32, which does not change raw features.
    pub(super) fn apply(&self, row: &mut [f64]) {
        row.iter_mut().zip(&self.tables).for_each(|(x, table)| *x = table.map(*x as f32));
    }

    pub(super) fn value(&self, feature: usize, x: f64) -> f64 {
        self.tables[feature].map(x as f32)
    }
}

/// Returns the points (x, y) of the map of a feature, x ascending, from its ascending knots.
fn points(knots: &[f32]) -> Vec<(f32, f64)> {
    let mut points = Vec::with_capacity(knots.len());
    let mut first = 0;
    for equal in knots.chunk_by(|a, b| a == b) {
        let last = first + equal.len() - 1;
        let y = position((share(first) + share(last)) / 2.0);
        // Exactly 0 for a constant feature.
        points.push((equal[0], if equal.len() == knots.len() { 0.0 } else { y }));
        first = last + 1;
    }
    points
}

/// The map of one feature, laid out for speed.
#[derive(Debug, Clone, PartialEq)]
struct Table {
    /// x of the points, padded with infinities.
    x: [f32; TABLE_LENGTH],
    y: [f64; TABLE_LENGTH],
    /// Slope after each point; 0 after the last.
    slope: [f64; TABLE_LENGTH],
    /// Number of points.
    count: usize,
    /// x of the last point.
    end: f32,
}

impl Table {
    fn through(points: &[(f32, f64)]) -> Self {
        let mut table = Table {
            x: [f32::INFINITY; TABLE_LENGTH],
            y: [0.0; TABLE_LENGTH],
            slope: [0.0; TABLE_LENGTH],
            count: points.len(),
            end: f32::NEG_INFINITY,
        };
        for (index, &(x, y)) in points.iter().enumerate() {
            (table.x[index], table.y[index], table.end) = (x, y, x);
        }
        for (index, pair) in points.windows(2).enumerate() {
            table.slope[index] = (pair[1].1 - pair[0].1) / (f64::from(pair[1].0) - f64::from(pair[0].0));
        }
        table
    }

    fn points(&self) -> Vec<(f32, f64)> {
        self.x.iter().copied().zip(self.y.iter().copied()).take(self.count).collect()
    }

    /// Maps a value; NaN stays NaN.
    #[inline]
    fn map(&self, x: f32) -> f64 {
        let clipped = x.max(self.x[0]).min(self.end);
        // Without branches, so that the compiler can vectorize the comparisons.
        let below = self.x.iter().map(|&knot| u32::from(knot <= clipped)).sum::<u32>();
        let index = (below as usize).clamp(1, TABLE_LENGTH) - 1;
        let y = self.y[index] + (f64::from(clipped) - f64::from(self.x[index])) * self.slope[index];
        if x.is_nan() { f64::from(x) } else { y }
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::{Slice, quantiles::fit};
    use super::*;

    fn fitted(values: &[f32]) -> Table {
        Table::through(&points(&fit(&Slice { values, width: 1 }, 1)))
    }

    impl Table {
        fn single(&self, x: f32) -> f32 {
            self.map(x) as f32
        }
    }

    #[test]
    fn continuous_distributions_follow_the_formula() {
        let n = 100_000;
        for stretch in [|u: f64| u, |u: f64| (12.0 * u).exp(), |u: f64| 1.0 / (1.0 - u)] {
            let at = |f: f64| stretch(f) as f32;
            let values: Vec<f32> = (0..n).map(|i| at((i * 7919 % n) as f64 / n as f64)).collect();
            let table = fitted(&values);
            for f in [0.003, 0.02, 0.1, 0.3, 0.5, 0.77, 0.9, 0.99, 0.999] {
                assert!((f64::from(table.single(at(f))) - position(f)).abs() < 0.12, "{f}: {}", table.single(at(f)));
            }
            let mut mean = [0.0, 0.0];
            values.iter().map(|&x| f64::from(table.single(x))).for_each(|y| {
                mean[0] += y / n as f64;
                mean[1] += y * y / n as f64;
            });
            assert!(mean[0].abs() < 0.1 && (mean[1].sqrt() - 1.0).abs() < 0.1, "{mean:?}");
        }
    }

    #[test]
    fn outliers_are_clipped_and_do_not_affect_other_values() {
        let mut values: Vec<f32> = (0..20_000).map(|i| (i % 1000) as f32).collect();
        let before = fitted(&values);
        values[7] = 3e38;
        let after = fitted(&values);
        for x in [0.0, 10.0, 500.0, 990.0] {
            assert!((before.single(x) - after.single(x)).abs() < 0.01, "{x}");
        }
        let highest = position(share(KNOTS - 1)) as f32;
        for x in [3e38, f32::MAX, f32::INFINITY] {
            assert_eq!(after.single(x), highest);
        }
        assert_eq!(after.single(f32::NEG_INFINITY), after.single(0.0));
        assert!(after.single(f32::NAN).is_nan());
    }

    #[test]
    fn sparse_counts_keep_their_order() {
        // 995 zeros in 1000, and one outlier.
        let mut values = vec![0.0; 1000];
        values[..5].copy_from_slice(&[1.0, 2.0, 4.0, 9.0, 1e8]);
        let table = fitted(&values);
        assert!(table.single(0.0).abs() < 0.05, "the most common value is the middle: {}", table.single(0.0));
        let mapped = [0.0, 1.0, 2.0, 4.0, 9.0, 1e8].map(|x| table.single(x));
        assert!(mapped.is_sorted_by(|a, b| a < b), "{mapped:?}");
        // A value of a single document in 100,000 remains distinct.
        let mut values = vec![0.0; 100_000];
        values[99] = 5.0;
        assert_eq!(fitted(&values).single(5.0), position(share(KNOTS - 1)) as f32);
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
    fn constant_features_become_zero() {
        for values in [&[][..], &[0.1; 9], &[f32::NAN, f32::INFINITY], &[f32::NAN, 3.0, f32::NEG_INFINITY]] {
            let table = fitted(values);
            [-1e38, 0.0, 0.1, 3.0, 1e38].iter().for_each(|&x| assert_eq!(table.single(x), 0.0, "{values:?}"));
        }
        assert_eq!(fit(&Slice { values: &[-0.0, 0.0], width: 1 }, 1), [0.0; KNOTS]);
    }

    #[test]
    fn maps_are_monotonic_and_bounded() {
        for values in [vec![1e-40, 2e-40, 0.0, 3e38, -3e38], (0..50).map(|i| (i * i) as f32 * 1e-3).collect()] {
            let table = fitted(&values);
            let highest = position(share(KNOTS - 1)) as f32;
            let mut sorted = values.clone();
            sorted.sort_by(f32::total_cmp);
            for pair in sorted.windows(2) {
                for x in [pair[0] / 2.0 + pair[1] / 2.0, pair[0]] {
                    assert!(
                        table.single(pair[0]) <= table.single(x) && table.single(x) <= table.single(pair[1]),
                        "{pair:?}"
                    );
                    assert!(table.single(x).abs() <= highest);
                }
            }
        }
    }
}
