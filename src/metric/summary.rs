//! Mean over queries with its confidence interval.

use crate::numeric::{Mean, student_quantile};
use serde::Serialize;

/// Mean, standard error and 95% confidence interval of a metric over queries.
///
/// The standard error is s / sqrt(n) with the sample standard deviation s (divisor n - 1). The interval is mean ± t s /
/// sqrt(n), where t is the 97.5% quantile of Student's distribution with n - 1 degrees of freedom. Sums run in query
/// order, so results do not depend on the number of threads.
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
    /// Mean over the evaluated queries; NaN if there are none.
    pub mean: f64,
    /// Standard error of the mean; NaN for fewer than two queries.
    pub standard_error: f64,
    /// Bounds of the 95% confidence interval of the mean; NaN for fewer than two queries.
    pub interval: (f64, f64),
    /// Number of evaluated queries.
    pub n: usize,
    /// Number of skipped queries.
    pub skipped: usize,
}

impl Summary {
    /// Summarises one value per query; `None` stands for a skipped query.
    pub fn of(values: &[Option<f64>]) -> Self {
        let counted: Vec<f64> = values.iter().copied().flatten().collect();
        let over = Mean::of(&counted);
        let (mean, standard_error, interval, n) = (over.mean, over.standard_error(), over.interval(0.05), over.n);
        Summary { mean, standard_error, interval, n, skipped: values.len() - n }
    }

    /// Returns the bounds of the confidence interval of the mean at level 1 - `error`.
    pub fn interval_at(&self, error: f64) -> (f64, f64) {
        let half_width = student_quantile(self.n, 1.0 - error / 2.0) * self.standard_error;
        (self.mean - half_width, self.mean + half_width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
