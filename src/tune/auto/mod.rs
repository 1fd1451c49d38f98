//! Model selection without settings: a few configurations are compared on parts of the training queries, and the models of the best
//! ones are averaged.
//!
//! - The training queries are split into five parts. A run is trained on four of them and evaluated on the fifth, and on the
//!   validation queries if there are any. Its epoch is chosen on one half of these queries and evaluated on the other, and vice versa
//!   ([`CrossEvaluator`]). A candidate is thus evaluated on all queries, even if there are only twenty.
//! - Each of five rounds holds out another part. A candidate that is worse than the best by more than two standard errors of the
//!   paired difference is dropped from further rounds.
//! - Among the remaining candidates, the [choice](choice) prefers simpler ones if the difference may be due to chance. The models of
//!   their runs, each trained on different queries, are averaged into one.

mod candidate;
mod choice;
mod report;
mod rotation;
#[cfg(test)]
mod tests;

use super::candidate::train_evaluated;
use super::estimate::{CrossEvaluator, Halves};
use super::parallel;
use crate::analysis::significance::Better;
use crate::data::scale::ScaleKind;
use crate::data::{Dataset, Preprocessing};
use crate::error::{Error, Result};
use crate::internal::hash::Hasher;
use crate::memory;
use crate::metric::{self, Conventions, Metric};
use crate::model::{Architecture, DataInfo, ExportTarget, Finish, Model, RunInfo, means};
use crate::setting::{Method, TrainConfig, TreeSettings};
use crate::stop::Stop;
use crate::train::{Ensemble, Trainer, TrainingData, boosting_bytes};
use burn::tensor::Device;
use candidate::Candidate;
pub use report::{AutoReport, CandidateReport, Difference, RunnerUp};
use rotation::Rotation;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Model selection and its settings.
///
/// ```
/// use burnrank::tune::Auto;
/// use burnrank::{Stop, Synthetic, TrainConfig, device};
/// let data = Synthetic { queries: 12, documents: 20, ..Synthetic::net() }.generator()?.dataset()?;
/// let auto = Auto { trials: Some(4), ..Auto::new(TrainConfig::default()) };
/// let (model, report) = auto.train(&data, None, &device::open("auto")?, &Stop::new(), &|_| {})?;
/// assert_eq!((report.runs, model.score(&data)?.len()), (4, 240));
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Auto {
    /// User settings: objective, metric, seed, batch size. Architectures and learning rates are replaced.
    pub base: TrainConfig,
    /// The only scaling to try; `None` tries several.
    pub scaling: Option<ScaleKind>,
    /// Maximum number of runs; `None` for no limit. With a limit, the same seed gives the same model.
    pub trials: Option<usize>,
    /// Time limit; the first run is always completed.
    pub limit: Option<Duration>,
    /// Metrics to report for the final model, besides the selection metric.
    pub metrics: Vec<Arc<dyn Metric>>,
}

/// Progress of a model selection.
#[derive(Debug, Clone)]
pub struct AutoProgress {
    /// Number of completed runs.
    pub runs: usize,
    /// Maximum number of runs, if known.
    pub of: usize,
    /// The best candidate so far and its estimate.
    pub best: Option<(String, f64)>,
}

/// Number of documents sufficient to estimate the scale of a model's scores.
const SAMPLE_DOCUMENTS: usize = 50_000;

impl Auto {
    /// Model selection without limits.
    pub fn new(base: TrainConfig) -> Self {
        Auto { base, scaling: None, trials: None, limit: None, metrics: Vec::new() }
    }

    /// Selects and builds the model. `on` is called after each run.
    ///
    /// If `stop` is set or the time is over, the model is built from the completed runs.
    ///
    /// # Errors
    /// Too few queries, data that does not match, no candidate that can be trained, or [`Error::Stopped`] before the first
    /// completed run.
    pub fn train(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        device: &Device,
        stop: &Stop,
        on: &(dyn Fn(AutoProgress) + Sync),
    ) -> Result<(Model, AutoReport)> {
        let selection = Selection::new(self, train, valid, device, stop, on)?;
        let (candidates, cut_short) = selection.run(selection.configs())?;
        let chosen = selection.choose(&candidates)?;
        let report = AutoReport::of(selection.better, &candidates, &chosen, cut_short);
        let finish = if cut_short { Finish::Stopped } else { Finish::Epochs };
        Ok((selection.model(&candidates, &chosen.members, &report, finish)?, report))
    }

    /// Selects the scaling for the data by comparing linear nets. A per-query scaling is selected only if it is better than all
    /// others by more than one standard error.
    ///
    /// # Errors
    /// The errors of [`Auto::train`].
    pub fn choose_scaling(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        device: &Device,
        stop: &Stop,
    ) -> Result<ScaleKind> {
        let selection = Selection::new(self, train, valid, device, stop, &|_| {})?;
        let mut configs = selection.configs();
        configs.retain(|config| config.architecture == Architecture::Linear);
        let (candidates, _) = selection.run(configs)?;
        let chosen = selection.choose(&candidates)?;
        Ok(chosen.members.first().map_or(self.base.scaling, |&place| candidates[place].config.scaling))
    }
}

/// A model selection in progress.
struct Selection<'a> {
    auto: &'a Auto,
    train: &'a Dataset,
    valid: Option<&'a Dataset>,
    device: &'a Device,
    stop: &'a Stop,
    on: &'a (dyn Fn(AutoProgress) + Sync),
    metric: Arc<dyn Metric>,
    better: Better,
    began: Instant,
    rotations: Vec<Rotation>,
}

/// Result of a run: the model of its best epoch and the metric of each query it was evaluated on; `None` if it was stopped.
type Outcome = Result<Option<(Model, Vec<Option<f64>>)>>;

impl<'a> Selection<'a> {
    fn new(
        auto: &'a Auto,
        train: &'a Dataset,
        valid: Option<&'a Dataset>,
        device: &'a Device,
        stop: &'a Stop,
        on: &'a (dyn Fn(AutoProgress) + Sync),
    ) -> Result<Self> {
        auto.base.check_pairs(train)?;
        if let Some(scaling) = auto.scaling {
            TrainConfig { architecture: Architecture::Linear, scaling, ..auto.base.clone() }.check_target()?;
        }
        let rotations = rotation::rotations(train.n_queries(), valid.map_or(0, Dataset::n_queries), auto.base.seed)?;
        let metric = metric::parse(&auto.base.metric)?;
        let better = if metric.is_cost() { Better::Lower } else { Better::Higher };
        Ok(Selection { auto, train, valid, device, stop, on, metric, better, began: Instant::now(), rotations })
    }

    /// All configurations to try.
    fn configs(&self) -> Vec<TrainConfig> {
        let queries = self.rotations.first().map_or(0, |rotation| rotation.train.len());
        candidate::configs(&self.auto.base, self.auto.scaling, queries)
    }

    fn choose(&self, candidates: &[Candidate]) -> Result<choice::Chosen> {
        choice::choose(self.better, candidates).ok_or_else(|| {
            let failure = candidates.iter().find_map(|candidate| candidate.failure.clone());
            match (self.stop.check(), failure) {
                (Err(stopped), _) => stopped,
                (Ok(()), failure) => Error::Training(failure.unwrap_or_else(|| "no candidate was evaluated".into())),
            }
        })
    }

    /// Runs all rounds. Returns the candidates, and whether the selection was cut short.
    fn run(&self, configs: Vec<TrainConfig>) -> Result<(Vec<Candidate>, bool)> {
        let queries = self.train.n_queries() + self.valid.map_or(0, Dataset::n_queries);
        let mut candidates: Vec<Candidate> = configs.into_iter().map(|c| Candidate::new(c, queries)).collect();
        let seeds: Vec<u64> = Ensemble::seeds(self.auto.base.seed, self.rotations.len()).collect();
        let mut remaining = self.auto.trials.unwrap_or(usize::MAX);
        for (round, (rotation, &seed)) in self.rotations.iter().zip(&seeds).enumerate() {
            let mut places: Vec<usize> =
                if round == 0 { (0..candidates.len()).collect() } else { choice::survivors(self.better, &candidates) };
            if places.is_empty() {
                break;
            }
            if self.stop.check().is_err() || (round > 0 && self.is_late(round)) {
                return Ok((candidates, true));
            }
            // The rest of a budget goes to the best candidates.
            let is_full_round = places.len() <= remaining;
            places.truncate(remaining);
            remaining -= places.len();
            if !places.is_empty() && !self.round(&mut candidates, &places, rotation, seed, round)? {
                return Ok((candidates, true));
            }
            if !is_full_round {
                break;
            }
        }
        Ok((candidates, false))
    }

    /// Returns whether there is no time for another round, based on the mean time of previous rounds.
    fn is_late(&self, rounds: usize) -> bool {
        let passed = self.began.elapsed();
        let next = passed.checked_div(rounds as u32).unwrap_or_default();
        self.auto.limit.is_some_and(|limit| passed + next / 2 > limit)
    }

    /// Requests the memory of a round at once: its runs are in parallel, so that a request of one run does not see what the others
    /// are about to allocate.
    fn ask(&self, candidates: &[Candidate], places: &[usize], rotation: &Rotation) -> Result<()> {
        let configs = || places.iter().map(|&place| &candidates[place].config);
        let documents = |data: &Dataset, queries: &[usize]| -> u64 {
            let offsets = data.offsets();
            queries.iter().map(|&query| (offsets[query + 1] - offsets[query]) as u64).sum()
        };
        let valid = self.valid.map_or(0, |valid| valid.n_documents() as u64);
        let (train, evaluated) =
            (documents(self.train, &rotation.train), documents(self.train, &rotation.held).saturating_add(valid));
        let width = self.train.n_features() as u64;
        // A mapped file is scaled while reading; the evaluation data is joined in memory.
        let copied = if self.train.is_mapped() { 0 } else { train };
        let copy = memory::bytes_of::<f32>(copied.saturating_add(evaluated).saturating_mul(width));
        let kinds: BTreeSet<&str> =
            configs().filter(|config| config.scaling != ScaleKind::None).map(|config| config.scaling.name()).collect();
        // The parts, one copy of them per scaling, and the evaluation data a second time while it is joined.
        let joined = memory::bytes_of::<f32>(evaluated.saturating_mul(width));
        let copies = copy.saturating_mul(1 + kinds.len() as u64).saturating_add(joined);
        let workers = rayon::current_num_threads().min(places.len());
        let trees = configs().filter(|config| matches!(config.method, Method::Boosting(_))).count().min(workers);
        let bins = boosting_bytes(train, width, TreeSettings::default().bins).saturating_mul(trees as u64);
        memory::ask(
            copies.saturating_add(bins),
            "the copies of the data for model selection",
            "set a model, such as `model` linear, or a scaling, such as `scale` quantile",
        )
    }

    /// Runs each of these candidates once. Returns whether all runs were completed.
    fn round(
        &self,
        candidates: &mut [Candidate],
        places: &[usize],
        rotation: &Rotation,
        seed: u64,
        round: usize,
    ) -> Result<bool> {
        self.ask(candidates, places, rotation)?;
        let parts = rotation.data(self.train, self.valid)?;
        let halves = Halves::new(parts[1].n_queries(), seed)?;
        let mut scaled: HashMap<Preprocessing, Arc<TrainingData<'_>>> = HashMap::new();
        for &place in places {
            let rules = candidates[place].config.preprocessing(self.train)?;
            if let Entry::Vacant(place) = scaled.entry(rules) {
                let scaler = place.key().fit_for(self.train, self.valid.as_slice())?;
                place.insert(Arc::new(TrainingData::with_scaler(scaler, &parts[0], &parts[1])?));
            }
        }
        let done = Mutex::new(Vec::<(usize, Outcome, f64)>::new());
        let before: usize = candidates.iter().map(|candidate| candidate.models.len()).sum();
        let values: Vec<(String, f64)> =
            candidates.iter().map(|candidate| (candidate.name(), candidate.summary().mean)).collect();
        let best = choice::ranked(self.better, candidates).first().map(|&place| values[place].clone());
        let jobs: Vec<(usize, TrainConfig)> =
            places.iter().map(|&place| (place, TrainConfig { seed, ..candidates[place].config.clone() })).collect();
        parallel::each(&jobs, |(place, config)| {
            let start = Instant::now();
            // The first run of all is not bounded by the time limit, so that there is always a model.
            let bounded = round > 0 || *place > 0;
            let rules = config.preprocessing(self.train)?;
            let outcome = self.one(config, &scaled[&rules], &halves, bounded);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((*place, outcome, start.elapsed().as_secs_f64()));
            let runs = before + done.len();
            let rounds_left = self.rotations.len() - 1 - round;
            (self.on)(AutoProgress { runs, of: before + jobs.len() * (1 + rounds_left), best: best.clone() });
            Ok(())
        })?;
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _, _)| *place);
        let first_valid = self.train.n_queries();
        let evaluated = || {
            let valid = self.valid.map_or(0, Dataset::n_queries);
            rotation.held.iter().copied().chain(first_valid..first_valid + valid)
        };
        let mut complete = true;
        for (place, outcome, seconds) in done {
            candidates[place].seconds += seconds;
            match outcome {
                Ok(Some((model, values))) => candidates[place].record(model, evaluated().zip(values)),
                Ok(None) => complete = false,
                Err(error @ (Error::Training(_) | Error::Mismatch(_) | Error::Config(_))) => {
                    candidates[place].failure = Some(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(complete)
    }

    /// Runs one configuration to its end; `None` if it is stopped.
    fn one(&self, config: &TrainConfig, data: &Arc<TrainingData<'_>>, halves: &Halves, bounded: bool) -> Outcome {
        let trainer = Trainer::on(config.clone(), data.clone(), self.device)?;
        let mut trainer = trainer.with_stop(self.stop.clone());
        let mut evaluator = CrossEvaluator::new(halves.clone(), self.better);
        let is_late = || bounded && self.auto.limit.is_some_and(|limit| self.began.elapsed() > limit);
        if train_evaluated(&mut trainer, &mut evaluator, &|_| !is_late())? == Finish::Stopped {
            return Ok(None);
        }
        let model = trainer.finish()?;
        Ok(Some((model, evaluator.values().to_vec())))
    }

    /// Builds the model: the average of all models of the selected candidates, with its metadata.
    fn model(&self, candidates: &[Candidate], members: &[usize], report: &AutoReport, finish: Finish) -> Result<Model> {
        let models: Vec<Model> = members.iter().flat_map(|&place| candidates[place].models.iter().cloned()).collect();
        let mut model = Model::ensemble(&models, &self.sample())?;
        let estimate = members.iter().map(|&m| candidates[m].summary().mean).sum::<f64>() / members.len() as f64;
        let mut metrics = self.auto.metrics.clone();
        let name = self.metric.name();
        metrics.retain(|metric| metric.name() != name);
        metrics.insert(0, self.metric.clone());
        model.info.conventions = Conventions::default().to_string();
        for (split, data) in [("train", Some(self.train)), ("valid", self.valid)] {
            let Some(data) = data else { continue };
            model.info.data.insert(split.into(), DataInfo::of("", data));
            model.info.metrics.insert(split.into(), means(&metrics, &model.score(data)?, data));
        }
        if self.valid.is_none() {
            // The validation value is the mean over members on held-out queries: the averaged model has seen all other queries.
            model.info.data.remove("valid");
            model.info.metrics.insert("valid".into(), BTreeMap::from([(name, estimate)]));
            model.info.conventions += "; validation: the mean of the members, each on queries that it has not seen";
        }
        let base = &self.auto.base;
        model.info.objective = base.objective.name();
        model.info.settings = serde_json::json!({
            "model": "auto", "objective": base.objective.name(), "metric": base.metric, "seed": base.seed,
            "scaling": model.info.scaler.kind(), "selection": report,
        });
        // User settings, in addition to the selected ones.
        if let Some(scaling) = self.auto.scaling {
            model.info.settings["scale"] = serde_json::json!(scaling);
        }
        if base.target != ExportTarget::Any {
            model.info.settings["for"] = serde_json::json!(base.target);
        }
        if !base.categorical.is_empty() {
            model.info.settings["categorical"] = serde_json::json!(base.categorical.join(","));
        }
        if let Some(trials) = self.auto.trials {
            model.info.settings["trials"] = serde_json::json!(trials);
        }
        let best_value = Some(estimate).filter(|value| value.is_finite());
        model.info.run = Some(RunInfo { identity: self.identity(), finish, best_value });
        Ok(model)
    }

    /// A sample of the training queries to estimate the scale of scores.
    fn sample(&self) -> Dataset {
        let step = self.train.n_documents().div_ceil(SAMPLE_DOCUMENTS).max(1);
        self.train.select(&(0..self.train.n_queries()).step_by(step).collect::<Vec<_>>())
    }

    fn identity(&self) -> String {
        let settings = serde_json::to_string(&self.auto.base).unwrap_or_default();
        let data = [Some(self.train), self.valid].map(|data| data.map_or(0, Dataset::fingerprint));
        let bounds = (self.auto.scaling, self.auto.trials, self.auto.limit);
        format!("{:016x}", Hasher::of(format!("auto {settings} {data:?} {bounds:?}").as_bytes()))
    }
}
