//! Fisher's randomisation test: random signs for the paired differences.

use super::equal::ROUNDING;
use super::{BLOCK, PMethod, all_finite, block_rng, mean};
use rand::Rng;
use rayon::prelude::*;
use serde::Serialize;

/// Maximum number of nonzero differences for which all 2^n assignments of signs are enumerated.
const EXACT: usize = 32;
/// Number of sums accumulated in parallel.
const LANES: usize = 8;

/// Result of [`randomisation`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Randomisation {
    /// Mean difference.
    pub statistic: f64,
    /// Number of sign assignments behind p: 2^n if exact, where n is the number of nonzero differences.
    pub draws: u64,
    /// Whether all assignments were enumerated or sampled.
    pub method: PMethod,
    /// Two-sided p-value.
    pub p: f64,
}

/// Returns the fraction of sign assignments whose mean difference is at least as far from 0 as the observed one.
///
/// Up to 32 nonzero differences, all 2^n assignments are enumerated. For more, `draws` assignments are sampled from `seed`
/// and p = (1 + hits) / (1 + draws). If every difference is 0, p is 1. Returns `None` for no differences, for values or sums
/// that are not finite, and if `draws` is 0 but sampling is needed.
///
/// ```
/// // Of the 8 assignments only +++ and --- threshold 1 + 2 + 4.
/// assert_eq!(burnrank::analysis::significance::randomisation(&[1.0, 2.0, 4.0], 10_000, 0).unwrap().p, 2.0 / 8.0);
/// ```
pub fn randomisation(differences: &[f64], draws: usize, seed: u64) -> Option<Randomisation> {
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).filter(|&d| d != 0.0).collect();
    let (sum, total) = (differences.iter().sum::<f64>(), sizes.iter().sum::<f64>());
    if differences.is_empty() || !all_finite(differences) || !total.is_finite() {
        return None;
    }
    // Sums that are mathematically equal can differ by rounding and must count as hits.
    let threshold = sum.abs() - ROUNDING * total;
    let statistic = mean(differences);
    if sizes.len() <= EXACT {
        let all = 1_u64 << sizes.len();
        let p = if threshold <= 0.0 { 1.0 } else { 2.0 * count_at_least(&sizes, threshold) as f64 / all as f64 };
        return Some(Randomisation { statistic, draws: all, method: PMethod::Exact, p });
    }
    if draws == 0 {
        return None;
    }
    let block = |block: usize| {
        let mut rng = block_rng(seed, block);
        (block * BLOCK..draws.min((block + 1) * BLOCK)).filter(|_| toss(&sizes, &mut rng).abs() >= threshold).count()
    };
    let hits: usize = (0..draws.div_ceil(BLOCK)).into_par_iter().map(block).sum();
    let p = (1.0 + hits as f64) / (1.0 + draws as f64);
    Some(Randomisation { statistic, draws: draws as u64, method: PMethod::MonteCarlo, p })
}

/// Returns the number of draws needed for [`randomisation`] to be significant at `alpha` after Holm's correction over
/// `comparisons` tests, even if one draw is a hit: p is at least 1 / (1 + draws).
///
/// ```
/// assert_eq!(burnrank::analysis::significance::draws_needed(4950, 0.05), 198_000);
/// ```
pub fn draws_needed(comparisons: usize, alpha: f64) -> usize {
    (2.0 * comparisons as f64 / alpha).ceil() as usize
}

/// The sum of `sizes` under random signs, one bit each.
///
/// Several sums are accumulated in parallel so that an addition does not wait for the previous one. All lanes shift their
/// sign bits by the same distance, which vectorises.
fn toss(sizes: &[f64], rng: &mut impl Rng) -> f64 {
    const SIGN: u64 = 1 << 63;
    let mut sums = [0.0; LANES];
    for chunk in sizes.chunks(64) {
        let signs = rng.next_u64().reverse_bits();
        let mut lanes: [u64; LANES] = std::array::from_fn(|lane| signs << lane);
        let (groups, rest) = chunk.as_chunks::<LANES>();
        for group in groups {
            for lane in 0..LANES {
                sums[lane] += f64::from_bits(group[lane].to_bits() | lanes[lane] & SIGN);
                lanes[lane] <<= LANES;
            }
        }
        for (lane, size) in rest.iter().enumerate() {
            sums[lane] += f64::from_bits(size.to_bits() | lanes[lane] & SIGN);
        }
    }
    sums.iter().sum()
}

/// Number of the 2^n signed sums that are at least `threshold`: meet in the middle, with the sums of one half sorted.
fn count_at_least(sizes: &[f64], threshold: f64) -> u64 {
    let (left, right) = sizes.split_at(sizes.len() / 2);
    let mut right = signed_sums(right);
    right.sort_unstable_by(f64::total_cmp);
    signed_sums(left)
        .iter()
        .map(|&sum| (right.len() - right.partition_point(|&other| sum + other < threshold)) as u64)
        .sum()
}

fn signed_sums(sizes: &[f64]) -> Vec<f64> {
    sizes.iter().fold(vec![0.0], |sums, size| sums.iter().flat_map(|sum| [sum - size, sum + size]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::samples::{coarse, near, smooth, ten};
    use super::*;

    #[test]
    fn agrees_with_scipy() {
        // SciPy 1.17.1, scipy.stats.permutation_test((system, baseline), mean of the difference,
        // permutation_type='samples', n_resamples=inf).pvalue
        let stored: [(Vec<f64>, f64); 8] = [
            (ten(), 0.029296875),
            (ten()[..2].to_vec(), 1.0),
            (smooth(16, 0.0), 0.753173828125),
            (smooth(16, 0.25), 0.014801025390625),
            (coarse(8, 0.0), 1.0),
            (coarse(8, 0.125), 0.359375),
            (coarse(13, 0.25), 0.07080078125),
            (coarse(14, 0.25), 0.05078125),
        ];
        for (differences, p) in stored {
            let test = randomisation(&differences, 0, 0).unwrap();
            assert_eq!(test.method, PMethod::Exact);
            near(test.p, p, 1e-12);
        }
    }

    #[test]
    fn sampling_agrees_with_enumeration() {
        let few = smooth(32, 0.2);
        let exact = randomisation(&few, 0, 0).unwrap();
        assert_eq!((exact.method, exact.draws), (PMethod::Exact, 1 << 32));
        // One more difference, too small to matter, switches to sampling.
        let many = [&few[..], &[1e-9]].concat();
        let drawn = randomisation(&many, 200_000, 3).unwrap();
        assert_eq!(drawn.method, PMethod::MonteCarlo);
        let error = (exact.p * (1.0 - exact.p) / 200_000.0).sqrt();
        assert!(exact.p > 0.001 && (drawn.p - exact.p).abs() < 4.0 * error, "{} {}", drawn.p, exact.p);
    }

    #[test]
    fn p_is_at_least_one_over_one_plus_draws() {
        assert_eq!(randomisation(&[1.0; 200], 999, 0).unwrap().p, 1.0 / 1000.0);
    }

    #[test]
    fn results_depend_on_the_seed_but_not_on_the_number_of_threads() {
        let run = |seed, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| randomisation(&smooth(100, 0.05), 5_000, seed))
        };
        assert_eq!(run(1, 1), run(1, 3));
        assert_ne!(run(1, 1), run(2, 1));
    }

    #[test]
    fn edge_cases() {
        for zeros in [1, 100] {
            assert_eq!(randomisation(&vec![0.0; zeros], 10, 0).unwrap().p, 1.0);
        }
        assert_eq!(randomisation(&[0.3], 10, 0).unwrap().p, 1.0);
        assert_eq!(randomisation(&[1.0, -1.0], 10, 0).unwrap().p, 1.0);
        assert_eq!(randomisation(&[1.0; 40], 0, 0), None);
        for none in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY], &[f64::MAX, f64::MAX]] {
            assert_eq!(randomisation(none, 10, 0), None);
        }
    }
}
