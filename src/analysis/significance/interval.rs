//! Confidence interval of a mean difference by inverting the randomisation test.

use super::equal::all_equal;
use super::{BLOCK, all_finite, block_rng, mean};
use rand::Rng;
use rayon::prelude::*;

/// Maximum number of differences for which all assignments of signs are enumerated.
const EXACT: usize = 16;
/// Maximum number of draws; more do not change the ends noticeably.
const MAX_DRAWS: usize = 1_000_000;
/// Makes the interval's random numbers independent of the test's.
const SALT: u64 = 0x5851_f42d_4c95_7f2d;

/// Returns the shifts of the differences that the randomisation test does not reject at `alpha`: the confidence interval of
/// the mean at level 1 - `alpha`.
///
/// For a shift x, the test draws signs s for the differences d - x. The mean of s (d - x) is at least as far from 0 as the
/// mean of d - x exactly if x lies between the mean of the d with s = 1 and the mean of those with s = -1. The ends of the
/// interval are therefore quantiles of the larger and the smaller mean of two random halves. For up to 16 differences all
/// assignments of signs are enumerated; for more, `draws` of them (at most 1,000,000) are drawn from `seed`.
///
/// The interval excludes 0 exactly if `significant`, the outcome of the test at `alpha`. An end that sampling error puts on the
/// wrong side of 0 is moved.
///
/// Returns `None` if a value is not finite, `draws` is 0, or there are too few differences or draws for any test to be
/// significant at `alpha`.
///
/// ```
/// use burnrank::analysis::significance::randomisation_interval;
/// // 2 of the 2^6 assignments leave one half empty and reject no shift; 5% of 64 is 3.2.
/// let (low, high) = randomisation_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1000, 0, 0.05, true).unwrap();
/// assert_eq!((low, high), (1.0, 6.0));
/// assert_eq!(randomisation_interval(&[1.0, 2.0, 3.0], 1000, 0, 0.05, false), None);
/// ```
pub fn randomisation_interval(
    differences: &[f64],
    draws: usize,
    seed: u64,
    alpha: f64,
    significant: bool,
) -> Option<(f64, f64)> {
    let total = differences.iter().map(|d| d.abs()).sum::<f64>();
    let valid = !differences.is_empty() && all_finite(differences) && total.is_finite();
    if !valid || alpha <= 0.0 || alpha >= 1.0 || alpha.is_nan() {
        return None;
    }
    let observed = mean(differences);
    // The candidate ends, and the index in sorted order of the first shift that is not rejected.
    let (mut ends, place) = if differences.len() <= EXACT {
        let all = 1_u64 << differences.len();
        let ends: Vec<(f64, f64)> = (0..all).map(|signs| halves(differences, || signs)).collect();
        (ends, (alpha * all as f64).floor())
    } else {
        let ends = draw(differences, draws.min(MAX_DRAWS), seed);
        // The observed signs count as one more draw.
        let place = (alpha * (1.0 + ends.len() as f64)).floor() - 1.0;
        (ends, place)
    };
    let place = Some(place).filter(|place| *place >= 0.0 && *place < ends.len() as f64)? as usize;
    let low = ends.select_nth_unstable_by(place, |a, b| a.0.total_cmp(&b.0)).1.0;
    let high = ends.select_nth_unstable_by(place, |a, b| b.1.total_cmp(&a.1)).1.1;
    if !low.is_finite() || !high.is_finite() {
        return None;
    }
    if all_equal(differences) {
        return Some((differences[0], differences[0]));
    }
    // The mean lies between the two ends, except for rounding.
    let (low, high) = (low.min(observed), high.max(observed));
    Some(match significant {
        false => (low.min(0.0), high.max(0.0)),
        true if observed > 0.0 && low <= 0.0 => {
            (ends.iter().map(|end| end.0).filter(|low| *low > 0.0).fold(observed, f64::min), high)
        }
        true if observed < 0.0 && high >= 0.0 => {
            (low, ends.iter().map(|end| end.1).filter(|high| *high < 0.0).fold(observed, f64::max))
        }
        true => (low, high),
    })
}

/// Means of random halves.
fn draw(differences: &[f64], draws: usize, seed: u64) -> Vec<(f64, f64)> {
    let mut ends = vec![(0.0, 0.0); draws];
    ends.par_chunks_mut(BLOCK).enumerate().for_each(|(block, ends)| {
        let mut rng = block_rng(seed ^ SALT, block);
        ends.iter_mut().for_each(|end| *end = halves(differences, || rng.next_u64()));
    });
    ends
}

/// The smaller and the larger of two means: of the differences with sign 1 and with sign -1. `signs` returns 64 signs at a time.
fn halves(differences: &[f64], mut signs: impl FnMut() -> u64) -> (f64, f64) {
    let (mut sums, mut count) = ([0.0; 2], 0_u32);
    for chunk in differences.chunks(64) {
        let signs = signs() & (u64::MAX >> (64 - chunk.len()));
        count += signs.count_ones();
        for (place, d) in chunk.iter().enumerate() {
            // All bits of the number, or none.
            let mask = (signs >> place & 1).wrapping_neg();
            sums[0] += f64::from_bits(d.to_bits() & mask);
            sums[1] += f64::from_bits(d.to_bits() & !mask);
        }
    }
    let rest = differences.len() as u32 - count;
    if count == 0 || rest == 0 {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let means = [sums[0] / f64::from(count), sums[1] / f64::from(rest)];
    (means[0].min(means[1]), means[0].max(means[1]))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{coarse, smooth, ten};
    use super::super::{randomisation, t_test};
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    fn interval(differences: &[f64], alpha: f64) -> Option<(f64, f64)> {
        let p = randomisation(differences, 20_000, 3).unwrap().p;
        randomisation_interval(differences, 20_000, 3, alpha, p <= alpha)
    }

    #[test]
    fn the_ends_are_where_the_test_becomes_significant() {
        for differences in [ten(), smooth(14, 0.2), coarse(13, 0.25), coarse(12, 0.0)] {
            let (low, high) = interval(&differences, 0.05).unwrap();
            let p = |shift: f64| {
                let moved: Vec<f64> = differences.iter().map(|d| d - shift).collect();
                randomisation(&moved, 0, 0).unwrap().p
            };
            let step = 1e-6 * (high - low);
            assert!(p(low + step) > 0.05 && p(high - step) > 0.05, "{low} {high}");
            // An end is 0 if the test of the differences themselves is not significant.
            assert!(p(low - step) <= 0.05 || low == 0.0, "{low}: {}", p(low - step));
            assert!(p(high + step) <= 0.05 || high == 0.0, "{high}: {}", p(high + step));
        }
    }

    #[test]
    fn agrees_with_students_interval_for_many_differences() {
        let differences = smooth(400, 0.1);
        let (low, high) = interval(&differences, 0.05).unwrap();
        let error = mean(&differences) / t_test(&differences).unwrap().statistic;
        // 1.966 is the quantile of 399 degrees of freedom.
        assert!((low - (mean(&differences) - 1.966 * error)).abs() < 0.1 * error, "{low}");
        assert!((high - (mean(&differences) + 1.966 * error)).abs() < 0.1 * error, "{high}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn the_interval_excludes_zero_exactly_if_the_test_is_significant(
            seed in any::<u64>(),
            count in 2usize..60,
            shift in -1.0f64..1.0,
            is_coarse in any::<bool>(),
            alpha in prop::sample::select(vec![0.05, 0.05 / 3.0, 0.2]),
        ) {
            let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let round = |d: f64| if is_coarse { (4.0 * d).round() / 4.0 } else { d };
            let differences: Vec<f64> = (0..count).map(|_| round(random.random_range(-1.0..1.0) + shift)).collect();
            let p = randomisation(&differences, 2_000, 1).unwrap().p;
            if let Some((low, high)) = randomisation_interval(&differences, 2_000, 1, alpha, p <= alpha) {
                prop_assert!(low <= mean(&differences) && mean(&differences) <= high);
                prop_assert_eq!(low > 0.0 || high < 0.0, p <= alpha, "p {} and {} to {}", p, low, high);
            } else {
                prop_assert!(count <= 16, "no interval for {count} differences");
            }
        }
    }

    #[test]
    fn coverage_equals_the_level() {
        // Differences uniform in [-1, 1], drawn 400 times: about 40 of the 90% intervals miss the true mean 0.
        let mut rng = block_rng(9, 0);
        let mut sample = || (0..30).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let holds = |(low, high): (f64, f64)| low <= 0.0 && 0.0 <= high;
        let test = |differences: &[f64], seed: u64| {
            let p = randomisation(differences, 1000, seed).unwrap().p;
            randomisation_interval(differences, 1000, seed, 0.1, p <= 0.1).unwrap()
        };
        let covered = (0..400).filter(|&seed| holds(test(&sample(), seed))).count();
        assert!((335..=384).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn edge_cases() {
        assert_eq!(interval(&[0.1; 7], 0.05), Some((0.1, 0.1)));
        assert_eq!(interval(&[0.0; 7], 0.05), Some((0.0, 0.0)));
        assert_eq!(interval(&[0.1; 40], 0.05), Some((0.1, 0.1)));
        for none in [&[][..], &[1.0], &[1.0, f64::NAN], &[f64::MAX; 20]] {
            assert_eq!(randomisation_interval(none, 100, 0, 0.05, false), None);
        }
        assert_eq!(randomisation_interval(&smooth(40, 0.0), 0, 0, 0.05, false), None);
        assert_eq!(randomisation_interval(&smooth(40, 0.0), 10, 0, 0.05, false), None);
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| interval(&smooth(80, 0.1), 0.05))
        };
        assert_eq!(run(1), run(3));
    }
}
