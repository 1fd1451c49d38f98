//! Training runs.

use super::data::TrainingData;
use super::distributed::{Evaluated, Partition};
use super::identity;
use super::learner::{EpochStart, Learner};
use super::net::NetLearner;
use super::schedule::TrainingValues;
use super::state::RunState;
use crate::baseline::{self, BaselineStart};
use crate::data::{Dataset, Targets};
use crate::device::{self, Backend, Transfers};
use crate::distributed::{Fact, setting_facts};
use crate::error::{Error, Result};
use crate::metric::{self, Conventions, Metric, Summary};
use crate::model::{DataInfo, EpochRecord, Finish, Ranker};
use crate::setting::TrainConfig;
use crate::setting::{Method, TreeSettings};
use crate::stop::Stop;
use burn::tensor::Device;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// A training run. [`Trainer::train`] runs it to the end, [`Trainer::run`] with an observer, [`Trainer::epoch`] epoch
/// by epoch.
///
/// ```
/// use burnrank::{Objective, Synthetic, TrainConfig, Trainer, device};
/// let data = Synthetic { queries: 30, ..Synthetic::net() }.generator()?.dataset()?;
/// let config = TrainConfig { objective: Objective::parse("ranknet")?, epochs: 3, ..TrainConfig::default() };
/// let model = Trainer::new(config, &data, &data, &device::open("auto")?)?.train()?;
/// assert_eq!(model.history.len(), 3);
/// assert_eq!(model.score_query(&data.query(0).features)?, model.score(&data)?[..50]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub struct Trainer<'a> {
    pub(super) config: TrainConfig,
    pub(super) data: Arc<TrainingData<'a>>,
    targets: Option<&'a Targets>,
    metric: Arc<dyn Metric>,
    /// Metrics that evaluate the final model; the first is `metric`.
    pub(super) metrics: Vec<Arc<dyn Metric>>,
    pub(super) learner: Box<dyn Learner>,
    pub(super) state: RunState,
    /// How queries are distributed over shares and processes, if they are.
    pub(super) partition: Option<Partition>,
    /// Stop flag of the run.
    pub(super) stop: Stop,
    /// Metric values of the last epoch, one per validation query.
    valid_values: Vec<Option<f64>>,
}

impl<'a> Trainer<'a> {
    /// Prepares a run on unscaled data, without training yet.
    ///
    /// The configured scaling is fitted on the training data and applied to both. Owned data is scaled in place;
    /// borrowed data is copied, unless the scaling is none.
    ///
    /// # Errors
    /// If settings are invalid, the data sets do not match, labels are out of range for the objective or the metric, or
    /// no query has documents with different labels ([`TrainConfig::check_pairs`]).
    pub fn new(
        config: TrainConfig,
        train: impl Into<Cow<'a, Dataset>>,
        valid: impl Into<Cow<'a, Dataset>>,
        device: &Device,
    ) -> Result<Self> {
        config.check()?;
        let train: Cow<'a, Dataset> = train.into();
        let data = TrainingData::new(config.preprocessing(&train)?, train, valid)?;
        Self::on(config, Arc::new(data), device)
    }

    /// Prepares a run on scaled data, which other runs can share.
    ///
    /// # Errors
    /// The errors of [`Trainer::new`]; also if the data is not scaled as the configuration says, or if processes that
    /// train together have different settings.
    pub fn on(config: TrainConfig, data: Arc<TrainingData<'a>>, device: &Device) -> Result<Self> {
        config.check()?;
        if config.scaling != data.scaler.kind() {
            let kind = data.scaler.kind();
            return Err(Error::Config(format!("scaling {}: the data is scaled by {kind}", config.scaling)));
        }
        let metric = metric::parse(&config.metric)?;
        let partition = match (&data.partition, config.shares) {
            (None, 0) => None,
            (None, shares) => Some(Partition::alone(shares, &data.train, &data.valid)),
            (Some(partition), shares) if partition.shares() == shares => Some(partition.clone()),
            (Some(partition), shares) => {
                let message = format!("shares {shares}: the data is distributed over {} shares", partition.shares());
                return Err(Error::Config(message));
            }
        };
        config.check_labels(&data.train)?;
        // Targets, which are set later, may define an order where labels do not.
        if !(config.method.is_gradient() && config.objective.takes_targets()) {
            config.check_has_pairs(data.has_pairs)?;
        }
        [&data.train, &data.valid].into_iter().try_for_each(|data| check_metric(&*metric, data))?;
        if !config.method.is_gradient() {
            // Only nets can read features in parts.
            [&data.train, &data.valid].into_iter().try_for_each(|data| data.load())?;
        }
        let learner: Box<dyn Learner> = match &config.method {
            Method::Gradient => Box::new(NetLearner::new(&config, &data.scaler, device)?),
            Method::Boosting(settings) => trees(&config, settings, &data.train)?,
            Method::Baseline(settings) => {
                let (metric, train) = (metric.clone(), &*data.train);
                baseline::start(&BaselineStart { settings, metric, train, device })?
            }
        };
        if let Some(partition) = &partition {
            let remedy = "give all processes the same settings, and `portable` where their CPUs differ";
            partition.member.same(Error::Config, remedy, Ok(facts(&config, device)))?;
        }
        let worst = worst(&*metric);
        let identity = identity::identity(&config, &data.info);
        Ok(Trainer {
            state: RunState::new(identity, config.learning_rate, worst),
            config,
            data,
            targets: None,
            metrics: vec![metric.clone()],
            metric,
            learner,
            partition,
            stop: Stop::new(),
            valid_values: Vec::new(),
        })
    }

    /// Adds metrics to the model's metadata, beside the one that chooses the best epoch.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Vec<Arc<dyn Metric>>) -> Self {
        self.metrics = vec![self.metric.clone()];
        self.metrics.extend(metrics.into_iter().filter(|metric| metric.name() != self.metric.name()));
        self
    }

    /// Selects the best epoch by a custom metric instead of that of the configuration. Baselines, which may optimise their metric,
    /// keep their own.
    ///
    /// Call this before [`Trainer::with_metrics`].
    ///
    /// # Errors
    /// If the metric has no value for the labels.
    pub fn with_metric(mut self, metric: Arc<dyn Metric>) -> Result<Self> {
        [&self.data.train, &self.data.valid].into_iter().try_for_each(|data| check_metric(&*metric, data))?;
        self.state.best_value = worst(&*metric);
        self.metrics = vec![metric.clone()];
        self.metric = metric;
        Ok(self)
    }

    /// Trains RankNet on target probabilities instead of labels.
    ///
    /// Call this before [`Trainer::resume`], which refuses a checkpoint with other targets.
    ///
    /// # Errors
    /// If the objective is not RankNet, the model is not a net, or several processes train together.
    pub fn with_targets(mut self, targets: &'a Targets) -> Result<Self> {
        if !self.config.objective.takes_targets() {
            return Err(Error::Config(format!(
                "target probabilities work only with ranknet, not {}: set `objective` to ranknet",
                self.config.objective
            )));
        }
        if !self.config.method.is_gradient() {
            let message = "target probabilities work only with nets: set `model` to linear or mlp";
            return Err(Error::Config(message.into()));
        }
        if self.partition.as_ref().is_some_and(|partition| partition.member.size() > 1) {
            let message = "distributed training does not support target probabilities: train in one process";
            return Err(Error::Config(message.into()));
        }
        self.targets = Some(targets);
        identity::add_targets(&mut self.state.identity, targets, self.data.train.n_queries());
        Ok(self)
    }

    /// Starts from the weights of a net instead of random ones. A restart draws random weights.
    ///
    /// Call this before [`Trainer::resume`], which refuses a checkpoint with other initial weights.
    ///
    /// ```
    /// use burnrank::{OptimizerKind, Synthetic, TrainConfig, Trainer, device};
    /// let data = Synthetic { queries: 10, ..Synthetic::net() }.generator()?.dataset()?;
    /// let config = TrainConfig { optimizer: OptimizerKind::Sgd, ..TrainConfig::default() };
    /// let new = || Trainer::new(config.clone(), &data, &data, &device::open("auto")?);
    /// let mut first = new()?;
    /// first.epoch()?;
    /// let after = first.ranker().expect("a net").weights()?;
    /// let second = new()?.with_ranker(&first.ranker().expect("a net"))?;
    /// assert_eq!(second.ranker().expect("a net").weights()?, after);
    /// assert_ne!(second.identity(), first.identity());
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model is not a net with this architecture and number of features.
    pub fn with_ranker(mut self, ranker: &Ranker) -> Result<Self> {
        self.learner.start_from(ranker)?;
        identity::add_weights(&mut self.state.identity, &ranker.weights()?);
        Ok(self)
    }

    /// The net after the last epoch; `None` if the model is not a net.
    pub fn ranker(&self) -> Option<Ranker> {
        self.learner.ranker()
    }

    /// Sets a flag that ends an epoch with [`Error::Stopped`] within a second of being set.
    ///
    /// The run then has the state after the previous epoch: it can be saved, or continued with another flag.
    ///
    /// ```
    /// use burnrank::{Error, Stop, Synthetic, TrainConfig, Trainer, device};
    /// let data = Synthetic { queries: 4, ..Synthetic::net() }.generator()?.dataset()?;
    /// let stop = Stop::new();
    /// let mut trainer = Trainer::new(TrainConfig::default(), &data, &data, &device::open("auto")?)?.with_stop(stop.clone());
    /// stop.ask(); // from another thread, or a signal handler
    /// assert!(matches!(trainer.epoch(), Err(Error::Stopped)));
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// A hash of the settings and the data that identifies the run, without the number of epochs.
    pub fn identity(&self) -> String {
        identity::hash(&self.state.identity)
    }

    /// The identity of a run without creating it, which saves the scaling and its memory.
    pub fn identity_of(config: &TrainConfig, train: &Dataset, valid: &Dataset, targets: Option<&Targets>) -> String {
        let mut text = identity::identity(config, &[train, valid].map(|data| DataInfo::of("", data)));
        if let Some(targets) = targets {
            identity::add_targets(&mut text, targets, train.n_queries());
        }
        identity::hash(&text)
    }

    /// The epochs so far.
    pub fn history(&self) -> &[EpochRecord] {
        &self.state.history
    }

    /// The metric of each validation query after the last epoch, `None` for queries that are left out of the mean;
    /// empty before the first epoch and after [`Trainer::resume`].
    pub fn valid_values(&self) -> &[Option<f64>] {
        &self.valid_values
    }

    /// Bytes copied between the host and a GPU so far; `None` if all is computed on the host, or batch by batch because
    /// the objective has no kernels.
    pub fn transfers(&self) -> Option<Transfers> {
        self.learner.transfers()
    }

    /// Returns why training has finished, or `None` while it has not.
    pub fn finished(&self) -> Option<Finish> {
        self.state.finish(&self.config, self.learner.has_converged())
    }

    /// Runs one epoch.
    ///
    /// # Errors
    /// If the device fails, training diverges before any good epoch, the flag of [`Trainer::with_stop`] is set, or
    /// neither labels nor targets define an order to learn.
    pub fn epoch(&mut self) -> Result<EpochRecord> {
        if self.targets.is_none() {
            self.config.check_has_pairs(self.data.has_pairs)?;
        }
        if self.partition.is_none() {
            // Distributed processes stop together, within the epoch.
            self.stop.check()?;
        }
        let start = Instant::now();
        let number = self.state.history.len() + 1;
        let restarts = self.state.restarts(&self.config);
        let learning_rate = if restarts { self.config.learning_rate } else { self.state.learning_rate };
        let totals = self.learner.try_epoch(&EpochStart {
            config: &self.config,
            data: &self.data.train,
            targets: self.targets,
            partition: self.partition.as_ref(),
            number,
            stop: &self.stop,
            restart: restarts.then_some(self.state.restart + 1),
            learning_rates: self.config.schedule.decay(number, self.config.epochs).map(|factor| factor * learning_rate),
        })?;
        let local = self.evaluate_epoch(&totals.scores);
        let Evaluated { diverged, valid: valid_values, train } = match &self.partition {
            Some(partition) => partition.gather(local)?,
            None => local?,
        };
        let (valid, train) = (Summary::of(&valid_values).mean, Summary::of(&train).mean);
        // State changes only once the epoch is complete, so that an interrupted one leaves no trace.
        if restarts {
            self.state.restarted(learning_rate);
        }
        let best = !diverged && self.is_better(valid);
        self.learner.accept_epoch(best)?;
        self.valid_values = valid_values;
        let record = EpochRecord {
            epoch: number,
            member: None,
            setting: None,
            setting_run: None,
            restart: self.state.restart,
            loss: totals.loss / self.data.info[0].queries as f64,
            train,
            valid,
            best,
            learning_rate: self.state.learning_rate * self.config.schedule.decay(number, self.config.epochs)[0],
            effective_pairs: totals.pairs,
            saturated_pairs: totals.saturated,
            seconds: start.elapsed().as_secs_f64(),
        };
        self.record_epoch(&record, diverged)?;
        Ok(record)
    }

    /// Evaluates the tried epoch on the queries of this process.
    fn evaluate_epoch(&mut self, train: &[f32]) -> Result<Evaluated> {
        let scores = self.learner.score_valid(&self.data.valid, &self.stop)?;
        [&self.data.train, &self.data.valid].into_iter().try_for_each(|data| data.check_unchanged())?;
        Ok(Evaluated {
            diverged: scores.iter().any(|score| !score.is_finite()) || !self.learner.is_finite(),
            valid: self.evaluate(&scores, &self.data.valid)?,
            train: self.evaluate(train, &self.data.train)?,
        })
    }

    fn evaluate(&self, scores: &[f32], data: &Dataset) -> Result<Vec<Option<f64>>> {
        self.stop.check()?;
        metric::evaluate(&*self.metric, scores, data.labels(), data.offsets(), &Conventions::default())
    }

    fn is_better(&self, value: f64) -> bool {
        let best = self.state.best_value;
        if self.metric.is_cost() { value < best } else { value > best }
    }

    /// Records an epoch and updates best epoch, learning rate and patience.
    fn record_epoch(&mut self, record: &EpochRecord, diverged: bool) -> Result<()> {
        let state = &mut self.state;
        state.history.push(record.clone());
        if diverged {
            if state.best_epoch == 0 {
                let lower = match self.config.method {
                    // These have no learning rate.
                    Method::Baseline(_) => String::new(),
                    _ => format!("lower `lr` (now {}), or ", state.learning_rate),
                };
                return Err(Error::Training(format!(
                    "training diverged in epoch {}: scores are no longer finite; {lower}scale the features with `scale`",
                    record.epoch
                )));
            }
            state.diverged = true;
            return Ok(());
        }
        state.note(record);
        let goodness = if self.metric.is_cost() { -record.train } else { record.train };
        let now = TrainingValues { loss: record.loss, goodness };
        let (rule, cost) = (self.config.schedule, self.config.objective.is_cost());
        state.adapt(rule, now, cost, self.config.seed, record.epoch as u64);
        Ok(())
    }
}

/// Everything except data that determines the exact result of a run.
fn facts(config: &TrainConfig, device: &Device) -> Vec<Fact> {
    let mut facts = setting_facts(&serde_json::to_value(config).unwrap_or_default());
    facts.push(("device".into(), device::host_backend(device).map_or("GPU", Backend::name).into()));
    facts.push(("instruction set".into(), device::instruction_set().into()));
    facts
}

/// A value that every value of the metric improves.
fn worst(metric: &dyn Metric) -> f64 {
    if metric.is_cost() { f64::INFINITY } else { f64::NEG_INFINITY }
}

/// Refuses labels for which the metric is undefined, using the ideal ranking, whose sums are the largest.
fn check_metric(metric: &dyn Metric, data: &Dataset) -> Result<()> {
    metric::evaluate(metric, data.labels(), data.labels(), data.offsets(), &Conventions::default()).map(|_| ())
}

/// The learner of boosted trees.
#[cfg(feature = "trees")]
fn trees(config: &TrainConfig, settings: &TreeSettings, train: &Dataset) -> Result<Box<dyn Learner>> {
    Ok(Box::new(super::trees::TreeLearner::new(config, settings, train)?))
}

/// The error of a build without trees.
#[cfg(not(feature = "trees"))]
fn trees(config: &TrainConfig, _: &TreeSettings, _: &Dataset) -> Result<Box<dyn Learner>> {
    config.check_build().and(Err(Error::Config("this build cannot train trees".into())))
}
