//! `--repeat N`: the same run with other seeds, so that nobody takes luck for progress.

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

/// Two runs that differ by chance alone differ by less than this many standard deviations in 19 of 20 cases.
const TWO_RUNS: f64 = 1.959963984540054 * std::f64::consts::SQRT_2;

/// What the run and its repetitions reached on the test queries.
pub struct Repeats {
    seeds: Vec<u64>,
    metrics: Vec<Arc<dyn Metric>>,
    /// Of each measure and each seed.
    found: Vec<Vec<Found>>,
}

/// What one seed reached by one measure.
#[derive(Debug, Clone, Default)]
struct Found {
    /// Of each query, fold after fold.
    queries: Vec<Option<f64>>,
    /// The mean of each fold.
    folds: Vec<f64>,
}

impl Repeats {
    /// Nothing where nothing is to be repeated.
    pub fn new(args: &Args, config: &TrainConfig) -> anyhow::Result<Option<Self>> {
        let Some(count) = args.repeat.filter(|&count| count > 1) else {
            return Ok(None);
        };
        let seeds: Vec<u64> = (0..u64::from(count)).map(|place| config.seed.wrapping_add(place)).collect();
        let metrics = report_metrics(&config.metric)?;
        let found = vec![vec![Found::default(); seeds.len()]; metrics.len()];
        Ok(Some(Repeats { seeds, metrics, found }))
    }

    /// The settings of the other runs.
    fn others(&self, config: &TrainConfig) -> Vec<TrainConfig> {
        self.seeds[1..].iter().map(|&seed| TrainConfig { seed, ..config.clone() }).collect()
    }

    /// Trains with the other seeds, one after the other, by something that uses all cores itself.
    pub fn one_by_one(
        &self,
        config: &TrainConfig,
        train: impl Fn(&TrainConfig) -> anyhow::Result<Model>,
    ) -> anyhow::Result<Vec<Model>> {
        self.others(config).iter().map(train).collect()
    }

    /// Trains with the other seeds, in parallel; `start` prepares a run.
    pub fn side_by_side<'a>(
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
        // All of them, before an error counts: which one comes does not depend on threads.
        let models: Vec<anyhow::Result<Model>> = runs.into_par_iter().zip(&others).map(train).collect();
        models.into_iter().collect()
    }

    /// Judges the models of all seeds on the test queries, of one fold where there are several.
    pub fn add(&mut self, first: &Model, others: &[Model], test: &Dataset) -> anyhow::Result<()> {
        for (place, model) in std::iter::once(first).chain(others).enumerate() {
            self.evaluate(place, model, test)?;
        }
        Ok(())
    }

    /// The seed of the model that is saved.
    pub fn first_seed(&self) -> u64 {
        self.seeds[0]
    }

    fn evaluate(&mut self, place: usize, model: &Model, test: &Dataset) -> anyhow::Result<()> {
        let scores = model.score(test)?;
        for (metric, found) in self.metrics.iter().zip(&mut self.found) {
            let values = evaluate(&**metric, &scores, test.labels(), test.offsets(), &Conventions::default());
            // A measure without a value on these labels was told of before.
            let values = values.unwrap_or_else(|_| vec![None; test.n_queries()]);
            found[place].folds.push(Summary::of(&values).mean);
            found[place].queries.extend(values);
        }
        Ok(())
    }

    /// What is said of one measure.
    fn summary(&self, measure: usize) -> Spread {
        Spread::of(&self.found[measure])
    }

    /// How large the spread over seeds is against that over queries, for the measure that chooses epochs.
    fn sentence(&self) -> String {
        let (name, spread) = (self.metrics[0].name(), self.summary(0));
        let (deviation, reach) = (spread.deviation, spread.queries.interval.1 - spread.queries.mean);
        if deviation == 0.0 {
            return format!("The seed changes nothing: {name} is the same for all {} seeds.", self.seeds.len());
        }
        format!(
            "{name}: one standard deviation over seeds is {deviation:.4}, {:.0}% of the {reach:.4} that the 95% interval over \
             {} reaches to either side. Two runs that differ only in their seeds differ by less than {:.4} in about 19 of 20 \
             cases: a smaller gain of one run is no progress.",
            100.0 * deviation / reach,
            ui::counted(spread.queries.n, "query", "queries"),
            TWO_RUNS * deviation
        )
    }

    /// A table of all seeds, and what follows from it.
    pub fn text(&self) -> String {
        let names: Vec<String> = self.metrics.iter().map(|metric| metric.name()).collect();
        let mut columns = vec![("test", Align::Left)];
        columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
        let mut table = Table::new(&columns);
        let spreads: Vec<Spread> = (0..names.len()).map(|measure| self.summary(measure)).collect();
        let mut row = |title: String, value: &dyn Fn(&Spread) -> String| {
            table.row([title].into_iter().chain(spreads.iter().map(value)));
        };
        for (place, seed) in self.seeds.iter().enumerate() {
            row(format!("seed {seed}"), &|spread| ui::decimals(spread.seeds[place]));
        }
        row("mean over seeds".into(), &|spread| ui::decimals(spread.mean));
        row("deviation over seeds".into(), &|spread| ui::decimals(spread.deviation));
        row("95% over queries, ±".into(), &|spread| ui::decimals(spread.queries.interval.1 - spread.queries.mean));
        format!("\n{}\n{}", ui::table(&table), paragraph(&self.sentence()))
    }

    pub fn json(&self) -> Value {
        let one = |(measure, metric): (usize, &Arc<dyn Metric>)| {
            let spread = self.summary(measure);
            let value = json!({
                "seeds": spread.seeds, "mean": spread.mean, "standard_deviation": spread.deviation, "queries": spread.queries,
            });
            (metric.name(), value)
        };
        let metrics: serde_json::Map<String, Value> = self.metrics.iter().enumerate().map(one).collect();
        json!({"seeds": self.seeds, "test": metrics, "summary": self.sentence()})
    }
}

/// How far a measure depends on seeds, and how far on queries.
struct Spread {
    /// Of each seed: the mean over folds of the mean over queries.
    seeds: Vec<f64>,
    mean: f64,
    /// The standard deviation over seeds, with the divisor n - 1.
    deviation: f64,
    /// Of the queries' means over seeds.
    queries: Summary,
}

impl Spread {
    fn of(found: &[Found]) -> Self {
        let seeds: Vec<f64> = found.iter().map(|seed| mean(&seed.folds)).collect();
        let over = Mean::of(&seeds);
        let query = |place: usize| {
            let values: Option<Vec<f64>> = found.iter().map(|seed| seed.queries[place]).collect();
            values.map(|values| mean(&values))
        };
        let queries: Vec<Option<f64>> = (0..found[0].queries.len()).map(query).collect();
        Spread {
            // Equal values have a mean that is a rounding error away from them.
            deviation: if seeds.iter().all(|value| *value == seeds[0]) { 0.0 } else { over.deviation() },
            seeds,
            mean: over.mean,
            queries: Summary::of(&queries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_over_seeds_and_over_queries_are_two_things() {
        let found = |queries: [f64; 3]| Found {
            folds: vec![(queries[0] + queries[1]) / 2.0, queries[2]],
            queries: queries.map(Some).to_vec(),
        };
        let spread = Spread::of(&[found([0.0, 1.0, 0.5]), found([0.2, 1.0, 0.7])]);
        assert_eq!(spread.seeds, [0.5, (0.6 + 0.7) / 2.0]);
        assert_eq!(spread.mean, (0.5 + 0.65) / 2.0);
        let expected = 2.0 * (0.15_f64 / 2.0).powi(2);
        assert!((spread.deviation - expected.sqrt()).abs() < 1e-12);
        assert_eq!(spread.queries, Summary::of(&[Some(0.1), Some(1.0), Some(0.6)]));
        let same = Spread::of(&[found([0.1, 0.1, 0.1]), found([0.1, 0.1, 0.1]), found([0.1, 0.1, 0.1])]);
        assert_eq!(same.deviation, 0.0);
    }
}
