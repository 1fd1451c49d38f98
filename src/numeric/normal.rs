//! Normal deviates.
//!
//! They use Box and Muller's formula instead of a library's tables: benchmark data and the directions of `certify` are
//! drawn with it and must not change for a given seed.

use rand::{Rng, RngExt};

/// Draws a standard normal number, from two uniform ones.
///
/// ```
/// use rand::SeedableRng;
/// let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let mean = (0..10_000).map(|_| burnrank::numeric::standard_normal(&mut random)).sum::<f64>() / 1e4;
/// assert!(mean.abs() < 0.05);
/// ```
pub fn standard_normal(random: &mut impl Rng) -> f64 {
    normal_pair(random)[0]
}

/// Draws two independent standard normal numbers, from two uniform ones.
pub(crate) fn normal_pair(random: &mut impl Rng) -> [f64; 2] {
    // 1 - u is never 0.
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    let angle = std::f64::consts::TAU * random.random::<f64>();
    [radius * angle.cos(), radius * angle.sin()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn both_numbers_are_normal_and_independent() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let n = 40_000;
        let mut sums = [0.0; 5];
        for _ in 0..n {
            let [a, b] = normal_pair(&mut random);
            for (sum, term) in sums.iter_mut().zip([a, b, a * a, b * b, a * b]) {
                *sum += term / f64::from(n);
            }
        }
        // Five standard errors: 1 / sqrt(n) for means and the covariance, sqrt(2 / n) for variances.
        for (value, expected) in sums.iter().zip([0.0, 0.0, 1.0, 1.0, 0.0]) {
            assert!((value - expected).abs() < 5.0 * (2.0 / f64::from(n)).sqrt(), "{sums:?}");
        }
    }

    #[test]
    fn numbers_of_a_seed_never_change() {
        let (mut random, mut again) = (ChaCha8Rng::seed_from_u64(7), ChaCha8Rng::seed_from_u64(7));
        let (a, b): (f64, f64) = (again.random(), again.random());
        let expected = (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        assert_eq!(standard_normal(&mut random), expected);
        assert_eq!(random.random::<u64>(), again.random::<u64>());
    }
}
