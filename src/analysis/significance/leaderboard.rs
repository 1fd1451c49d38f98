//! Compares many systems by one metric: who is best, and which systems do not differ significantly.

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

/// One row of a [`Leaderboard`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// Rank from 1. Systems with equal means share a rank, and the following ranks are skipped (1, 1, 3).
    pub rank: usize,
    /// The system's name.
    pub name: String,
    /// Index of the system in the input, from 0.
    pub system: usize,
    /// Mean over queries.
    pub mean: f64,
    /// Bootstrap interval of the mean; `None` for a single query.
    pub interval: Option<(f64, f64)>,
    /// Compact letter display: systems that share a letter do not differ significantly.
    pub letters: Letters,
}

/// Systems evaluated on the same queries by one metric, best first.
///
/// All pairs of distinct systems are tested, with Holm's correction. Two systems share a letter exactly when the corrected
/// p-value of [`randomisation`] is above `alpha`. Systems with equal values on every query count as one system and are not
/// tested against each other. Values that differ only by rounding are equal.
///
/// Each pair has the same p-value as a [`Comparison`] with these options.
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
    /// Name of the metric.
    pub metric: String,
    /// Options of the comparisons; `movers` is ignored.
    pub options: CompareOptions,
    /// Family-wise error rate over all pairs.
    pub alpha: f64,
    /// Number of queries.
    pub queries: usize,
    /// Number of pairs of distinct systems: the size of the family for Holm's correction.
    pub family: usize,
    /// The systems, best first.
    pub rows: Vec<Standing>,
    /// All pairs of systems in input order: (0, 1), (0, 2), and so on.
    pub pairs: Vec<PairTest>,
}

impl Leaderboard {
    /// Ranks the systems and tests all pairs. `progress(done, total)` is called after each pair, from any thread.
    ///
    /// # Errors
    /// If there is no system or no query, the numbers of values differ, a value is not finite, `alpha` or the level is not
    /// between 0 and 1, the number of draws or resamples is 0, or there is not enough memory for the pairs.
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
        crate::memory::ask(bytes, &format!("{all} pairs of systems"), "compare fewer systems")?;
        let done = AtomicUsize::new(0);
        let step = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        let pair = |(first, second): (usize, usize)| {
            let differences = paired(systems[first].values, systems[second].values);
            let test = PairTest {
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
            test
        };
        let firsts = (0..systems.len()).into_par_iter();
        let each = firsts.flat_map_iter(|first| (first + 1..systems.len()).map(move |second| (first, second)));
        let pairs = each.map(pair).collect();
        Ok(Self::assemble(metric, systems, alpha, options, pairs))
    }

    /// Builds the leaderboard from existing comparisons of all pairs, in the order (0, 1), (0, 2), ..., (1, 2), ...
    ///
    /// # Errors
    /// The errors of [`Leaderboard::new`]; also if there is not exactly one comparison per pair.
    pub fn of_comparisons(systems: &[PerQuery<'_>], alpha: f64, comparisons: &[Comparison]) -> Result<Leaderboard> {
        let pairs = (0..systems.len()).flat_map(|first| (first + 1..systems.len()).map(move |second| (first, second)));
        let names_match = |((first, second), comparison): ((usize, usize), &Comparison)| {
            comparison.baseline == systems[first].name && comparison.system == systems[second].name
        };
        let Some(reference) = comparisons.first().filter(|_| pairs.clone().count() == comparisons.len()) else {
            return Err(Error::Mismatch(format!(
                "{} comparisons of {} systems: expected one per pair",
                comparisons.len(),
                systems.len()
            )));
        };
        check(systems, alpha, &reference.options)?;
        if !pairs.clone().zip(comparisons).all(names_match) {
            return Err(Error::Mismatch("comparisons of other systems or in another order".into()));
        }
        let pair = |((first, second), comparison): ((usize, usize), &Comparison)| PairTest {
            first,
            second,
            difference: comparison.difference,
            ties: comparison.ties,
            t_test: comparison.t_test.map(|test| test.p),
            wilcoxon: comparison.wilcoxon.map(|test| test.p),
            p: comparison.randomisation.map(|test| test.p),
            adjusted: None,
        };
        let pairs = pairs.zip(comparisons).map(pair).collect();
        Ok(Self::assemble(&reference.metric, systems, alpha, &reference.options, pairs))
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

    /// Returns whether two systems, given by input index, differ significantly.
    pub fn differ(&self, one: usize, other: usize) -> bool {
        self.pair(one, other).and_then(|pair| pair.adjusted).is_some_and(|adjusted| adjusted.is_significant())
    }

    /// Returns the test of two systems, given by input index.
    pub fn pair(&self, one: usize, other: usize) -> Option<&PairTest> {
        self.pairs.get(place_of(one, other, self.rows.len())?)
    }

    /// Sets the corrected p-values of a comparison of two systems, given by input index, and the interval of the randomisation
    /// test at the corrected level. The interval excludes 0 exactly when the difference is significant.
    ///
    /// Both stay `None` if the two systems are equal on every query.
    pub fn correct(&self, one: usize, other: usize, comparison: &mut Comparison) {
        let CompareOptions { draws, seed, .. } = comparison.options;
        let with_interval = |adjusted: Adjusted| {
            let (error, significant) = (1.0 - adjusted.level, adjusted.is_significant());
            let interval = randomisation_interval(&comparison.differences, draws, seed, error, significant);
            Adjusted { interval, ..adjusted }
        };
        comparison.adjusted = self.pair(one, other).and_then(|pair| pair.adjusted).map(with_interval);
    }

    /// Returns whether all systems are equal on every query.
    pub fn all_equal(&self) -> bool {
        self.pairs.iter().all(|pair| pair.ties == self.queries)
    }

    fn set_letters(&mut self) {
        let order: Vec<usize> = self.rows.iter().map(|row| row.system).collect();
        let assigned = letters(order.len(), |i, j| self.differ(order[i], order[j]));
        self.rows.iter_mut().zip(assigned).for_each(|(row, letters)| row.letters = letters);
    }
}

/// Ranks and input indices, best first. Systems whose means differ only by rounding keep the input order and share a rank.
fn ranked(means: &[f64], better: Better) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| match better {
        Better::Higher => means[b].total_cmp(&means[a]),
        Better::Lower => means[a].total_cmp(&means[b]),
    });
    let largest = means.iter().fold(0.0_f64, |largest, mean| largest.max(mean.abs()));
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
        return Err(Error::Config(format!("bad alpha {alpha}: expected a number between 0 and 1, such as 0.05")));
    }
    let Some(first) = systems.first() else {
        return Err(Error::Mismatch("no systems to compare".into()));
    };
    for PerQuery { name, values } in systems {
        if values.is_empty() {
            return Err(Error::Mismatch(format!("{name}: no queries to compare")));
        }
        if values.len() != first.values.len() {
            let (n, others) = (values.len(), first.values.len());
            return Err(Error::Mismatch(format!("{name}: values of {n} queries, but {} has {others}", first.name)));
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::Mismatch(format!("{name}: query {} has the value {}", place + 1, values[place])));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
