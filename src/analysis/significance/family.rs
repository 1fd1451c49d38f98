//! The family of tests that are corrected together: all pairs of distinct systems, by one metric.

use super::{holm, holm_levels};
use serde::Serialize;

/// P-values and interval of one pair of systems, corrected for the family.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Adjusted {
    /// Number of pairs of distinct systems.
    pub family: usize,
    /// Family-wise error rate.
    pub alpha: f64,
    /// Corrected p-value of the t-test.
    pub t_test: Option<f64>,
    /// Corrected p-value of Wilcoxon's test.
    pub wilcoxon: Option<f64>,
    /// Corrected p-value of the randomisation test.
    pub randomisation: Option<f64>,
    /// Confidence level of the interval: 1 minus the error level at which Holm's method tests this pair.
    pub level: f64,
    /// Interval of the mean difference that corresponds to the randomisation test; `None` if it was not requested or there are
    /// too few queries.
    pub interval: Option<(f64, f64)>,
}

impl Adjusted {
    /// Returns whether the randomisation test finds a significant difference.
    pub fn is_significant(&self) -> bool {
        self.randomisation.is_some_and(|p| p <= self.alpha)
    }
}

/// Test of two systems of a [`Leaderboard`](super::Leaderboard), given by input index.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairTest {
    /// Index of the earlier system.
    pub first: usize,
    /// Index of the later system.
    pub second: usize,
    /// Mean of the second system's values minus the first's.
    pub difference: f64,
    /// Number of queries on which both are equal.
    pub ties: usize,
    /// P-value of the t-test, see [`t_test`](super::t_test).
    pub t_test: Option<f64>,
    /// P-value of Wilcoxon's test, see [`wilcoxon`](super::wilcoxon).
    pub wilcoxon: Option<f64>,
    /// P-value of the randomisation test, see [`randomisation`](super::randomisation).
    pub p: Option<f64>,
    /// P-values after Holm's correction over all pairs of distinct systems; `None` if the two are equal on every query.
    pub adjusted: Option<Adjusted>,
}

/// Corrects the p-values of all pairs of systems by Holm's method, separately for each test. Returns the number of pairs of
/// distinct systems.
///
/// Systems with equal values on every query count as one: their pair is not tested, and their pairs with a third system are
/// one test.
pub(super) fn correct(pairs: &mut [PairTest], queries: usize, alpha: f64) -> usize {
    let systems = pairs.iter().map(|pair| pair.second + 1).max().unwrap_or(0);
    let mut same: Vec<usize> = (0..systems).collect();
    for pair in pairs.iter().filter(|pair| pair.ties == queries) {
        same[pair.second] = same[pair.second].min(same[pair.first]);
    }
    let is_own = |pair: &PairTest| same[pair.first] == pair.first && same[pair.second] == pair.second;
    let tests: Vec<usize> = (0..pairs.len()).filter(|&place| is_own(&pairs[place])).collect();
    let raw = |p: fn(&PairTest) -> Option<f64>| -> Vec<f64> {
        tests.iter().map(|&place| p(&pairs[place]).unwrap_or(f64::NAN)).collect()
    };
    let random = raw(|pair| pair.p);
    let [t, w, r] = [raw(|pair| pair.t_test), raw(|pair| pair.wilcoxon), random.clone()].map(|p| holm(&p));
    let levels = holm_levels(&random, alpha);
    let answer = |p: f64| (!p.is_nan()).then_some(p);
    for (place, &test) in tests.iter().enumerate() {
        pairs[test].adjusted = Some(Adjusted {
            family: tests.len(),
            alpha,
            t_test: answer(t[place]),
            wilcoxon: answer(w[place]),
            randomisation: answer(r[place]),
            level: 1.0 - answer(levels[place]).unwrap_or(alpha),
            interval: None,
        });
    }
    // Duplicates of a system share its tests.
    for place in 0..pairs.len() {
        let test = place_of(same[pairs[place].first], same[pairs[place].second], systems);
        pairs[place].adjusted = test.and_then(|test| pairs[test].adjusted);
    }
    tests.len()
}

/// Index of a pair in the list of all pairs in input order; `None` for a system with itself.
pub(super) fn place_of(one: usize, other: usize, systems: usize) -> Option<usize> {
    let (first, second) = (one.min(other), one.max(other));
    (first < second && second < systems).then(|| first * (2 * systems - first - 1) / 2 + second - first - 1)
}
