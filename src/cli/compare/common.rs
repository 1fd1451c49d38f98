//! The queries that all systems can be compared on, and their values.

use crate::cli::systems::{Fold, System};
use anyhow::bail;
use burnrank::Metric;
use burnrank::analysis::significance::Comparison;
use burnrank::analysis::significance::{Better, CompareOptions, Leaderboard, PerQuery, draws_needed};

/// The queries that all systems have ranked: only these can be compared.
pub struct Common {
    /// Their places among the queries of all folds.
    kept: Vec<usize>,
    /// How many queries the data have.
    pub all: usize,
}

impl Common {
    pub fn of(systems: &[System], all: usize) -> anyhow::Result<Self> {
        let kept: Vec<usize> = (0..all).filter(|&query| systems.iter().all(|system| system.ranked[query])).collect();
        if kept.is_empty() {
            bail!("no query is in all systems: they cannot be compared; --complete counts what a run lacks");
        }
        Ok(Common { kept, all })
    }

    /// Whether queries are so few that all signs of the randomisation test are counted, without draws.
    pub fn counts_signs(&self) -> bool {
        self.kept.len() <= 32
    }

    pub fn left_out(&self) -> usize {
        self.all - self.kept.len()
    }
}

/// The values of all systems by one measure, on the same queries.
pub struct Values {
    pub measure: String,
    pub options: CompareOptions,
    pub ids: Vec<String>,
    /// By systems, then by queries.
    values: Vec<Vec<f64>>,
}

impl Values {
    /// By the measure at this place among those that systems were judged by.
    pub fn of(
        (place, metric): (usize, &dyn Metric),
        systems: &[System],
        common: &Common,
        data: &[Fold],
        options: CompareOptions,
    ) -> anyhow::Result<Self> {
        let what = || format!("{} of {} systems on {} queries", metric.name(), systems.len(), common.kept.len());
        let bytes = burnrank::memory::bytes_of::<f64>((systems.len() as u64).saturating_mul(common.kept.len() as u64));
        burnrank::memory::ask(bytes, &what(), "give fewer systems")?;
        // A query counts for all systems or for none.
        let counts = |query: &usize| systems.iter().all(|system| system.values[place][*query].is_some());
        let kept: Vec<usize> = common.kept.iter().copied().filter(counts).collect();
        let of = |system: &System| kept.iter().filter_map(|&query| system.values[place][query]).collect();
        let ids: Vec<&String> = data.iter().flat_map(|fold| fold.data.query_ids()).collect();
        Ok(Values {
            measure: metric.name(),
            options: CompareOptions {
                better: if metric.is_cost() { Better::Lower } else { Better::Higher },
                ..options
            },
            ids: kept.iter().map(|&query| ids[query].clone()).collect(),
            values: systems.iter().map(of).collect(),
        })
    }

    pub fn per_query<'a>(&'a self, systems: &'a [System]) -> Vec<PerQuery<'a>> {
        systems.iter().zip(&self.values).map(|(system, values)| PerQuery { name: &system.name, values }).collect()
    }
}

/// Draws of the randomisation test, unless the user or many pairs ask for others.
pub const DRAWS: usize = 100_000;
/// More draws than this are made only where the user asks for them.
const MOST_DRAWS: usize = 10_000_000;

/// The draws of each test when all pairs of these systems are compared: enough that a difference can be significant after the
/// correction.
pub fn usual_draws(common: &Common, systems: usize, alpha: f64) -> usize {
    let needed = draws_needed(all_pairs(systems).len(), alpha);
    if common.counts_signs() { DRAWS } else { DRAWS.max(needed.min(MOST_DRAWS)) }
}

/// Each system with each later one.
pub fn all_pairs(systems: usize) -> Vec<(usize, usize)> {
    (0..systems).flat_map(|first| (first + 1..systems).map(move |second| (first, second))).collect()
}

/// Compares pairs of systems by one metric: comparisons of these pairs, and the board of all systems, which corrects them for all
/// pairs of different systems. `done` hears how many of the comparisons are made.
pub fn compare_pairs(
    values: &Values,
    systems: &[System],
    pairs: &[(usize, usize)],
    alpha: f64,
    done: &(dyn Fn(usize) + Sync),
) -> anyhow::Result<(Vec<Comparison>, Leaderboard)> {
    let (per_query, options) = (values.per_query(systems), &values.options);
    let mut comparisons = Vec::with_capacity(pairs.len());
    for &(first, second) in pairs {
        comparisons.push(Comparison::new(&values.measure, per_query[first], per_query[second], &values.ids, options)?);
        done(comparisons.len());
    }
    let board = if pairs == all_pairs(systems.len()) && !pairs.is_empty() {
        Leaderboard::of_comparisons(&per_query, alpha, &comparisons)?
    } else {
        Leaderboard::new(&values.measure, &per_query, alpha, options, &|_, _| ())?
    };
    for (&(first, second), comparison) in pairs.iter().zip(&mut comparisons) {
        board.correct(first, second, comparison);
    }
    Ok((comparisons, board))
}
