//! Wilcoxon's signed-rank test.

use super::equal::equal;
use super::{PMethod, all_finite};
use serde::Serialize;
use statrs::function::erf::erfc;

/// Maximum number of differences for the exact distribution without zeros and ties.
const EXACT: usize = 50;
/// Maximum number of differences for the exact distribution with zeros or ties.
const EXACT_WITH_TIES: usize = 13;

/// Result of [`wilcoxon`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Wilcoxon {
    /// The smaller of the rank sums of the positive and the negative differences.
    pub statistic: f64,
    /// Rank sum of the positive differences.
    pub positive: f64,
    /// Number of nonzero differences.
    pub nonzero: usize,
    /// How p was computed.
    pub method: PMethod,
    /// Two-sided p-value.
    pub p: f64,
}

/// Ranks the differences by absolute value, with mean ranks for ties (up to rounding), and compares the rank sum W of the
/// positive ones with its distribution under random signs.
///
/// Zeros are dropped, as in Wilcoxon's paper. The rules are SciPy's defaults: the exact distribution for up to 50 differences
/// without zeros and ties, and for up to 13 with them; otherwise
/// z = (W - n(n+1)/4) / sqrt((n(n+1)(2n+1) - sum(t^3 - t)/2) / 24), where t are the sizes of the groups of ties, without
/// continuity correction. If every difference is 0, p is 1. Returns `None` for no differences or values that are not finite.
///
/// ```
/// // One of the 2^5 outcomes has no negative rank, and one has no positive rank.
/// assert_eq!(burnrank::analysis::significance::wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().p, 2.0 / 32.0);
/// ```
pub fn wilcoxon(differences: &[f64]) -> Option<Wilcoxon> {
    if differences.is_empty() || !all_finite(differences) {
        return None;
    }
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let nonzero = sorted.len();
    // Twice the mean rank is an integer: the sum of the group's first and last rank, counted from 1.
    let mut doubled = Vec::with_capacity(nonzero);
    let mut ties = 0.0;
    for group in sorted.chunk_by(|a, b| equal(a.abs(), b.abs(), b.abs())) {
        let t = group.len() as f64;
        ties += t * t * t - t;
        let twice = 2 * doubled.len() + 1 + group.len();
        doubled.extend(std::iter::repeat_n(twice, group.len()));
    }
    let total: usize = doubled.iter().sum();
    let plus: usize = sorted.iter().zip(&doubled).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let plain = ties == 0.0 && nonzero == differences.len();
    let (method, p) = if nonzero == 0 || differences.len() <= if plain { EXACT } else { EXACT_WITH_TIES } {
        (PMethod::Exact, exact(&doubled, plus))
    } else {
        (PMethod::Normal, normal(nonzero as f64, ties, plus as f64 / 2.0))
    };
    Some(Wilcoxon {
        statistic: plus.min(total - plus) as f64 / 2.0,
        positive: plus as f64 / 2.0,
        nonzero,
        method,
        p: p.min(1.0),
    })
}

/// Twice the smaller tail probability of the sum of the ranks, each included with probability 1/2.
fn exact(ranks: &[usize], sum: usize) -> f64 {
    let mut probability = vec![0.0; ranks.iter().sum::<usize>() + 1];
    probability[0] = 1.0;
    let mut reach = 0;
    for rank in ranks {
        for at in (0..=reach).rev() {
            probability[at] /= 2.0;
            probability[at + rank] += probability[at];
        }
        reach += rank;
    }
    let (below, above): (f64, f64) = (probability[..=sum].iter().sum(), probability[sum..].iter().sum());
    2.0 * below.min(above)
}

fn normal(n: f64, ties: f64, positive: f64) -> f64 {
    let deviation = ((n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0).sqrt();
    let z = (positive - n * (n + 1.0) / 4.0) / deviation;
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{coarse, near, smooth, ten};
    use super::*;

    #[test]
    fn agrees_with_scipy() {
        use PMethod::{Exact, Normal};
        // SciPy 1.17.1, scipy.stats.wilcoxon(system, baseline): statistic and pvalue, all settings at their defaults.
        let stored: [(Vec<f64>, PMethod, f64, f64); 15] = [
            (ten(), Exact, 7.0, 0.037109375),
            (ten()[..2].to_vec(), Exact, 1.0, 1.0),
            (smooth(30, 0.0), Exact, 216.0, 0.7456546742469072),
            (smooth(30, 0.25), Exact, 90.0, 0.002560090273618698),
            (smooth(50, 0.25), Exact, 281.0, 0.00039864755038721),
            (smooth(60, 0.0), Normal, 900.0, 0.9120730845618369),
            (smooth(60, 0.25), Normal, 349.0, 3.090850807784521e-05),
            (smooth(2000, 0.1), Normal, 741006.0, 9.52925628897123e-24),
            (coarse(8, 0.0), Exact, 10.0, 1.0),
            (coarse(8, 0.125), Exact, 7.5, 0.328125),
            (coarse(13, 0.25), Exact, 15.5, 0.06689453125),
            (coarse(14, 0.25), Normal, 17.0, 0.04540058063513438),
            (coarse(20, 0.0), Normal, 64.5, 0.8558815952588104),
            (coarse(60, 0.0), Normal, 658.5, 0.7802491426855495),
            (coarse(60, 0.25), Normal, 283.5, 2.5413107216256522e-05),
        ];
        for (differences, method, statistic, p) in stored {
            let test = wilcoxon(&differences).unwrap();
            assert_eq!((test.statistic, test.method), (statistic, method));
            near(test.p, p, 1e-9);
        }
    }

    #[test]
    fn the_exact_distribution_equals_enumeration() {
        let differences = coarse(11, 0.25);
        let result = wilcoxon(&differences).unwrap();
        let sums: Vec<f64> = (0..1_u32 << 11)
            .map(|signs| {
                let flipped = |(i, d): (usize, &f64)| if signs >> i & 1 == 1 { d.abs() } else { -d.abs() };
                wilcoxon(&differences.iter().enumerate().map(flipped).collect::<Vec<_>>()).unwrap().positive
            })
            .collect();
        let share = |test: &dyn Fn(f64) -> bool| sums.iter().filter(|&&s| test(s)).count() as f64 / sums.len() as f64;
        let tails = (share(&|s| s <= result.positive), share(&|s| s >= result.positive));
        near(result.p, 2.0 * tails.0.min(tails.1), 1e-12);
    }

    #[test]
    fn swapping_the_systems_does_not_change_p() {
        for differences in [ten(), smooth(60, 0.25), coarse(20, 0.1)] {
            let swapped: Vec<f64> = differences.iter().map(|d| -d).collect();
            let (a, b) = (wilcoxon(&differences).unwrap(), wilcoxon(&swapped).unwrap());
            assert_eq!(a.statistic, b.statistic);
            near(a.p, b.p, 1e-12);
        }
    }

    #[test]
    fn edge_cases() {
        for zeros in [1, 10, 100] {
            let test = wilcoxon(&vec![0.0; zeros]).unwrap();
            assert_eq!((test.p, test.statistic, test.nonzero), (1.0, 0.0, 0));
        }
        assert_eq!(wilcoxon(&[-3.0]).unwrap().p, 1.0);
        assert_eq!(wilcoxon(&[-3.0, -3.0]).unwrap().p, 0.5);
        assert_eq!(wilcoxon(&[0.3, -(0.1 + 0.2), 0.3]).unwrap().positive, 4.0, "three equal sizes");
        assert!(wilcoxon(&[f64::MAX; 60]).unwrap().p < 1e-6);
        for none in [&[][..], &[f64::NAN], &[1.0, f64::NEG_INFINITY]] {
            assert_eq!(wilcoxon(none), None);
        }
    }
}
