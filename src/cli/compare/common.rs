//! The queries that all systems can be compared on, and their values.

use crate::cli::systems::{Fold, System};
use anyhow::bail;
use burnrank::Metric;
use burnrank::analysis::significance::{Better, CompareOptions, PerQuery};

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
