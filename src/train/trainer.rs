//! A training run, epoch by epoch.

use super::checkpoint;
use super::config::{GradientPath, TrainConfig};
use super::epoch::{self, Ground};
use super::exact;
use super::record::EpochRecord;
use super::score::score_rows;
use super::step::Outcome;
use crate::data::Dataset;
use crate::device;
use crate::error::{Error, Result};
use crate::export::{is_finite, ranker_from_bytes, ranker_to_bytes};
use crate::hash::Hasher;
use crate::metric::{self, Conventions, Metric, Summary};
use crate::model::{Ranker, RankerConfig};
use crate::objective::Targets;
use crate::stop::Stop;
use burn::optim::ModuleOptimizer;
use burn::tensor::{Bytes, Device};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// All epochs were run.
    Epochs,
    /// The validation value had not risen for `patience` epochs.
    Patience,
    /// Weights or scores were no longer finite; the best epoch before that is kept.
    Diverged,
    /// The caller ended it.
    Stopped,
}

/// The outcome of a training run: the ranker of its best epoch.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The ranker of the best epoch.
    pub ranker: Ranker,
    /// Its shape.
    pub config: RankerConfig,
    /// The epoch it is from; 0 when no epoch was run.
    pub best_epoch: usize,
    /// The metric on the validation queries at that epoch.
    pub best_value: f64,
    /// All epochs.
    pub history: Vec<EpochRecord>,
    /// Why training ended.
    pub finish: Finish,
    /// What the run was started with: [`Trainer::identity`].
    pub identity: String,
}

/// A training run, driven epoch by epoch, so that the caller can report, save and stop in between.
///
/// ```
/// use burnrank::{Objective, Synthetic, TrainConfig, Trainer, device};
/// let data = Synthetic { queries: 30, ..Synthetic::net() }.generator()?.dataset()?;
/// let config = TrainConfig { objective: Objective::parse("ranknet")?, epochs: 3, ..TrainConfig::default() };
/// let device = device::open("auto")?;
/// let mut trainer = Trainer::new(config, &data, &data, &device)?;
/// while trainer.finished().is_none() {
///     trainer.epoch()?;
/// }
/// assert_eq!(trainer.finish()?.history.len(), 3);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub struct Trainer<'a> {
    config: TrainConfig,
    shape: RankerConfig,
    train: &'a Dataset,
    valid: &'a Dataset,
    targets: Option<&'a Targets>,
    metric: Arc<dyn Metric>,
    path: GradientPath,
    device: Device,
    ranker: Ranker,
    optimizer: ModuleOptimizer,
    best_ranker: Vec<u8>,
    progress: Progress,
}

/// Everything of a run that is not a tensor.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Progress {
    /// What the run was started with; a checkpoint of another is refused.
    identity: String,
    restart: usize,
    #[serde(with = "exact::number")]
    step_size: f64,
    /// Epochs since the best one, and since the last restart or best epoch.
    waited: usize,
    stalled: usize,
    best_epoch: usize,
    /// Infinite, on the bad side, before there is one.
    #[serde(with = "exact::number")]
    best_value: f64,
    #[serde(with = "exact::pair")]
    before: Option<(f64, f64)>,
    diverged: bool,
    history: Vec<EpochRecord>,
}

impl Progress {
    fn restarted(&mut self, step_size: f64) {
        self.restart += 1;
        self.stalled = 0;
        self.before = None;
        self.step_size = step_size;
    }
}

/// What an epoch starts from.
struct Next {
    restarts: bool,
    step_size: f64,
    ranker: Ranker,
    optimizer: ModuleOptimizer,
}

/// Documents to score between two looks at whether to stop; whole blocks of what is scored at once.
const BETWEEN_LOOKS: usize = 1 << 16;

impl<'a> Trainer<'a> {
    /// Prepares a run; nothing is trained yet.
    ///
    /// # Errors
    /// Settings that make no sense, data that do not fit together, or labels that the objective or the measure has no value
    /// for.
    pub fn new(config: TrainConfig, train: &'a Dataset, valid: &'a Dataset, device: &Device) -> Result<Self> {
        config.check()?;
        if train.n_queries() == 0 || valid.n_queries() == 0 {
            return Err(Error::Data("training needs at least one training and one validation query".into()));
        }
        if train.n_features() != valid.n_features() {
            return Err(Error::Mismatch(format!(
                "{} features in the training data, {} in the validation data",
                train.n_features(),
                valid.n_features()
            )));
        }
        let metric = metric::parse(&config.metric)?;
        config.check_labels(train)?;
        [train, valid].into_iter().try_for_each(|data| check_measure(&*metric, data))?;
        let path = match config.gradient {
            GradientPath::Auto if device::on_host(device) || !config.objective.has_device_weights() => {
                GradientPath::Lambda
            }
            GradientPath::Auto => GradientPath::Tensor,
            chosen => chosen,
        };
        if path == GradientPath::Tensor {
            config.objective.tensors()?;
        }
        let device = device.clone().autodiff();
        let shape = RankerConfig { features: train.n_features(), architecture: config.architecture.clone() };
        let ranker = shape.init(config.init, config.seed, &device)?;
        let worst = if metric.is_cost() { f64::INFINITY } else { f64::NEG_INFINITY };
        let progress = Progress {
            identity: identity(&config, train, valid),
            restart: 0,
            step_size: config.learning_rate,
            waited: 0,
            stalled: 0,
            best_epoch: 0,
            best_value: worst,
            before: None,
            diverged: false,
            history: Vec::new(),
        };
        Ok(Trainer {
            optimizer: config.optimizer.build(&config),
            best_ranker: ranker_to_bytes(&ranker)?,
            config,
            shape,
            train,
            valid,
            targets: None,
            metric,
            path,
            device,
            ranker,
            progress,
        })
    }

    /// Trains RankNet on given target probabilities instead of labels.
    ///
    /// To be called before [`Trainer::resume`], which refuses a checkpoint of other targets.
    ///
    /// # Errors
    /// When the objective is not RankNet.
    pub fn with_targets(mut self, targets: &'a Targets) -> Result<Self> {
        if !self.config.objective.takes_targets() {
            return Err(Error::Config(format!(
                "target probabilities train ranknet, not {}: set --objective ranknet",
                self.config.objective
            )));
        }
        self.targets = Some(targets);
        // Other targets make another run.
        let fingerprint = fingerprint(targets, self.train.n_queries());
        self.progress.identity.push_str(&format!(" {fingerprint:016x}"));
        Ok(self)
    }

    /// Ends an epoch with [`Error::Stopped`] within a second of the flag being set.
    ///
    /// The run is then as it was after the epoch before: to be saved, or to be gone on with under another flag.
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
        self.config.objective = self.config.objective.with_stop(stop);
        self
    }

    /// Goes on from a file of [`Trainer::save_checkpoint`], to the same bytes as a run that was never interrupted.
    ///
    /// # Errors
    /// A file that is missing, damaged, or of a run with other settings or data.
    pub fn resume(mut self, path: &Path) -> Result<Self> {
        let (progress, parts): (Progress, _) = checkpoint::read(path)?;
        let wrong = |message: &str| Error::Model { path: path.to_path_buf(), message: message.to_owned() };
        if progress.identity != self.progress.identity {
            return Err(wrong(
                "the checkpoint is of a run with other settings or data: give the same, or delete it and train anew",
            ));
        }
        let [ranker, best, optimizer] = <[Vec<u8>; 3]>::try_from(parts).map_err(|_| wrong("damaged checkpoint"))?;
        let load =
            |bytes| ranker_from_bytes(&self.shape, bytes, &self.device).map_err(|error| wrong(&error.to_string()));
        // The best one is only needed at the end, which is too late to learn that it is damaged.
        load(best.clone())?;
        self.ranker = load(ranker)?;
        let (state, fresh) = (Bytes::from_bytes_vec(optimizer), self.optimizer);
        // Burn loads the state on its own default device, which may be a GPU without a driver.
        self.optimizer = device::without_panic(|| fresh.from_bytes(state))
            .ok_or_else(|| wrong("Burn's default device does not work here: resume with a build without GPU backends"))?
            .map_err(|error| wrong(&format!("damaged checkpoint: {error}")))?;
        self.best_ranker = best;
        self.progress = progress;
        Ok(self)
    }

    /// Writes the run to one file, which is replaced atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_checkpoint(&self, path: &Path) -> Result<()> {
        let ranker = ranker_to_bytes(&self.ranker)?;
        let optimizer = self.optimizer.into_bytes().map_err(|error| Error::Record(error.to_string()))?;
        checkpoint::write(path, &self.progress, &[&ranker, &self.best_ranker, &optimizer])
    }

    /// A hash of the settings and the data, which tells runs apart; the number of epochs does not count.
    pub fn identity(&self) -> String {
        format!("{:016x}", Hasher::of(self.progress.identity.as_bytes()))
    }

    /// All epochs so far.
    pub fn history(&self) -> &[EpochRecord] {
        &self.progress.history
    }

    /// Why training is over, or nothing while it is not.
    pub fn finished(&self) -> Option<Finish> {
        if self.progress.diverged {
            Some(Finish::Diverged)
        } else if self.progress.history.len() >= self.config.epochs {
            Some(Finish::Epochs)
        } else if self.config.patience > 0 && self.progress.waited >= self.config.patience {
            Some(Finish::Patience)
        } else {
            None
        }
    }

    /// Runs one epoch.
    ///
    /// # Errors
    /// When the device fails, training diverged before there was any good epoch, or [`Trainer::with_stop`] says so.
    pub fn epoch(&mut self) -> Result<EpochRecord> {
        let start = Instant::now();
        let number = self.progress.history.len() + 1;
        // All of it is put in place once the epoch is whole: one that is stopped leaves no trace.
        let mut next = self.begin()?;
        let ground = Ground {
            config: &self.config,
            data: self.train,
            targets: self.targets,
            path: self.path,
            device: &self.device,
            host: device::on_host(&self.device),
        };
        let order = shuffled(self.train.n_queries(), self.config.seed, number as u64);
        let seed = self.config.seed ^ (number as u64) << 32;
        let (ranker, pass) = epoch::run(&ground, next.ranker, &mut next.optimizer, &order, next.step_size, seed)?;
        let scores = self.score_valid(&ranker)?;
        // A bounded hidden unit may hide an infinite weight from the scores.
        let diverged = scores.iter().any(|score| !score.is_finite()) || !is_finite(&ranker);
        let valid = self.judge(&scores, self.valid)?;
        let train = self.judge(&pass.scores, self.train)?;
        (self.ranker, self.optimizer) = (ranker, next.optimizer);
        if next.restarts {
            self.progress.restarted(next.step_size);
        }
        let best = !diverged && self.is_better(valid);
        let record = EpochRecord {
            epoch: number,
            restart: self.progress.restart,
            loss: pass.loss / self.train.n_queries() as f64,
            train,
            valid,
            best,
            step_size: self.progress.step_size,
            effective_pairs: pass.pairs,
            saturated_pairs: pass.saturated,
            seconds: start.elapsed().as_secs_f64(),
        };
        self.take_in(&record, diverged)?;
        Ok(record)
    }

    /// The ranker of the best epoch.
    ///
    /// # Errors
    /// When the device fails.
    pub fn finish(self) -> Result<Trained> {
        let finish = self.finished().unwrap_or(Finish::Stopped);
        let identity = self.identity();
        let ranker = ranker_from_bytes(&self.shape, self.best_ranker, &self.device.without_autodiff())?;
        Ok(Trained {
            ranker,
            config: self.shape,
            best_epoch: self.progress.best_epoch,
            best_value: self.progress.best_value,
            history: self.progress.history,
            finish,
            identity,
        })
    }

    /// What the next epoch starts from: where the last one ended, or new weights when that led nowhere.
    fn begin(&self) -> Result<Next> {
        let restarts = self.config.restart > 0 && self.progress.stalled >= self.config.restart;
        if !restarts {
            let (ranker, optimizer) = (self.ranker.clone(), self.optimizer.clone());
            return Ok(Next { restarts, step_size: self.progress.step_size, ranker, optimizer });
        }
        let seed = self.config.seed.wrapping_add((self.progress.restart as u64 + 1) << 40);
        let ranker = self.shape.init(self.config.init, seed, &self.device)?;
        let optimizer = self.config.optimizer.build(&self.config);
        Ok(Next { restarts, step_size: self.config.learning_rate, ranker, optimizer })
    }

    /// The scores of the validation documents, with a look at whether to stop now and then.
    fn score_valid(&self, ranker: &Ranker) -> Result<Vec<f32>> {
        let width = self.valid.n_features();
        let mut scores = Vec::with_capacity(self.valid.n_documents());
        for rows in self.valid.features().chunks(BETWEEN_LOOKS * width.max(1)) {
            self.config.objective.stop().check()?;
            scores.extend(score_rows(ranker, rows, width, &self.device)?);
        }
        Ok(scores)
    }

    fn judge(&self, scores: &[f32], data: &Dataset) -> Result<f64> {
        self.config.objective.stop().check()?;
        let values = metric::judge(&*self.metric, scores, data.labels(), data.offsets(), &Conventions::default())?;
        Ok(Summary::of(&values).mean)
    }

    fn is_better(&self, value: f64) -> bool {
        let best = self.progress.best_value;
        if self.metric.is_cost() { value < best } else { value > best }
    }

    /// Notes an epoch: the best one, the next step size, whether to wait on.
    fn take_in(&mut self, record: &EpochRecord, diverged: bool) -> Result<()> {
        let progress = &mut self.progress;
        progress.history.push(record.clone());
        if diverged {
            if progress.best_epoch == 0 {
                return Err(Error::Training(format!(
                    "training diverged in epoch {}: scores are no longer finite; lower --lr (now {}), or scale the \
                     features with --scale",
                    record.epoch, progress.step_size
                )));
            }
            progress.diverged = true;
            return Ok(());
        }
        if record.best {
            progress.best_epoch = record.epoch;
            progress.best_value = record.valid;
            (progress.waited, progress.stalled) = (0, 0);
            self.best_ranker = ranker_to_bytes(&self.ranker)?;
        } else {
            progress.waited += 1;
            progress.stalled += 1;
        }
        let goodness = if self.metric.is_cost() { -record.train } else { record.train };
        let now = Outcome { loss: record.loss, goodness };
        if let Some((loss, goodness)) = progress.before {
            let before = Outcome { loss, goodness };
            let cost = self.config.objective.is_cost();
            let rule = self.config.step_rule;
            progress.step_size *= rule.factor(before, now, cost, self.config.seed, record.epoch as u64);
        }
        progress.before = Some((now.loss, now.goodness));
        Ok(())
    }
}

/// The order in which an epoch visits the queries: drawn anew from (seed, epoch), so that a resumed run draws the same.
fn shuffled(queries: usize, seed: u64, epoch: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch);
    let mut order: Vec<usize> = (0..queries).collect();
    order.shuffle(&mut random);
    order
}

/// Settings and data of a run, as far as they decide what comes out; the number of epochs may grow.
fn identity(config: &TrainConfig, train: &Dataset, valid: &Dataset) -> String {
    let timeless = TrainConfig { epochs: 1, ..config.clone() };
    let settings = serde_json::to_string(&timeless).unwrap_or_default();
    format!("{settings} {:016x} {:016x}", train.fingerprint(), valid.fingerprint())
}

/// A number that tells targets apart.
fn fingerprint(targets: &Targets, queries: usize) -> u64 {
    let mut hasher = Hasher::new();
    for query in 0..queries {
        let pairs = targets.query(query);
        hasher.word(pairs.len() as u64);
        for pair in pairs {
            [pair.i as u64, pair.j as u64, pair.probability.to_bits()].into_iter().for_each(|word| hasher.word(word));
        }
    }
    hasher.finish()
}

/// Refuses labels that the measure has no value for, by the best ranking, whose sums are the largest.
fn check_measure(metric: &dyn Metric, data: &Dataset) -> Result<()> {
    metric::judge(metric, data.labels(), data.labels(), data.offsets(), &Conventions::default()).map(|_| ())
}
