//! The queries that all systems are compared on, and their values.

use crate::cli::systems::{Fold, System};
use anyhow::bail;
use burnrank::Metric;
use burnrank::analysis::significance::Comparison;
use burnrank::analysis::significance::{Better, CompareOptions, Leaderboard, PerQuery, draws_needed};

/// The queries that every system ranks; only these are compared.
pub struct Common {
    /// Their indices among the queries of all folds.
    kept: Vec<usize>,
    /// Number of queries in the data.
    pub all: usize,
}

impl Common {
    pub fn of(systems: &[System], all: usize) -> anyhow::Result<Self> {
        let kept: Vec<usize> = (0..all).filter(|&query| systems.iter().all(|system| system.ranked[query])).collect();
        if kept.is_empty() {
            bail!("no query is ranked by all systems: check the query ids, or count missing queries with --complete");
        }
        Ok(Common { kept, all })
    }

    /// Whether the randomisation test is exact: up to 32 queries, all sign assignments are counted instead of drawn.
    pub fn is_exact(&self) -> bool {
        self.kept.len() <= 32
    }

    pub fn skipped(&self) -> usize {
        self.all - self.kept.len()
    }
}

/// The values of all systems by one metric, on the same queries.
pub struct Values {
    pub metric: String,
    pub options: CompareOptions,
    pub ids: Vec<String>,
    /// Indexed by system, then by query.
    values: Vec<Vec<f64>>,
}

impl Values {
    /// `place` is the index of the metric among those that the systems were evaluated with.
    pub fn of(
        (place, metric): (usize, &dyn Metric),
        systems: &[System],
        common: &Common,
        data: &[Fold],
        options: CompareOptions,
    ) -> anyhow::Result<Self> {
        let what = || format!("{} of {} systems on {} queries", metric.name(), systems.len(), common.kept.len());
        let bytes = burnrank::memory::bytes_of::<f64>((systems.len() as u64).saturating_mul(common.kept.len() as u64));
        burnrank::memory::ask(bytes, &what(), "pass fewer systems")?;
        // A query is skipped for all systems or for none.
        let counts = |query: &usize| systems.iter().all(|system| system.values[place][*query].is_some());
        let kept: Vec<usize> = common.kept.iter().copied().filter(counts).collect();
        let of = |system: &System| kept.iter().filter_map(|&query| system.values[place][query]).collect();
        let ids: Vec<&String> = data.iter().flat_map(|fold| fold.data.query_ids()).collect();
        Ok(Values {
            metric: metric.name(),
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

/// Minimum default number of draws per randomisation test.
const MIN_DRAWS: usize = 100_000;
/// Maximum default number of draws; only `--draws` asks for more.
const MAX_DRAWS: usize = 10_000_000;

/// Default number of draws per test when all pairs of the systems are compared: enough for a difference to be significant
/// after the correction.
pub fn default_draws(common: &Common, systems: usize, alpha: f64) -> usize {
    let needed = draws_needed(all_pairs(systems).len(), alpha);
    if common.is_exact() { MIN_DRAWS } else { MIN_DRAWS.max(needed.min(MAX_DRAWS)) }
}

/// All pairs of system indices, the smaller one first.
pub fn all_pairs(systems: usize) -> Vec<(usize, usize)> {
    (0..systems).flat_map(|first| (first + 1..systems).map(move |second| (first, second))).collect()
}

/// Compares pairs of systems by one metric. Returns the comparisons, corrected over all pairs of different systems, and the
/// leaderboard of all systems. `progress` is called with the number of finished comparisons.
pub fn compare_pairs(
    values: &Values,
    systems: &[System],
    pairs: &[(usize, usize)],
    alpha: f64,
    progress: &(dyn Fn(usize) + Sync),
) -> anyhow::Result<(Vec<Comparison>, Leaderboard)> {
    let (per_query, options) = (values.per_query(systems), &values.options);
    let mut comparisons = Vec::with_capacity(pairs.len());
    for &(first, second) in pairs {
        comparisons.push(Comparison::new(&values.metric, per_query[first], per_query[second], &values.ids, options)?);
        progress(comparisons.len());
    }
    let board = if pairs == all_pairs(systems.len()) && !pairs.is_empty() {
        Leaderboard::of_comparisons(&per_query, alpha, &comparisons)?
    } else {
        Leaderboard::new(&values.metric, &per_query, alpha, options, &|_, _| ())?
    };
    for (&(first, second), comparison) in pairs.iter().zip(&mut comparisons) {
        board.correct(first, second, comparison);
    }
    Ok((comparisons, board))
}
