//! Training with the learning rate chosen on validation queries, with the same grid for everything that is compared.

use super::descent::{Net, Plan, Sets, Trained, Updates, descend};
use super::setting::{METRICS, PaperMetric};
use crate::harness::finding::{no_epoch, no_learning_rate, no_share};
use crate::harness::trainings::{self, Went};
use crate::harness::tuning::{Tuned, tune};
use crate::harness::units::mean;
use crate::harness::{NetShape, Packed, Ticker};
use burnrank::internal::text::{Table, number};
use burnrank::{Dataset, Device, Objective};
use serde::{Deserialize, Serialize};

/// Grid of learning rates and length of training.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Schedule {
    /// In ascending order; extended at most `extensions` times while the best is at an end.
    pub learning_rates: &'static [f64],
    pub extensions: usize,
    /// Number of epochs for each learning rate of the search.
    pub search_epochs: usize,
    pub epochs: usize,
    /// Number of idle epochs before a restart, and maximum number of starts.
    pub restart: usize,
    pub starts: usize,
    /// Whether an epoch is idle if its validation value equals the previous one; otherwise if it is not the best so far.
    pub constant: bool,
    /// Training ends when the learning rate falls below this share of the initial one.
    pub frozen: f64,
    /// Epochs whose weights are returned.
    pub keep: &'static [usize],
}

/// A single start, which ends when validation does not improve.
pub const PATIENT: Schedule = Schedule {
    learning_rates: &[0.003, 0.01, 0.03, 0.1],
    extensions: 0,
    search_epochs: 0,
    epochs: 0,
    restart: 0,
    starts: 1,
    constant: false,
    frozen: 0.0,
    keep: &[],
};

/// Initial weights and updates of a net.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    pub shape: NetShape,
    pub seed: u64,
    pub updates: Updates,
    pub device: &'a Device,
}

/// Chooses the learning rate by the best validation value of the first epochs, then trains with it.
pub fn train_tuned(
    (objective, metric): (&Objective, PaperMetric),
    schedule: &Schedule,
    Start { shape, seed, updates, device }: Start<'_>,
    [train, valid]: [&Dataset; 2],
    (ticker, share): (&Ticker<'_>, [f64; 2]),
) -> anyhow::Result<(Tuned, Trained)> {
    let Schedule { restart, starts, constant, frozen, search_epochs, epochs, keep, .. } = *schedule;
    let sets = Sets::new(train, valid)?;
    let go = |learning_rate: f64, epochs: usize, tick: &mut dyn FnMut(f64)| {
        let plan =
            Plan { objective, metric, learning_rate, updates, epochs, restart, constant, frozen, starts, seed, keep };
        descend(&plan, Net::random(train.n_features(), shape, seed, device), &sets, tick)
    };
    let expected = (schedule.learning_rates.len() * search_epochs) as f64;
    let search_share = expected / (expected + epochs as f64);
    let within = |part: f64| ticker.tick(share[0] + (share[1] - share[0]) * part);
    let mut trials = 0.0;
    let tuned = tune(schedule.learning_rates, schedule.extensions, |learning_rate| {
        trials += 1.0;
        // A run that diverges in its first epoch has no validation value and counts 0.
        let value = go(learning_rate, search_epochs, &mut |_| ())?.valid.max(0.0);
        within((search_share * trials / schedule.learning_rates.len() as f64).min(search_share));
        Ok(value)
    })?;
    let trained = go(tuned.best, epochs, &mut |part| within(search_share + (1.0 - search_share) * part))?;
    Ok((tuned, trained))
}

/// Trains a two-layer net with one update per query.
pub fn train_two_layer(
    (objective, metric): (&Objective, PaperMetric),
    schedule: &Schedule,
    (seed, device): (u64, &Device),
    sets: [&Dataset; 2],
    ticker: &Ticker<'_>,
) -> anyhow::Result<(TrainingRecord, Trained)> {
    let start = Start { shape: NetShape::TwoLayer, seed, updates: Updates::PerQuery, device };
    let (tuned, trained) = train_tuned((objective, metric), schedule, start, sets, (ticker, [0.0, 1.0]))?;
    Ok((TrainingRecord::new(tuned, &trained), trained))
}

/// Values of the test queries for each of the four metrics, and their means.
pub fn test_values(net: &Net, test: &Dataset) -> anyhow::Result<(Vec<Packed>, Vec<f64>)> {
    let (mut packed, mut means) = (vec![], vec![]);
    for metric in METRICS {
        let values = net.values(test, &*metric.parse()?)?;
        means.push(mean(&values));
        packed.push(Packed::new(values));
    }
    Ok((packed, means))
}

/// Summary of a training run, stored with its results.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrainingRecord {
    pub learning_rate: f64,
    /// Each learning rate of the search with its validation value.
    pub trials: Vec<(f64, f64)>,
    pub at_edge: bool,
    pub best_epoch: usize,
    pub epochs: usize,
}

impl TrainingRecord {
    pub fn new(Tuned { best: learning_rate, trials, at_edge }: Tuned, trained: &Trained) -> TrainingRecord {
        TrainingRecord { learning_rate, trials, at_edge, best_epoch: trained.best_epoch, epochs: trained.pairs.len() }
    }

    /// Why no training run can have this record, or `None` if it is plausible.
    pub fn impossible(&self) -> Option<String> {
        no_learning_rate(self.trials.iter().map(|trial| trial.0).chain([self.learning_rate]))
            .or_else(|| no_share("a validation value", self.trials.iter().map(|trial| trial.1)))
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

/// Table that shows whether the limits of training were reached, with one row per name.
pub fn limits_table<'a>(schedule: &Schedule, records: impl IntoIterator<Item = (String, &'a TrainingRecord)>) -> Table {
    let run = |(name, record): (String, &TrainingRecord)| Went {
        step: Some(record.learning_rate),
        at_edge: Some(record.at_edge),
        ..Went::new(name, record.best_epoch, schedule.epochs)
    };
    trainings::table(&records.into_iter().map(run).collect::<Vec<_>>())
}

/// Describes how the learning rate is chosen and when training ends.
pub fn describe(schedule: &Schedule, factor: &str) -> String {
    let idle = if schedule.constant { "with the same validation value" } else { "without a better validation value" };
    let end = match schedule.starts {
        1 => "training ends".to_owned(),
        starts => format!("training restarts from other random weights, with at most {starts} starts in all"),
    };
    let frozen = match schedule.frozen {
        0.0 => String::new(),
        share => format!(" It also ends when the learning rate falls below {} of the initial one.", number(share)),
    };
    format!(
        "The learning rate is one of {} (extended by {factor} steps if the best is at an end), chosen by the best \
         validation value of {} epochs; everything that is compared has the same grid. Training runs for at most {} \
         epochs. When the training value falls, the learning rate is multiplied by 0.8 with probability 0.3 (section \
         7 of the paper). After {} epochs {idle} {end}.{frozen}",
        grid(schedule),
        schedule.search_epochs,
        schedule.epochs,
        schedule.restart
    )
}

/// The grid of learning rates.
pub fn grid(schedule: &Schedule) -> String {
    schedule.learning_rates.iter().map(|rate| number(*rate)).collect::<Vec<_>>().join(", ")
}
