//! Bootstrap intervals of a mean difference.

use super::equal::all_equal;
use super::{BLOCK, all_finite, block_rng, mean};
use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// The outcome of [`bootstrap`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    /// The share of all such intervals that hold the true mean, as in 0.95.
    pub level: f64,
    /// How many times the differences were drawn anew.
    pub resamples: usize,
    /// The standard deviation of the means drawn.
    pub standard_error: f64,
    /// The quantiles of the means drawn, low and high.
    pub percentile: (f64, f64),
    /// The quantiles corrected for bias and skewness; none when all differences are the same.
    pub bca: Option<(f64, f64)>,
}

impl Bootstrap {
    /// The corrected interval where there is one, else the plain one.
    pub fn interval(&self) -> (f64, f64) {
        self.bca.unwrap_or(self.percentile)
    }
}

/// The interval of the mean difference by drawing the differences anew, with replacement, `resamples` times.
///
/// Percentile: the quantiles at (1 - level) / 2 and (1 + level) / 2 of the means drawn. BCa (Efron 1987): at
/// Phi(z0 + (z0 + z) / (1 - a (z0 + z))) instead, where z is the normal quantile of the same share, z0 that of the share of
/// means below the one found, and a = sum(u^3) / (6 sum(u^2)^1.5) for the differences' distances u from their mean.
///
/// `None` for fewer than two differences, values that are not finite, no resamples, or a level outside (0, 1).
///
/// ```
/// let of = |d: &[f64]| burnrank::analysis::significance::bootstrap(d, 2000, 0.95, 42).unwrap().interval();
/// assert_eq!(of(&[0.1, 0.1, 0.1]), (0.1, 0.1));
/// let (low, high) = of(&[0.0, 0.2, 0.1, 0.3, 0.1, -0.1, 0.2, 0.2]);
/// assert!(0.0 < low && low < 0.125 && 0.125 < high && high < 0.25);
/// ```
pub fn bootstrap(differences: &[f64], resamples: usize, level: f64, seed: u64) -> Option<Bootstrap> {
    let sensible = differences.len() >= 2 && resamples > 0 && level > 0.0 && level < 1.0 && all_finite(differences);
    if !sensible || !differences.iter().map(|d| d.abs()).sum::<f64>().is_finite() {
        return None;
    }
    intervals(differences, draw(differences, resamples, seed), level)
}

/// The means of the resamples.
fn draw(differences: &[f64], resamples: usize, seed: u64) -> Vec<f64> {
    // Equal differences have one mean; summing them would leave a rounding error instead.
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

/// Both intervals from the means drawn.
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

/// The shares at which the corrected interval ends.
fn corrected(differences: &[f64], sorted: &[f64], tail: f64) -> Option<(f64, f64)> {
    let normal = Normal::standard();
    let found = mean(differences);
    // Means equal to the one found count half.
    let below = sorted.partition_point(|&m| m < found) + sorted.partition_point(|&m| m <= found);
    let z0 = normal.inverse_cdf(below as f64 / (2 * sorted.len()) as f64);
    // A mean's jackknife values are as far from it as its data are, so the data do. Dividing by the largest distance
    // changes nothing on paper and keeps cubes within range.
    let largest = differences.iter().map(|d| (d - found).abs()).fold(0.0, f64::max);
    let sum = |power: i32| differences.iter().map(|d| ((d - found) / largest).powi(power)).sum::<f64>();
    let acceleration = sum(3) / (6.0 * sum(2).powf(1.5));
    let share = |z: f64| normal.cdf(z0 + (z0 + z) / (1.0 - acceleration * (z0 + z)));
    let z = normal.inverse_cdf(tail);
    let shares = (share(z), share(-z));
    (!all_equal(differences) && z0.is_finite() && shares.0.is_finite() && shares.1.is_finite()).then_some(shares)
}

/// Linear between neighbours, as NumPy's default.
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
        let found = intervals(&differences, means, 0.95).unwrap();
        near(found.percentile.0, 0.02197500000000001, 1e-9);
        near(found.percentile.1, 0.11699999999999995, 1e-9);
        near(found.interval().0, 0.02599999999999997, 1e-9);
        near(found.interval().1, 0.119, 1e-9);
    }

    #[test]
    fn intervals_agree_with_scipy_on_other_draws() {
        // SciPy 1.17.1, scipy.stats.bootstrap((x(200) - y(200),), numpy.mean, n_resamples=200000, method='BCa', rng=1).
        let differences: Vec<f64> = smooth(200, 0.0).iter().map(|d| -d).collect();
        let (low, high) = bootstrap(&differences, 100_000, 0.95, 1).unwrap().interval();
        // A 2.5% quantile of 100,000 draws has a standard error of about 0.008 standard errors of the mean.
        assert!(
            (low - -0.06080195627737687).abs() < 0.0012 && (high - 0.05004211437832018).abs() < 0.0012,
            "{low} {high}"
        );
    }

    #[test]
    fn the_standard_error_is_that_of_a_mean() {
        let differences = smooth(300, 0.1);
        let theory = super::super::deviation(&differences) / 300f64.sqrt();
        near(bootstrap(&differences, 20_000, 0.9, 5).unwrap().standard_error, theory, 0.03);
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        // Differences uniform in [-1, 1], drawn 400 times: 90% intervals miss their mean, 0, about 40 times.
        let mut rng = block_rng(9, 0);
        let mut sample = || (0..60).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let holds = |(low, high): (f64, f64)| low <= 0.0 && 0.0 <= high;
        let held = (0..400).filter(|&i| holds(bootstrap(&sample(), 600, 0.9, i).unwrap().interval())).count();
        assert!((335..=384).contains(&held), "{held} of 400");
    }

    #[test]
    fn the_seed_decides_and_the_number_of_threads_does_not() {
        let run = |seed, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bootstrap(&smooth(80, 0.0), 1_000, 0.95, seed))
        };
        assert_eq!(run(1, 1), run(1, 3));
        assert_ne!(run(1, 1), run(2, 1));
    }

    #[test]
    fn odd_inputs_have_a_documented_answer() {
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
