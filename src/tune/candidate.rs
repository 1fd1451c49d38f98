//! One way to train, tried out on all folds epoch by epoch, with its estimate.

use super::data::TuneData;
use super::estimate::CrossJudge;
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

/// A way to train under trial: a run on each fold, to be taken as far as it is worth.
///
/// ```
/// use burnrank::tune::{Candidate, TuneData, paired};
/// use burnrank::{Stop, Synthetic, TrainConfig, device};
/// let generator = Synthetic { queries: 40, ..Synthetic::net() }.generator()?;
/// let (train, valid) = (generator.part(0..20)?.0, generator.part(20..40)?.0);
/// let (data, device) = (TuneData::new(vec![[&train, &valid]], 1)?, device::open("auto")?);
/// let judged = [0.01, 0.0001].map(|learning_rate| {
///     let config = TrainConfig { learning_rate, ..TrainConfig::default() };
///     let mut candidate = Candidate::new(config, &data, &device, &Stop::new())?;
///     candidate.train_to(5, &|| true)?;
///     Ok::<_, burnrank::Error>(candidate.evaluation())
/// });
/// let [fast, slow] = judged;
/// let difference = paired(&fast?.values, &slow?.values);
/// assert!(difference.mean > difference.standard_error, "{difference:?}");
/// # Ok::<(), burnrank::Error>(())
/// ```
pub struct Candidate<'a> {
    runs: Vec<(Trainer<'a>, CrossJudge)>,
}

/// What is known of a candidate: a value per validation query, fold after fold, to be compared by [`paired`](super::paired).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The epochs that were trained, the most over all folds.
    pub epochs: usize,
    /// Whether further epochs are of no use: patience ran out, or training converged or diverged, on every fold.
    pub exhausted: bool,
    /// The epochs that the two halves chose, of each fold; 0 before there is one.
    pub chosen_epochs: Vec<[usize; 2]>,
    /// The mean of the measure over each half, after the epochs that this very half chose: too good to report, but what a
    /// choice between candidates may go by that is judged on the other half.
    pub half_means: [f64; 2],
    /// The measure of each query after the epoch that the other half chose.
    pub values: Vec<Option<f64>>,
    /// Metric on all validation queries at the best epoch, the mean over folds: the value that `burnrank train` reports. Missing
    /// until training has ended on every fold.
    pub validation_value: Option<f64>,
}

impl Evaluation {
    /// The estimate: the mean over all queries, with its standard error.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.values)
    }
}

/// Which way a measure improves.
///
/// # Errors
/// When there is no such measure.
pub fn better(measure: &str) -> Result<Better> {
    Ok(if metric::parse(measure)?.is_cost() { Better::Lower } else { Better::Higher })
}

/// Trains to the end, or as long as `goes_on`, which is asked before each epoch; the judge takes in every epoch.
///
/// # Errors
/// When training fails. That it is stopped is none.
pub(super) fn train_judged<'a>(
    trainer: &mut Trainer<'a>,
    judge: &mut CrossJudge,
    goes_on: &dyn Fn(&Trainer<'a>) -> bool,
) -> Result<Finish> {
    let ends = |trainer: &Trainer<'a>| trainer.finished().is_none() && !goes_on(trainer);
    if ends(trainer) {
        return Ok(Finish::Stopped);
    }
    trainer.run(|trainer, _| {
        if trainer.finished() != Some(Finish::Diverged) {
            judge.note(trainer.valid_values())?;
        }
        Ok(if ends(trainer) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
}

impl<'a> Candidate<'a> {
    /// Before its first epoch.
    ///
    /// # Errors
    /// As [`Trainer::on`].
    pub fn new(config: TrainConfig, data: &TuneData<'a>, device: &Device, stop: &Stop) -> Result<Self> {
        Self::of_folds(vec![config; data.halves().len()], data, device, stop)
    }

    /// Before its first epoch, with a configuration for each fold; metric and scaling are those of the first.
    pub(super) fn of_folds(
        configs: Vec<TrainConfig>,
        data: &TuneData<'a>,
        device: &Device,
        stop: &Stop,
    ) -> Result<Self> {
        let Some(first) = configs.first() else { return Ok(Candidate { runs: Vec::new() }) };
        let better = better(&first.metric)?;
        let scaled = data.scaled(first.scaling)?;
        let run = |((config, data), halves): ((TrainConfig, Arc<_>), &super::Halves)| {
            let trainer = Trainer::on(config, data, device)?.with_stop(stop.clone());
            Ok((trainer, CrossJudge::new(halves.clone(), better)))
        };
        Ok(Candidate { runs: configs.into_iter().zip(scaled).zip(data.halves()).map(run).collect::<Result<_>>()? })
    }

    /// Goes on until every fold has so many epochs or is exhausted, and tells whether that was reached: `goes_on` is asked
    /// before each epoch.
    ///
    /// # Errors
    /// When training fails. That it is stopped is none.
    pub fn train_to(&mut self, epochs: usize, goes_on: &dyn Fn() -> bool) -> Result<bool> {
        for (trainer, judge) in &mut self.runs {
            let is_short = |trainer: &Trainer<'_>| trainer.history().len() < epochs;
            train_judged(trainer, judge, &|trainer| is_short(trainer) && goes_on())?;
            if trainer.finished().is_none() && is_short(trainer) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is known so far.
    pub fn evaluation(&self) -> Evaluation {
        let judges = || self.runs.iter().map(|(_, judge)| judge);
        let own = [0, 1].map(|half| {
            let chosen = judges().filter_map(|judge| judge.chosen()[half]);
            let (sum, queries) = chosen.fold((0.0, 0), |(sum, n), chosen| (sum + chosen.sum, n + chosen.queries));
            sum / queries as f64
        });
        let best = |(trainer, _): &(Trainer<'_>, CrossJudge)| {
            trainer.finished()?;
            trainer.history().iter().rfind(|epoch| epoch.best).map(|epoch| epoch.valid)
        };
        let best: Option<Vec<f64>> = self.runs.iter().map(best).collect();
        let is_spent = |finish| matches!(finish, Finish::Patience | Finish::Converged | Finish::Diverged);
        Evaluation {
            epochs: self.runs.iter().map(|(trainer, _)| trainer.history().len()).max().unwrap_or(0),
            exhausted: self.runs.iter().all(|(trainer, _)| trainer.finished().is_some_and(is_spent)),
            chosen_epochs: judges().map(|judge| judge.chosen().map(|chosen| chosen.map_or(0, |c| c.epoch))).collect(),
            half_means: own,
            values: judges().flat_map(|judge| judge.values().iter().copied()).collect(),
            validation_value: best.map(|best| best.iter().sum::<f64>() / best.len() as f64),
        }
    }
}
