//! Random numbers with log-normal and Poisson distributions.

use crate::numeric::standard_normal;
use rand::{Rng, RngExt};

/// Mean above which a Poisson distribution is approximated by a rounded normal one.
const NORMAL_ABOVE: f64 = 30.0;

/// Draws exp(x), where x is normal with this mean and standard deviation.
pub(super) fn log_normal(mean: f64, spread: f64, rng: &mut impl Rng) -> f64 {
    (mean + spread * standard_normal(rng)).exp()
}

/// Draws a Poisson number.
pub(super) fn poisson(mean: f64, rng: &mut impl Rng) -> f64 {
    if mean > NORMAL_ABOVE {
        return (mean + mean.sqrt() * standard_normal(rng)).round().max(0.0);
    }
    let (limit, mut product, mut count) = ((-mean).exp(), rng.random::<f64>(), 0.0);
    while product > limit {
        product *= rng.random::<f64>();
        count += 1.0;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn counts_have_equal_mean_and_variance() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for mean in [0.2, 3.0, 29.0, 31.0] {
            let n = 20_000;
            let draws: Vec<f64> = (0..n).map(|_| poisson(mean, &mut rng)).collect();
            let average = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - average).powi(2)).sum::<f64>() / f64::from(n);
            assert!(draws.iter().all(|x| x.fract() == 0.0 && *x >= 0.0));
            // Five standard errors; that of the variance is sqrt((2 mean^2 + mean) / n).
            assert!((average - mean).abs() < 5.0 * (mean / f64::from(n)).sqrt(), "{mean}: {average}");
            let error = ((2.0 * mean * mean + mean) / f64::from(n)).sqrt();
            assert!((variance - mean).abs() < 5.0 * error + 0.1, "{mean}: {variance}");
        }
    }
}
