//! Many systems and one measure: who is best, how sure that is, and who cannot be told apart.

use super::equal::{equal, paired};
use super::family::{PairTest, correct, place_of};
use super::{
    Adjusted, Better, CompareOptions, Comparison, Letters, PerQuery, bootstrap, letters, mean, randomisation,
    randomisation_interval, t_test, wilcoxon,
};
use crate::error::{Error, Result};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One system's line of a [`Leaderboard`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// From 1; systems of equal means have the same, and the next one is as if they had different ones.
    pub rank: usize,
    /// The system's name.
    pub name: String,
    /// The place of the system in the order given, from 0.
    pub system: usize,
    /// The mean over queries.
    pub mean: f64,
    /// The bootstrap interval of the mean; none for a single query.
    pub interval: Option<(f64, f64)>,
    /// Systems that share a letter do not differ significantly.
    pub letters: Letters,
}

/// Systems on the same queries, best first, by one measure. All pairs of different systems are tested, and corrected by Holm's
/// method; two systems share a letter exactly when the corrected p-value of [`randomisation`] is above `alpha`. Systems that are
/// equal on every query count as one, and are not tested against each other.
///
/// A pair has the p-value that a [`Comparison`] of these options gives it; what differs by rounding only is equal.
///
/// ```
/// use burnrank::analysis::significance::{CompareOptions, Leaderboard, PerQuery};
/// let values = [[0.0; 12], [0.5; 12], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.1]];
/// let system = |(values, name)| PerQuery { name, values };
/// let systems: Vec<PerQuery> = values.iter().map(|v| &v[..]).zip(["low", "high", "low too"]).map(system).collect();
/// let board = Leaderboard::new("map", &systems, 0.05, &CompareOptions::default(), &|_, _| ())?;
/// let rows: Vec<String> = board.rows.iter().map(|row| format!("{} {} {}", row.rank, row.name, row.letters)).collect();
/// assert_eq!(rows, ["1 high a", "2 low too b", "3 low b"]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leaderboard {
    /// The measure's name.
    pub metric: String,
    /// How systems were compared; no movers are looked for.
    pub options: CompareOptions,
    /// The error that is allowed over all pairs together.
    pub alpha: f64,
    /// The number of queries.
    pub queries: usize,
    /// The number of pairs of different systems, which p-values are corrected for.
    pub family: usize,
    /// The systems, best first.
    pub rows: Vec<Standing>,
    /// Each system with each later one, in the order given: 0 and 1, 0 and 2, and so on.
    pub pairs: Vec<PairTest>,
}

impl Leaderboard {
    /// Ranks the systems and tests all pairs. `progress` is told how many of how many steps are done, from any thread.
    ///
    /// # Errors
    /// When there is no system or no query, the numbers of values differ, a value is not finite, `alpha` or the level is not
    /// between 0 and 1, the number of draws or resamples is 0, or the pairs do not fit into memory.
    pub fn new(
        metric: &str,
        systems: &[PerQuery<'_>],
        alpha: f64,
        options: &CompareOptions,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Leaderboard> {
        check(systems, alpha, options)?;
        let all = systems.len() * (systems.len() - 1) / 2;
        let bytes = crate::memory::bytes_of::<PairTest>(all as u64);
        crate::memory::ask(bytes, &format!("{all} pairs of systems"), "give fewer systems")?;
        let done = AtomicUsize::new(0);
        let step = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        let pair = |(first, second): (usize, usize)| {
            let differences = paired(systems[first].values, systems[second].values);
            let found = PairTest {
                first,
                second,
                difference: mean(&differences),
                ties: differences.iter().filter(|d| **d == 0.0).count(),
                t_test: t_test(&differences).map(|test| test.p),
                wilcoxon: wilcoxon(&differences).map(|test| test.p),
                p: randomisation(&differences, options.draws, options.seed).map(|test| test.p),
                adjusted: None,
            };
            step();
            found
        };
        let firsts = (0..systems.len()).into_par_iter();
        let each = firsts.flat_map_iter(|first| (first + 1..systems.len()).map(move |second| (first, second)));
        let pairs = each.map(pair).collect();
        Ok(Self::assemble(metric, systems, alpha, options, pairs))
    }

    /// As [`Leaderboard::new`], from comparisons that were made already: each system with each later one, in this order.
    ///
    /// # Errors
    /// As [`Leaderboard::new`], and when there is not one comparison per pair.
    pub fn of_comparisons(systems: &[PerQuery<'_>], alpha: f64, comparisons: &[Comparison]) -> Result<Leaderboard> {
        let pairs = (0..systems.len()).flat_map(|first| (first + 1..systems.len()).map(move |second| (first, second)));
        let named = |((first, second), found): ((usize, usize), &Comparison)| {
            found.baseline == systems[first].name && found.system == systems[second].name
        };
        let Some(one) = comparisons.first().filter(|_| pairs.clone().count() == comparisons.len()) else {
            return Err(Error::Mismatch(format!(
                "{} comparisons of {} systems: expected one of each pair",
                comparisons.len(),
                systems.len()
            )));
        };
        check(systems, alpha, &one.options)?;
        if !pairs.clone().zip(comparisons).all(named) {
            return Err(Error::Mismatch("comparisons of other systems, or in another order".into()));
        }
        let pair = |((first, second), found): ((usize, usize), &Comparison)| PairTest {
            first,
            second,
            difference: found.difference,
            ties: found.ties,
            t_test: found.t_test.map(|test| test.p),
            wilcoxon: found.wilcoxon.map(|test| test.p),
            p: found.randomisation.map(|test| test.p),
            adjusted: None,
        };
        let pairs = pairs.zip(comparisons).map(pair).collect();
        Ok(Self::assemble(&one.metric, systems, alpha, &one.options, pairs))
    }

    fn assemble(
        metric: &str,
        systems: &[PerQuery<'_>],
        alpha: f64,
        options: &CompareOptions,
        mut pairs: Vec<PairTest>,
    ) -> Leaderboard {
        let family = correct(&mut pairs, systems[0].values.len(), alpha);
        let means: Vec<f64> = systems.iter().map(|system| mean(system.values)).collect();
        let row = |(rank, system): (usize, usize)| Standing {
            rank,
            name: systems[system].name.to_owned(),
            system,
            mean: means[system],
            interval: bootstrap(systems[system].values, options.resamples, options.level, options.seed)
                .map(|bootstrap| bootstrap.interval()),
            letters: Letters::default(),
        };
        let mut board = Leaderboard {
            metric: metric.to_owned(),
            options: options.clone(),
            alpha,
            queries: systems[0].values.len(),
            family,
            rows: ranked(&means, options.better).into_iter().map(row).collect(),
            pairs,
        };
        board.set_letters();
        board
    }

    /// Whether two systems, by their places in the order given, differ significantly.
    pub fn differ(&self, one: usize, other: usize) -> bool {
        self.pair(one, other).and_then(|pair| pair.adjusted).is_some_and(|adjusted| adjusted.is_significant())
    }

    /// The test of two systems, by their places in the order given.
    pub fn pair(&self, one: usize, other: usize) -> Option<&PairTest> {
        self.pairs.get(place_of(one, other, self.rows.len())?)
    }

    /// Gives the comparison of two systems, by their places in the order given, the corrected p-values of this board, and the
    /// interval of the randomisation test at the same level: it excludes 0 exactly where the difference is significant.
    ///
    /// Systems that are equal on every query have neither.
    pub fn correct(&self, one: usize, other: usize, comparison: &mut Comparison) {
        let CompareOptions { draws, seed, .. } = comparison.options;
        let with_interval = |adjusted: Adjusted| {
            let (error, significant) = (1.0 - adjusted.level, adjusted.is_significant());
            let interval = randomisation_interval(&comparison.differences, draws, seed, error, significant);
            Adjusted { interval, ..adjusted }
        };
        comparison.adjusted = self.pair(one, other).and_then(|pair| pair.adjusted).map(with_interval);
    }

    /// Whether all systems are equal on every query.
    pub fn all_equal(&self) -> bool {
        self.pairs.iter().all(|pair| pair.ties == self.queries)
    }

    fn set_letters(&mut self) {
        let order: Vec<usize> = self.rows.iter().map(|row| row.system).collect();
        let found = letters(order.len(), |i, j| self.differ(order[i], order[j]));
        self.rows.iter_mut().zip(found).for_each(|(row, letters)| row.letters = letters);
    }
}

/// Ranks and systems, best first; systems whose means are equal but for rounding keep their order and share a rank.
fn ranked(means: &[f64], better: Better) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| match better {
        Better::Higher => means[b].total_cmp(&means[a]),
        Better::Lower => means[a].total_cmp(&means[b]),
    });
    let largest = means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
    let scale = |a: f64, b: f64| a.abs().max(b.abs()).max(largest.min(1.0));
    let same = |a: &usize, b: &usize| equal(means[*a], means[*b], scale(means[*a], means[*b]));
    let mut rows = Vec::with_capacity(means.len());
    for group in order.chunk_by(same) {
        let (rank, mut group) = (rows.len() + 1, group.to_vec());
        group.sort_unstable();
        rows.extend(group.into_iter().map(|system| (rank, system)));
    }
    rows
}

fn check(systems: &[PerQuery<'_>], alpha: f64, options: &CompareOptions) -> Result<()> {
    options.check()?;
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(Error::Config(format!("bad alpha {alpha}: expected 0.05 or the like")));
    }
    let Some(first) = systems.first() else {
        return Err(Error::Mismatch("no systems to compare".into()));
    };
    for PerQuery { name, values } in systems {
        if values.is_empty() {
            return Err(Error::Mismatch(format!("{name}: no queries to compare on")));
        }
        if values.len() != first.values.len() {
            let (own, others) = (values.len(), first.values.len());
            return Err(Error::Mismatch(format!("{name}: values of {own} queries, but {} has {others}", first.name)));
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::Mismatch(format!("{name}: query {} has the value {}", place + 1, values[place])));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
