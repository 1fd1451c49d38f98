//! Bootstrap intervals of a mean difference.

use super::equal::all_equal;
use super::{BLOCK, all_finite, block_rng, mean};
use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// Result of [`bootstrap`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    /// Confidence level, such as 0.95.
    pub level: f64,
    /// Number of resamples.
    pub resamples: usize,
    /// Standard deviation of the resampled means.
    pub standard_error: f64,
    /// Percentile interval (low, high): quantiles of the resampled means.
    pub percentile: (f64, f64),
    /// BCa interval (low, high), corrected for bias and skewness; `None` if all differences are equal.
    pub bca: Option<(f64, f64)>,
}

impl Bootstrap {
    /// Returns the BCa interval if there is one, else the percentile interval.
    pub fn interval(&self) -> (f64, f64) {
        self.bca.unwrap_or(self.percentile)
    }
}

/// Computes a bootstrap interval of the mean difference from `resamples` samples with replacement.
///
/// Percentile: the quantiles at (1 - level) / 2 and (1 + level) / 2 of the resampled means. BCa (Efron 1987): the
/// quantiles at Phi(z0 + (z0 + z) / (1 - a (z0 + z))) instead, where z is the normal quantile of the same level, z0
/// that of the fraction of resampled means below the observed mean, and a = sum(u^3) / (6 sum(u^2)^1.5) with u the
/// deviations from the mean.
///
/// Returns `None` for fewer than two differences, values that are not finite, no resamples, or a level outside (0, 1).
///
/// ```
/// let of = |d: &[f64]| burnrank::analysis::significance::bootstrap(d, 2000, 0.95, 42).unwrap().interval();
/// assert_eq!(of(&[0.1, 0.1, 0.1]), (0.1, 0.1));
/// let (low, high) = of(&[0.0, 0.2, 0.1, 0.3, 0.1, -0.1, 0.2, 0.2]);
/// assert!(0.0 < low && low < 0.125 && 0.125 < high && high < 0.25);
/// ```
pub fn bootstrap(differences: &[f64], resamples: usize, level: f64, seed: u64) -> Option<Bootstrap> {
    let valid = differences.len() >= 2 && resamples > 0 && level > 0.0 && level < 1.0 && all_finite(differences);
    if !valid || !differences.iter().map(|d| d.abs()).sum::<f64>().is_finite() {
        return None;
    }
    intervals(differences, draw(differences, resamples, seed), level)
}

/// Means of the resamples.
fn draw(differences: &[f64], resamples: usize, seed: u64) -> Vec<f64> {
    // Equal differences have one mean; a sum would add a rounding error.
    if all_equal(differences) {
        return vec![differences[0]; resamples];
    }
    let n = differences.len();
    let mut means = vec![0.0; resamples];
    means.par_chunks_mut(BLOCK).enumerate().for_each(|(block, means)| {
        let mut rng = block_rng(seed, block);
        for mean in means {
            *mean = (0..n).map(|_| differences[rng.random_range(0..n)]).sum::<f64>() / n as f64;
        }
    });
    means
}

/// Both intervals, from the resampled means.
fn intervals(differences: &[f64], mut means: Vec<f64>, level: f64) -> Option<Bootstrap> {
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let shares = corrected(differences, &means, tail);
    Some(Bootstrap {
        level,
        resamples: means.len(),
        standard_error: if means.len() < 2 { 0.0 } else { super::deviation(&means) },
        percentile: (quantile(&means, tail)?, quantile(&means, 1.0 - tail)?),
        bca: shares.and_then(|(low, high)| Some((quantile(&means, low)?, quantile(&means, high)?))),
    })
}

/// The quantile levels of the two ends of the BCa interval.
fn corrected(differences: &[f64], sorted: &[f64], tail: f64) -> Option<(f64, f64)> {
    let normal = Normal::standard();
    let observed = mean(differences);
    // Means equal to the observed one count half.
    let below = sorted.partition_point(|&m| m < observed) + sorted.partition_point(|&m| m <= observed);
    let z0 = normal.inverse_cdf(below as f64 / (2 * sorted.len()) as f64);
    // The jackknife values of a mean deviate from it in proportion to the data, so the data can be used directly. Dividing
    // by the largest deviation does not change the result and keeps the cubes in range.
    let largest = differences.iter().map(|d| (d - observed).abs()).fold(0.0, f64::max);
    let sum = |power: i32| differences.iter().map(|d| ((d - observed) / largest).powi(power)).sum::<f64>();
    let acceleration = sum(3) / (6.0 * sum(2).powf(1.5));
    let share = |z: f64| normal.cdf(z0 + (z0 + z) / (1.0 - acceleration * (z0 + z)));
    let z = normal.inverse_cdf(tail);
    let shares = (share(z), share(-z));
    (!all_equal(differences) && z0.is_finite() && shares.0.is_finite() && shares.1.is_finite()).then_some(shares)
}

/// Quantile with linear interpolation, as NumPy's default.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * (sorted.len().checked_sub(1)?) as f64;
    let low = sorted.get(place as usize)?;
    let high = sorted.get(place as usize + 1).unwrap_or(low);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::super::samples::{near, smooth, ten};
    use super::*;

    #[test]
    fn intervals_agree_with_scipy_on_the_same_draws() {
        // SciPy 1.17.1, scipy.stats.bootstrap((d,), numpy.mean, n_resamples=0, bootstrap_result=these means, method=...)
        // at confidence_level 0.95; the means are drawn by the linear congruential generator below, in both languages.
        let differences = ten();
        let mut state = 12_345_u64;
        let mut draw = || {
            state = (1_103_515_245 * state + 12_345) % (1 << 31);
            differences[((state >> 16) % 10) as usize]
        };
        let means: Vec<f64> = (0..2000).map(|_| (0..10).map(|_| draw()).sum::<f64>() / 10.0).collect();
        let result = intervals(&differences, means, 0.95).unwrap();
        near(result.percentile.0, 0.02197500000000001, 1e-9);
        near(result.percentile.1, 0.11699999999999995, 1e-9);
        near(result.interval().0, 0.02599999999999997, 1e-9);
        near(result.interval().1, 0.119, 1e-9);
    }

    #[test]
    fn intervals_agree_with_scipy_on_other_draws() {
        // SciPy 1.17.1, scipy.stats.bootstrap((x(200) - y(200),), numpy.mean, n_resamples=200000, method='BCa', rng=1).
        let differences: Vec<f64> = smooth(200, 0.0).iter().map(|d| -d).collect();
        let (low, high) = bootstrap(&differences, 100_000, 0.95, 1).unwrap().interval();
        // The 2.5% quantile of 100,000 draws has a standard error of about 0.008 standard errors of the mean.
        assert!(
            (low - -0.06080195627737687).abs() < 0.0012 && (high - 0.05004211437832018).abs() < 0.0012,
            "{low} {high}"
        );
    }

    #[test]
    fn standard_error_matches_theory() {
        let differences = smooth(300, 0.1);
        let theory = super::super::deviation(&differences) / 300f64.sqrt();
        near(bootstrap(&differences, 20_000, 0.9, 5).unwrap().standard_error, theory, 0.03);
    }

    #[test]
    fn coverage_equals_the_level() {
        // Differences uniform in [-1, 1], drawn 400 times: about 40 of the 90% intervals miss the true mean 0.
        let mut rng = block_rng(9, 0);
        let mut sample = || (0..60).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let holds = |(low, high): (f64, f64)| low <= 0.0 && 0.0 <= high;
        let covered = (0..400).filter(|&i| holds(bootstrap(&sample(), 600, 0.9, i).unwrap().interval())).count();
        assert!((335..=384).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn results_depend_on_the_seed_but_not_on_the_number_of_threads() {
        let run = |seed, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bootstrap(&smooth(80, 0.0), 1_000, 0.95, seed))
        };
        assert_eq!(run(1, 1), run(1, 3));
        assert_ne!(run(1, 1), run(2, 1));
    }

    #[test]
    fn edge_cases() {
        let zeros = bootstrap(&[0.0; 5], 100, 0.95, 0).unwrap();
        assert_eq!((zeros.percentile, zeros.bca, zeros.standard_error), ((0.0, 0.0), None, 0.0));
        assert_eq!(bootstrap(&[0.1; 5], 1, 0.95, 0).unwrap().percentile, (0.1, 0.1));
        assert!(bootstrap(&[1.0, 2.0], 50, 0.95, 0).is_some());
        assert!(bootstrap(&[1e300, -1e300, 5e299], 50, 0.95, 0).unwrap().bca.is_some());
        for none in [&[][..], &[1.0], &[1.0, f64::NAN], &[f64::MAX, f64::MAX]] {
            assert_eq!(bootstrap(none, 100, 0.95, 0), None);
        }
        for level in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(bootstrap(&[1.0, 2.0], 100, level, 0), None);
        }
        assert_eq!(bootstrap(&[1.0, 2.0], 0, 0.95, 0), None);
    }
}
