//! Means and their confidence intervals.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Arithmetic mean; NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean of numbers, with their standard deviation and the mean's standard error and confidence interval.
///
/// Sums run in the order of the values, so results do not depend on the number of threads.
///
/// ```
/// use burnrank::numeric::Mean;
/// let mean = Mean::of(&[1.0, 2.0, 3.0]);
/// assert_eq!((mean.mean, mean.deviation(), mean.standard_error()), (2.0, 1.0, (1.0 / 3.0f64).sqrt()));
/// assert!((mean.interval(0.05).1 - (2.0 + 4.302653 * mean.standard_error())).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Arithmetic mean; NaN without values.
    pub mean: f64,
    /// Number of values.
    pub n: usize,
    /// Sum of squared deviations from the mean.
    squares: f64,
}

impl Mean {
    /// Computes the mean of the values.
    pub fn of(values: &[f64]) -> Self {
        let mean = mean(values);
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
        Mean { mean, n: values.len(), squares }
    }

    /// Sample standard deviation (divisor n - 1); NaN for fewer than two values.
    pub fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Standard error of the mean; NaN for fewer than two values.
    pub fn standard_error(&self) -> f64 {
        (self.variance() / self.n as f64).sqrt()
    }

    /// Bounds of the mean's confidence interval at level 1 - `error`, from Student's distribution; NaN for fewer than
    /// two values.
    pub fn interval(&self, error: f64) -> (f64, f64) {
        let half_width = student_quantile(self.n, 1.0 - error / 2.0) * self.standard_error();
        (self.mean - half_width, self.mean + half_width)
    }

    fn variance(&self) -> f64 {
        if self.n < 2 { f64::NAN } else { self.squares / (self.n - 1) as f64 }
    }
}

/// 97.5% quantile of the normal distribution.
const NORMAL: f64 = 1.959963984540054;

/// Quantile of Student's distribution for the mean of `n` values: the value with this cumulative probability.
pub(crate) fn student_quantile(n: usize, probability: f64) -> f64 {
    let freedom = n as f64 - 1.0;
    if n > 200 {
        // Expansion around the normal quantile: exact to 1e-8 here, where the general inverse loses digits.
        let z = if probability == 0.975 { NORMAL } else { Normal::standard().inverse_cdf(probability) };
        let v = freedom;
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
        return z + first / v + second / v.powi(2) + third / v.powi(3);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| student.inverse_cdf(probability))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.stats.t.ppf(0.975, n - 1)`.
    #[test]
    fn quantiles_agree_with_scipy() {
        for (n, expected) in SCIPY {
            let quantile = student_quantile(n, 0.975);
            assert!((quantile - expected).abs() < 1e-7, "{n}: {quantile} instead of {expected}");
        }
        // scipy.stats.t.ppf(1 - 0.05 / 2 / 46, n - 1)
        for (n, expected) in [(30, 3.62803349538), (156, 3.32957205091), (1000, 3.27656392371)] {
            let quantile = student_quantile(n, 1.0 - 0.05 / 2.0 / 46.0);
            assert!((quantile - expected).abs() < 1e-6, "{n}: {quantile} instead of {expected}");
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
    fn too_few_values_have_no_interval() {
        assert!(Mean::of(&[]).mean.is_nan() && Mean::of(&[1.0]).interval(0.05).0.is_nan());
        assert_eq!((mean(&[1.0, 2.0]), Mean::of(&[0.5; 3]).interval(0.05)), (1.5, (0.5, 0.5)));
    }
}
