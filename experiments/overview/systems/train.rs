//! One system on one fold: all settings with one seed, then the best one with all seeds.

use super::roster::{SEEDED, System};
use super::sets::Fold;
use super::{METRIC, OTHER_METRICS, Sizes};
use crate::harness::finding::{Finding, no_share};
use crate::harness::tuning::tune;
use crate::harness::units::mean;
use crate::harness::{self, Execution, Job, Packed, Ticker, per_query};
use anyhow::Context;
use burnrank::Model;
use burnrank::train::TrainingData;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One system on one fold.
pub struct Cell {
    pub set: usize,
    pub fold: usize,
    pub system: &'static System,
}

/// Result of a system with the setting chosen on validation queries.
#[derive(Debug, Serialize, Deserialize)]
pub struct SystemResult {
    pub setting: String,
    /// The setting as a number; for scalings their index.
    pub value: f64,
    /// Whether the setting is at the end of the grid; `None` for fixed grids.
    pub at_edge: Option<bool>,
    /// Each setting with its validation value.
    pub trials: Vec<(String, f64)>,
    pub best_epochs: Vec<usize>,
    pub valid: f64,
    /// Means of the other metrics over seeds and test queries.
    pub other_metrics: BTreeMap<String, f64>,
    /// Mean over seeds for each test query.
    pub per_query: Packed,
    /// Why the system could not be run on this fold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Finding for SystemResult {
    fn impossible(&self) -> Option<String> {
        no_share("a validation value", self.trials.iter().map(|trial| trial.1).chain([self.valid])).or_else(|| {
            no_share("a test value", self.per_query.values().iter().chain(self.other_metrics.values()).copied())
        })
    }
}

/// Tries all settings with one seed, then trains the setting with the best validation value with the other seeds too.
pub fn run(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    fold: &Fold,
    ticker: &Ticker<'_>,
) -> anyhow::Result<SystemResult> {
    let system = job.what.system;
    let seeds = if SEEDED.contains(&system.model) { sizes.seeds } else { 1 };
    let settings = system.settings(sizes);
    let trainings = (settings.len() as u64 + seeds - 1) as f64;
    let mut done = 0.0;
    let mut one = |setting: f64, seed: u64| -> anyhow::Result<(Model, String)> {
        let seed = execution.session.seed.wrapping_mul(1_000).wrapping_add(seed);
        let (config, label) = system.config(setting, sizes, seed)?;
        let data = Arc::new(TrainingData::new(config.scaling, fold.sets[0].clone(), fold.sets[1].clone())?);
        let key = format!("{} setting {setting} seed {seed}", job.key);
        let share = (ticker, ((done / trainings).min(1.0), ((done + 1.0) / trainings).min(1.0)));
        done += 1.0;
        Ok((harness::train(execution, &key, &config, &data, share, |_| false)?, label))
    };
    let mut models: Vec<(f64, Model, String)> = vec![];
    let extensions = if system.is_extensible() { sizes.extensions } else { 0 };
    let tuned = tune(&settings, extensions, |setting| {
        let (model, label) = one(setting, 0)?;
        let value = model.best_value().unwrap_or(0.0);
        models.push((setting, model, label));
        Ok(value)
    });
    let tuned = match tuned {
        Ok(tuned) => tuned,
        // Data that a system cannot process, such as too many documents for a kernel matrix, is a result too.
        Err(error) => return Ok(SystemResult::failed(&error)),
    };
    let name = |setting: f64| models.iter().find(|model| model.0 == setting).map_or(String::new(), |m| m.2.clone());
    let trials = tuned.trials.iter().map(|&(setting, value)| (name(setting), value)).collect();
    let place = models.iter().position(|model| model.0 == tuned.best).context("no setting was tried")?;
    let (setting, model, label) = models.swap_remove(place);
    let valid = model.best_value().unwrap_or(0.0);
    let mut models = vec![model];
    for seed in 1..seeds {
        models.push(one(setting, seed)?.0);
    }
    let test = &fold.sets[2];
    let mean_of = |metric: &str| -> anyhow::Result<Vec<f64>> {
        let mut sum = vec![0.0; test.n_queries()];
        for model in &models {
            let values = per_query(model, test, metric)?;
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
        }
        Ok(sum)
    };
    let mut other_metrics = BTreeMap::new();
    for metric in OTHER_METRICS {
        other_metrics.insert(metric.to_owned(), mean(&mean_of(metric)?));
    }
    Ok(SystemResult {
        setting: label,
        value: setting,
        at_edge: (system.is_extensible() && settings.len() > 1).then_some(tuned.at_edge),
        best_epochs: models.iter().map(|model| model.info.best_epoch).collect(),
        valid,
        trials,
        other_metrics,
        per_query: Packed::new(mean_of(METRIC)?),
        failure: None,
    })
}

impl SystemResult {
    fn failed(error: &anyhow::Error) -> Self {
        SystemResult {
            setting: String::new(),
            value: 0.0,
            at_edge: None,
            trials: vec![],
            best_epochs: vec![],
            valid: 0.0,
            other_metrics: BTreeMap::new(),
            per_query: Packed::new([]),
            failure: Some(error.to_string()),
        }
    }
}
