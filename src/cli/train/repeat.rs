//! `--repeat N`: repeats a run with other seeds, and reports the variation of the test values.

use super::Args;
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::progress::{Bar, Unit};
use crate::cli::prose::paragraph;
use crate::cli::ui::{self, Align, Table};
use anyhow::Context;
use burnrank::metric::Summary;
use burnrank::numeric::{Mean, mean};
use burnrank::train::{Ensemble, report_metrics};
use burnrank::{Conventions, Dataset, Finish, Metric, Model, TrainConfig, evaluate};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Two runs that differ only by chance differ by less than this number of standard deviations with probability 95%.
const TWO_RUNS: f64 = 1.959963984540054 * std::f64::consts::SQRT_2;

/// The test values of the runs with all seeds.
pub struct Repeats {
    seeds: Vec<u64>,
    metrics: Vec<Arc<dyn Metric>>,
    /// Indexed by metric, then by seed.
    values: Vec<Vec<SeedValues>>,
}

/// The values of one seed by one metric.
#[derive(Debug, Clone, Default)]
struct SeedValues {
    /// One per query, fold after fold.
    queries: Vec<Option<f64>>,
    /// One mean per fold.
    folds: Vec<f64>,
}

impl Repeats {
    /// `None` without `--repeat`.
    pub fn new(args: &Args, config: &TrainConfig) -> anyhow::Result<Option<Self>> {
        let Some(count) = args.repeat.filter(|&count| count > 1) else {
            return Ok(None);
        };
        let seeds: Vec<u64> = (0..u64::from(count)).map(|place| config.seed.wrapping_add(place)).collect();
        let metrics = report_metrics(&config.metric)?;
        let values = vec![vec![SeedValues::default(); seeds.len()]; metrics.len()];
        Ok(Some(Repeats { seeds, metrics, values }))
    }

    /// The settings of the other seeds.
    fn others(&self, config: &TrainConfig) -> Vec<TrainConfig> {
        self.seeds[1..].iter().map(|&seed| TrainConfig { seed, ..config.clone() }).collect()
    }

    /// Trains with the other seeds one after another, for a `train` that uses all cores.
    pub fn sequentially(
        &self,
        config: &TrainConfig,
        train: impl Fn(&TrainConfig) -> anyhow::Result<Model>,
    ) -> anyhow::Result<Vec<Model>> {
        self.others(config).iter().map(train).collect()
    }

    /// Trains with the other seeds in parallel. `start` prepares a run.
    pub fn in_parallel<'a>(
        &self,
        config: &TrainConfig,
        start: impl Fn(&TrainConfig) -> burnrank::Result<Ensemble<'a>>,
    ) -> anyhow::Result<Vec<Model>> {
        let others = self.others(config);
        let start = |config: &TrainConfig| Ok(start(config)?.with_stop(&Graceful::stop()).with_metrics(&self.metrics));
        let runs = others.iter().map(start).collect::<burnrank::Result<Vec<_>>>()?;
        let bar = Bar::new(&format!("{} more seeds", others.len()), Unit::Share);
        let (done, all) = (AtomicU64::new(0), (others.len() * config.epochs) as u64);
        let train = |(mut run, config): (Ensemble<'_>, &TrainConfig)| -> anyhow::Result<Model> {
            let finish = run.run(|_, _| {
                bar.update(done.fetch_add(1, Ordering::Relaxed) + 1, Some(all));
                Ok(ControlFlow::Continue(()))
            });
            if finish.with_context(|| format!("seed {}", config.seed))? == Finish::Stopped {
                return Err(Interrupted.into());
            }
            done.fetch_add(config.epochs.saturating_sub(run.epochs()) as u64, Ordering::Relaxed);
            Ok(run.finish()?)
        };
        // Collect all results first, so that the reported error does not depend on the threads.
        let models: Vec<anyhow::Result<Model>> = runs.into_par_iter().zip(&others).map(train).collect();
        models.into_iter().collect()
    }

    /// Evaluates the models of all seeds on the test queries of a fold.
    pub fn add(&mut self, first: &Model, others: &[Model], test: &Dataset) -> anyhow::Result<()> {
        for (place, model) in std::iter::once(first).chain(others).enumerate() {
            let scores = model.score(test)?;
            for (metric, seeds) in self.metrics.iter().zip(&mut self.values) {
                let values = evaluate(&**metric, &scores, test.labels(), test.offsets(), &Conventions::default());
                // Metrics that have no value on these labels were reported earlier.
                let values = values.unwrap_or_else(|_| vec![None; test.n_queries()]);
                seeds[place].folds.push(Summary::of(&values).mean);
                seeds[place].queries.extend(values);
            }
        }
        Ok(())
    }

    /// The seed of the model that is saved.
    pub fn first_seed(&self) -> u64 {
        self.seeds[0]
    }

    /// The variation over seeds relative to that over queries, for `--metric`.
    fn verdict(&self) -> String {
        let (name, variation) = (self.metrics[0].name(), Variation::of(&self.values[0]));
        let (deviation, half_width) = (variation.deviation, variation.half_width());
        if deviation == 0.0 {
            return format!("The seed has no effect: {name} is the same for all {} seeds.", self.seeds.len());
        }
        format!(
            "The standard deviation of {name} over seeds is {deviation:.4}, {:.0}% of the half-width of the 95% interval over \
             {} ({half_width:.4}). Two runs that differ only in the seed differ by less than {:.4} in about 19 of 20 cases: a \
             smaller gain of a single run may be chance.",
            100.0 * deviation / half_width,
            ui::counted(variation.queries.n, "query", "queries"),
            TWO_RUNS * deviation
        )
    }

    /// The table of all seeds, and the verdict.
    pub fn text(&self) -> String {
        let names: Vec<String> = self.metrics.iter().map(|metric| metric.name()).collect();
        let mut columns = vec![("test", Align::Left)];
        columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
        let mut table = Table::new(&columns);
        let variations: Vec<Variation> = self.values.iter().map(|seeds| Variation::of(seeds)).collect();
        let mut row = |title: String, value: &dyn Fn(&Variation) -> String| {
            table.row([title].into_iter().chain(variations.iter().map(value)));
        };
        for (place, seed) in self.seeds.iter().enumerate() {
            row(format!("seed {seed}"), &|variation| ui::decimals(variation.seeds[place]));
        }
        row("mean over seeds".into(), &|variation| ui::decimals(variation.mean));
        row("std dev over seeds".into(), &|variation| ui::decimals(variation.deviation));
        row("95% over queries, ±".into(), &|variation| ui::decimals(variation.half_width()));
        format!("\n{}\n{}", ui::table(&table), paragraph(&self.verdict()))
    }

    pub fn json(&self) -> Value {
        let one = |(metric, seeds): (&Arc<dyn Metric>, &Vec<SeedValues>)| {
            let variation = Variation::of(seeds);
            let value = json!({
                "seeds": variation.seeds, "mean": variation.mean, "standard_deviation": variation.deviation,
                "queries": variation.queries,
            });
            (metric.name(), value)
        };
        let metrics: serde_json::Map<String, Value> = self.metrics.iter().zip(&self.values).map(one).collect();
        json!({"seeds": self.seeds, "test": metrics, "summary": self.verdict()})
    }
}

/// The variation of a metric over seeds and over queries.
struct Variation {
    /// Per seed, the mean over folds of the mean over queries.
    seeds: Vec<f64>,
    mean: f64,
    /// Standard deviation over seeds, with the divisor n - 1.
    deviation: f64,
    /// Of each query's mean over seeds.
    queries: Summary,
}

impl Variation {
    fn of(values: &[SeedValues]) -> Self {
        let seeds: Vec<f64> = values.iter().map(|seed| mean(&seed.folds)).collect();
        let over_seeds = Mean::of(&seeds);
        let query = |place: usize| {
            let values: Option<Vec<f64>> = values.iter().map(|seed| seed.queries[place]).collect();
            values.map(|values| mean(&values))
        };
        let queries: Vec<Option<f64>> = (0..values[0].queries.len()).map(query).collect();
        Variation {
            // The mean of equal values may differ from them by a rounding error.
            deviation: if seeds.iter().all(|value| *value == seeds[0]) { 0.0 } else { over_seeds.deviation() },
            seeds,
            mean: over_seeds.mean,
            queries: Summary::of(&queries),
        }
    }

    /// Half the width of the 95% interval over queries.
    fn half_width(&self) -> f64 {
        self.queries.interval.1 - self.queries.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variation_over_seeds_differs_from_variation_over_queries() {
        let values = |queries: [f64; 3]| SeedValues {
            folds: vec![(queries[0] + queries[1]) / 2.0, queries[2]],
            queries: queries.map(Some).to_vec(),
        };
        let variation = Variation::of(&[values([0.0, 1.0, 0.5]), values([0.2, 1.0, 0.7])]);
        assert_eq!(variation.seeds, [0.5, (0.6 + 0.7) / 2.0]);
        assert_eq!(variation.mean, (0.5 + 0.65) / 2.0);
        let expected = 2.0 * (0.15_f64 / 2.0).powi(2);
        assert!((variation.deviation - expected.sqrt()).abs() < 1e-12);
        assert_eq!(variation.queries, Summary::of(&[Some(0.1), Some(1.0), Some(0.6)]));
        let same = Variation::of(&[values([0.1, 0.1, 0.1]), values([0.1, 0.1, 0.1]), values([0.1, 0.1, 0.1])]);
        assert_eq!(same.deviation, 0.0);
    }
}
