//! One configuration, trained epoch by epoch on all folds, with its estimate.

use super::data::TuneData;
use super::estimate::CrossEvaluator;
use crate::analysis::significance::Better;
use crate::error::Result;
use crate::metric::{self, Summary};
use crate::model::Finish;
use crate::setting::TrainConfig;
use crate::stop::Stop;
use crate::train::Trainer;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A configuration under test: one training run per fold, which can be continued.
///
/// ```
/// use burnrank::tune::{Candidate, TuneData, paired};
/// use burnrank::{Stop, Synthetic, TrainConfig, device};
/// let generator = Synthetic { queries: 40, ..Synthetic::net() }.generator()?;
/// let (train, valid) = (generator.part(0..20)?.0, generator.part(20..40)?.0);
/// let (data, device) = (TuneData::new(vec![[&train, &valid]], 1)?, device::open("auto")?);
/// let evaluations = [0.01, 0.0001].map(|learning_rate| {
///     let config = TrainConfig { learning_rate, ..TrainConfig::default() };
///     let mut candidate = Candidate::new(config, &data, &device, &Stop::new())?;
///     candidate.train_to(5, &|| true)?;
///     Ok::<_, burnrank::Error>(candidate.evaluation())
/// });
/// let [fast, slow] = evaluations;
/// let difference = paired(&fast?.values, &slow?.values);
/// assert!(difference.mean > difference.standard_error, "{difference:?}");
/// # Ok::<(), burnrank::Error>(())
/// ```
pub struct Candidate<'a> {
    runs: Vec<(Trainer<'a>, CrossEvaluator)>,
}

/// Results of a candidate: one value per validation query, fold after fold, for comparison by [`paired`](super::paired).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Number of epochs trained, the maximum over all folds.
    pub epochs: usize,
    /// Whether further epochs are useless: on every fold, patience ran out or training converged or diverged.
    pub exhausted: bool,
    /// The epochs chosen by the two halves of each fold; 0 before the first.
    pub chosen_epochs: Vec<[usize; 2]>,
    /// Mean of the metric over each half at the epoch that the same half chose. Too optimistic to report, but valid for a choice
    /// between candidates that is evaluated on the other half.
    pub half_means: [f64; 2],
    /// Metric of each query at the epoch that the other half chose.
    pub values: Vec<Option<f64>>,
    /// Metric on all validation queries at the best epoch, the mean over folds: the value that `burnrank train` reports. `None`
    /// until training has ended on every fold.
    pub validation_value: Option<f64>,
}

impl Evaluation {
    /// The estimate: mean over all queries with its standard error.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.values)
    }
}

/// Returns whether higher or lower values of a metric are better.
///
/// # Errors
/// If the metric is unknown.
pub fn better(metric: &str) -> Result<Better> {
    Ok(if metric::parse(metric)?.is_cost() { Better::Lower } else { Better::Higher })
}

/// Trains to the end, or until `proceed`, called before each epoch, returns false. Each epoch is recorded in `evaluator`.
///
/// # Errors
/// If training fails; stopping is not an error.
pub(super) fn train_evaluated<'a>(
    trainer: &mut Trainer<'a>,
    evaluator: &mut CrossEvaluator,
    proceed: &dyn Fn(&Trainer<'a>) -> bool,
) -> Result<Finish> {
    let ends = |trainer: &Trainer<'a>| trainer.finished().is_none() && !proceed(trainer);
    if ends(trainer) {
        return Ok(Finish::Stopped);
    }
    trainer.run(|trainer, _| {
        if trainer.finished() != Some(Finish::Diverged) {
            evaluator.record(trainer.valid_values())?;
        }
        Ok(if ends(trainer) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
}

impl<'a> Candidate<'a> {
    /// Creates the runs, before the first epoch.
    ///
    /// # Errors
    /// The errors of [`Trainer::on`].
    pub fn new(config: TrainConfig, data: &TuneData<'a>, device: &Device, stop: &Stop) -> Result<Self> {
        Self::of_folds(vec![config; data.halves().len()], data, device, stop)
    }

    /// Creates the runs with one configuration per fold; metric and scaling are those of the first.
    pub(super) fn of_folds(
        configs: Vec<TrainConfig>,
        data: &TuneData<'a>,
        device: &Device,
        stop: &Stop,
    ) -> Result<Self> {
        let Some(first) = configs.first() else { return Ok(Candidate { runs: Vec::new() }) };
        let better = better(&first.metric)?;
        let scaled = data.scaled(&first.preprocessing(data.train())?)?;
        let run = |((config, data), halves): ((TrainConfig, Arc<_>), &super::Halves)| {
            let trainer = Trainer::on(config, data, device)?.with_stop(stop.clone());
            Ok((trainer, CrossEvaluator::new(halves.clone(), better)))
        };
        Ok(Candidate { runs: configs.into_iter().zip(scaled).zip(data.halves()).map(run).collect::<Result<_>>()? })
    }

    /// Continues until every fold has `epochs` epochs or is exhausted, and returns whether that was reached. Stops early if
    /// `proceed`, called before each epoch, returns false.
    ///
    /// # Errors
    /// If training fails; stopping is not an error.
    pub fn train_to(&mut self, epochs: usize, proceed: &dyn Fn() -> bool) -> Result<bool> {
        for (trainer, evaluator) in &mut self.runs {
            let is_short = |trainer: &Trainer<'_>| trainer.history().len() < epochs;
            train_evaluated(trainer, evaluator, &|trainer| is_short(trainer) && proceed())?;
            if trainer.finished().is_none() && is_short(trainer) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the results so far.
    pub fn evaluation(&self) -> Evaluation {
        let runs = || self.runs.iter().map(|(_, run)| run);
        let half_means = [0, 1].map(|half| {
            let chosen = runs().filter_map(|run| run.chosen()[half]);
            let (sum, queries) = chosen.fold((0.0, 0), |(sum, n), chosen| (sum + chosen.sum, n + chosen.queries));
            sum / queries as f64
        });
        let best = |(trainer, _): &(Trainer<'_>, CrossEvaluator)| {
            trainer.finished()?;
            trainer.history().iter().rfind(|epoch| epoch.best).map(|epoch| epoch.valid)
        };
        let best: Option<Vec<f64>> = self.runs.iter().map(best).collect();
        let is_spent = |finish| matches!(finish, Finish::Patience | Finish::Converged | Finish::Diverged);
        Evaluation {
            epochs: self.runs.iter().map(|(trainer, _)| trainer.history().len()).max().unwrap_or(0),
            exhausted: self.runs.iter().all(|(trainer, _)| trainer.finished().is_some_and(is_spent)),
            chosen_epochs: runs().map(|run| run.chosen().map(|chosen| chosen.map_or(0, |c| c.epoch))).collect(),
            half_means,
            values: runs().flat_map(|run| run.values().iter().copied()).collect(),
            validation_value: best.map(|best| best.iter().sum::<f64>() / best.len() as f64),
        }
    }
}
