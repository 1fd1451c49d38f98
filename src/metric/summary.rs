//! The mean over queries, and how far to trust it.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Mean, standard error and 95% interval of a measure over queries.
///
/// Standard error s / sqrt(n) with the sample standard deviation s (divisor n - 1); the interval is
/// mean ± t s / sqrt(n), t being the 97.5% quantile of Student's distribution with n - 1 degrees of freedom.
/// Sums run in query order, so that the number of threads makes no difference.
///
/// ```
/// use burnrank::metric::Summary;
/// let summary = Summary::of(&[Some(1.0), Some(2.0), None, Some(3.0)]);
/// assert_eq!((summary.mean, summary.n, summary.skipped), (2.0, 3, 1));
/// assert_eq!(summary.standard_error, (1.0 / 3.0f64).sqrt());
/// assert!((summary.interval.1 - (2.0 + 4.302653 * (1.0 / 3.0f64).sqrt())).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// The mean over the queries that count; NaN when there are none.
    pub mean: f64,
    /// The standard error of the mean; NaN for fewer than two queries.
    pub standard_error: f64,
    /// The ends of the 95% interval of the mean; NaN for fewer than two queries.
    pub interval: (f64, f64),
    /// The number of queries that count.
    pub n: usize,
    /// The number of queries that do not.
    pub skipped: usize,
}

impl Summary {
    /// Sums up one value per query, `None` for those that do not count.
    pub fn of(values: &[Option<f64>]) -> Self {
        let n = values.iter().flatten().count();
        let mean = values.iter().flatten().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().flatten().map(|value| (value - mean).powi(2)).sum();
        let standard_error = if n < 2 { f64::NAN } else { (squares / (n - 1) as f64 / n as f64).sqrt() };
        let mut summary =
            Summary { mean, standard_error, interval: (f64::NAN, f64::NAN), n, skipped: values.len() - n };
        summary.interval = summary.interval_at(0.05);
        summary
    }

    /// The ends of the interval of the mean at level 1 - `error`.
    pub fn interval_at(&self, error: f64) -> (f64, f64) {
        let reach = quantile(self.n, 1.0 - error / 2.0) * self.standard_error;
        (self.mean - reach, self.mean + reach)
    }
}

/// The 97.5% quantile of the normal distribution.
const NORMAL: f64 = 1.959963984540054;

/// The quantile of Student's distribution for a mean of `n` values: the value below which it has this share.
fn quantile(n: usize, share: f64) -> f64 {
    let freedom = n as f64 - 1.0;
    if n > 200 {
        // Its expansion around the normal quantile: here exact to 1e-8, where the general inverse loses digits.
        let z = if share == 0.975 { NORMAL } else { Normal::standard().inverse_cdf(share) };
        let v = freedom;
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
        return z + first / v + second / v.powi(2) + third / v.powi(3);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| student.inverse_cdf(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.stats.t.ppf(0.975, n - 1)`.
    #[test]
    fn quantiles_agree_with_scipy() {
        for (n, expected) in SCIPY {
            let found = quantile(n, 0.975);
            assert!((found - expected).abs() < 1e-7, "{n}: {found} instead of {expected}");
        }
        // scipy.stats.t.ppf(1 - 0.05 / 2 / 46, n - 1)
        for (n, expected) in [(30, 3.62803349538), (156, 3.32957205091), (1000, 3.27656392371)] {
            let found = quantile(n, 1.0 - 0.05 / 2.0 / 46.0);
            assert!((found - expected).abs() < 1e-6, "{n}: {found} instead of {expected}");
        }
    }

    #[rustfmt::skip]
    const SCIPY: [(usize, f64); 11] = [
        (2, 12.706204736174694),
        (3, 4.302652729749462),
        (5, 2.7764451051977934),
        (10, 2.262157162798205),
        (30, 2.045229642132703),
        (31, 2.0422724563012378),
        (100, 1.9842169515864174),
        (200, 1.9719565442517533),
        (201, 1.9718962236339088),
        (1000, 1.9623414611334493),
        (100000, 1.9599877077718442),
    ];

    #[test]
    fn too_few_queries_have_no_interval() {
        let none = Summary::of(&[None, None]);
        assert!(none.mean.is_nan() && none.n == 0 && none.skipped == 2);
        let one = Summary::of(&[Some(0.5)]);
        assert!(one.mean == 0.5 && one.standard_error.is_nan() && one.interval.0.is_nan());
        let same = Summary::of(&[Some(0.5); 3]);
        assert_eq!((same.standard_error, same.interval), (0.0, (0.5, 0.5)));
    }
}
