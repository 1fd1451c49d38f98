//! The tests that are corrected together: all pairs of different systems by one measure.

use super::{holm, holm_levels};
use serde::Serialize;

/// The p-values and the interval of one pair of systems, corrected for the family it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Adjusted {
    /// The number of pairs of different systems.
    pub family: usize,
    /// The error that is allowed over all pairs together.
    pub alpha: f64,
    /// Of the t-test.
    pub t_test: Option<f64>,
    /// Of Wilcoxon's test.
    pub wilcoxon: Option<f64>,
    /// Of the randomisation test.
    pub randomisation: Option<f64>,
    /// The level of the interval: 1 minus the error at which Holm's method tests this pair.
    pub level: f64,
    /// The interval of the mean difference that belongs to the randomisation test; none where it was not asked for, or where
    /// there are too few queries.
    pub interval: Option<(f64, f64)>,
}

impl Adjusted {
    /// Whether the randomisation test finds a difference.
    pub fn is_significant(&self) -> bool {
        self.randomisation.is_some_and(|p| p <= self.alpha)
    }
}

/// Two systems of a [`Leaderboard`](super::Leaderboard), by their places in the order given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairTest {
    /// The earlier system.
    pub first: usize,
    /// The later system.
    pub second: usize,
    /// The mean of the second's values less the first's.
    pub difference: f64,
    /// Queries on which both are equal.
    pub ties: usize,
    /// The p-value of the t-test, as [`t_test`](super::t_test) gives it.
    pub t_test: Option<f64>,
    /// The p-value of Wilcoxon's test, as [`wilcoxon`](super::wilcoxon) gives it.
    pub wilcoxon: Option<f64>,
    /// The p-value of the randomisation test, as [`randomisation`](super::randomisation) gives it.
    pub p: Option<f64>,
    /// The p-values after Holm's correction over all pairs of different systems; none where the two are equal on every query.
    pub adjusted: Option<Adjusted>,
}

/// Corrects the p-values of all pairs of systems by Holm's method, separately for each test, and returns the
/// number of pairs of different systems.
///
/// Systems that are equal on every query are one system: their pair is not tested, and their pairs with a third system are one
/// test.
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
    // Other spellings of a system have its tests.
    for place in 0..pairs.len() {
        let test = place_of(same[pairs[place].first], same[pairs[place].second], systems);
        pairs[place].adjusted = test.and_then(|test| pairs[test].adjusted);
    }
    tests.len()
}

/// The place of two systems among all pairs, those of earlier systems first; none for a system and itself.
pub(super) fn place_of(one: usize, other: usize, systems: usize) -> Option<usize> {
    let (first, second) = (one.min(other), one.max(other));
    (first < second && second < systems).then(|| first * (2 * systems - first - 1) / 2 + second - first - 1)
}
