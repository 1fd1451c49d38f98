//! Fisher's randomisation test: which system gave which value is settled by tossing coins.

use super::equal::ROUNDING;
use super::{BLOCK, PMethod, all_finite, block_rng, mean};
use rand::Rng;
use rayon::prelude::*;
use serde::Serialize;

/// The most differences other than 0 for which all 2^n signs are counted.
const EXACT: usize = 32;
/// Sums that run side by side.
const LANES: usize = 8;

/// The outcome of [`randomisation`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Randomisation {
    /// The mean difference.
    pub statistic: f64,
    /// How many assignments of signs p stands on: 2^n of them when exact, n the differences other than 0.
    pub draws: u64,
    /// Whether those are all.
    pub method: PMethod,
    /// The two-sided p-value.
    pub p: f64,
}

/// The share of the assignments of signs to the differences whose mean is at least as far from 0 as the one found.
///
/// Up to 32 differences other than 0, all 2^n assignments are counted. Beyond that, `draws` of them are drawn from `seed`
/// and p = (1 + hits) / (1 + draws), which never claims more than was tried. When every difference is 0, p is 1. `None`
/// for no differences, for values that are not finite or whose sum is not, and for 0 draws where draws are needed.
///
/// ```
/// // Of the 8 assignments only +++ and --- reach 1 + 2 + 4.
/// assert_eq!(burnrank::analysis::significance::randomisation(&[1.0, 2.0, 4.0], 10_000, 0).unwrap().p, 2.0 / 8.0);
/// ```
pub fn randomisation(differences: &[f64], draws: usize, seed: u64) -> Option<Randomisation> {
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).filter(|&d| d != 0.0).collect();
    let (sum, most) = (differences.iter().sum::<f64>(), sizes.iter().sum::<f64>());
    if differences.is_empty() || !all_finite(differences) || !most.is_finite() {
        return None;
    }
    // Sums that are equal on paper differ by rounding: they must count as reached.
    let reach = sum.abs() - ROUNDING * most;
    let statistic = mean(differences);
    if sizes.len() <= EXACT {
        let all = 1_u64 << sizes.len();
        let p = if reach <= 0.0 { 1.0 } else { 2.0 * count_at_least(&sizes, reach) as f64 / all as f64 };
        return Some(Randomisation { statistic, draws: all, method: PMethod::Exact, p });
    }
    if draws == 0 {
        return None;
    }
    let block = |block: usize| {
        let mut rng = block_rng(seed, block);
        (block * BLOCK..draws.min((block + 1) * BLOCK)).filter(|_| toss(&sizes, &mut rng).abs() >= reach).count()
    };
    let hits: usize = (0..draws.div_ceil(BLOCK)).into_par_iter().map(block).sum();
    let p = (1.0 + hits as f64) / (1.0 + draws as f64);
    Some(Randomisation { statistic, draws: draws as u64, method: PMethod::MonteCarlo, p })
}

/// The draws that it takes for a p-value of [`randomisation`] to be at most `alpha` after Holm's correction over so many
/// comparisons, even when one of the draws is a hit: p is never less than 1 / (1 + draws).
///
/// ```
/// assert_eq!(burnrank::analysis::significance::draws_needed(4950, 0.05), 198_000);
/// ```
pub fn draws_needed(comparisons: usize, alpha: f64) -> usize {
    (2.0 * comparisons as f64 / alpha).ceil() as usize
}

/// The sum under random signs, one bit each.
///
/// Sums run side by side, so that the next addition need not wait for the last one; signs are shifted to the top of as
/// many words, by the same distance in all, which the machine does at once.
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

/// How many of the 2^n signed sums are `reach` or more: the sums of one half, sorted, meet those of the other.
fn count_at_least(sizes: &[f64], reach: f64) -> u64 {
    let (left, right) = sizes.split_at(sizes.len() / 2);
    let mut right = signed_sums(right);
    right.sort_unstable_by(f64::total_cmp);
    signed_sums(left)
        .iter()
        .map(|&sum| (right.len() - right.partition_point(|&other| sum + other < reach)) as u64)
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
    fn draws_agree_with_the_count() {
        let few = smooth(32, 0.2);
        let exact = randomisation(&few, 0, 0).unwrap();
        assert_eq!((exact.method, exact.draws), (PMethod::Exact, 1 << 32));
        // One more difference, too small to matter, turns the count into draws.
        let many = [&few[..], &[1e-9]].concat();
        let drawn = randomisation(&many, 200_000, 3).unwrap();
        assert_eq!(drawn.method, PMethod::MonteCarlo);
        let error = (exact.p * (1.0 - exact.p) / 200_000.0).sqrt();
        assert!(exact.p > 0.001 && (drawn.p - exact.p).abs() < 4.0 * error, "{} {}", drawn.p, exact.p);
    }

    #[test]
    fn p_is_never_below_what_was_tried() {
        assert_eq!(randomisation(&[1.0; 200], 999, 0).unwrap().p, 1.0 / 1000.0);
    }

    #[test]
    fn the_seed_decides_and_the_number_of_threads_does_not() {
        let run = |seed, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| randomisation(&smooth(100, 0.05), 5_000, seed))
        };
        assert_eq!(run(1, 1), run(1, 3));
        assert_ne!(run(1, 1), run(2, 1));
    }

    #[test]
    fn odd_inputs_have_a_documented_answer() {
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
