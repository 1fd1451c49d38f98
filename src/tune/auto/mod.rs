//! The best model without a setting: a race of a few settings on parts of the training queries, and the average of those that
//! win.
//!
//! - The training queries are cut into five parts. A run is trained on four of them and judged on the fifth, and on the
//!   validation queries where there are any; its epoch is chosen on one half of these queries and judged on the other, both
//!   ways round ([`CrossJudge`]). So a setting is judged on as many queries as there are, even where there are twenty.
//! - In each of five rounds another part is held out. A setting that is worse than the best by more than two standard errors
//!   of the paired difference takes no part in further rounds.
//! - Of those left, the [choice](choice) prefers what is simpler where the difference may be chance, and the models of its
//!   runs, each trained on other queries, are averaged and folded into one.

mod choice;
mod entrant;
mod report;
mod rotation;
#[cfg(test)]
mod tests;

use super::candidate::train_judged;
use super::estimate::{CrossJudge, Halves};
use super::parallel;
use crate::analysis::significance::Better;
use crate::data::Dataset;
use crate::data::scale::{ScaleKind, Scaler};
use crate::error::{Error, Result};
use crate::internal::hash::Hasher;
use crate::memory;
use crate::metric::{self, Conventions, Metric};
use crate::model::{Architecture, DataInfo, Finish, Model, RunInfo, means};
use crate::setting::{Method, TrainConfig, TreeSettings};
use crate::stop::Stop;
use crate::train::{Ensemble, Trainer, TrainingData, boosting_bytes};
use burn::tensor::Device;
use entrant::Entrant;
pub use report::{AutoReport, CandidateReport, Difference, RunnerUp};
use rotation::Rotation;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A choice of settings, and the model that comes of it.
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
    /// What the user decides on: objective, measure, seed, batches; nets and step sizes are replaced.
    pub base: TrainConfig,
    /// The only scaling to try, where it is given.
    pub scaling: Option<ScaleKind>,
    /// The most runs; as many as the race needs where it is not given. The same seed then gives the same model.
    pub trials: Option<usize>,
    /// The most time; the first run is always whole.
    pub limit: Option<Duration>,
    /// What the model is judged by in the end, beside the measure that chooses.
    pub metrics: Vec<Arc<dyn Metric>>,
}

/// How far a choice is.
#[derive(Debug, Clone)]
pub struct AutoProgress {
    /// Runs that have ended.
    pub runs: usize,
    /// The most runs that there can be, as far as is known.
    pub of: usize,
    /// The best setting so far and its estimate.
    pub best: Option<(String, f64)>,
}

/// Documents that tell the spread of a model's scores well enough.
const SPREAD_DOCUMENTS: usize = 50_000;

impl Auto {
    /// A choice without bounds but its own.
    pub fn new(base: TrainConfig) -> Self {
        Auto { base, scaling: None, trials: None, limit: None, metrics: Vec::new() }
    }

    /// Runs the race and makes the model. `on` is told of each run that ends.
    ///
    /// When `stop` is set, or the time is over, the model is made of the runs that are whole.
    ///
    /// # Errors
    /// Too few queries, data that do not fit together, no setting that can be trained, or [`Error::Stopped`] before there
    /// was a whole run.
    pub fn train(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        device: &Device,
        stop: &Stop,
        on: &(dyn Fn(AutoProgress) + Sync),
    ) -> Result<(Model, AutoReport)> {
        let race = Race::new(self, train, valid, device, stop, on)?;
        let (entrants, cut_short) = race.run(race.settings())?;
        let chosen = race.choose(&entrants)?;
        let report = AutoReport::of(race.better, &entrants, &chosen, cut_short);
        let finish = if cut_short { Finish::Stopped } else { Finish::Epochs };
        Ok((race.model(&entrants, &chosen.members, &report, finish)?, report))
    }

    /// The scaling that suits the data, by a race of linear nets: one by query only where it is better than all others by more
    /// than a standard error.
    ///
    /// # Errors
    /// As [`Auto::train`].
    pub fn choose_scaling(
        &self,
        train: &Dataset,
        valid: Option<&Dataset>,
        device: &Device,
        stop: &Stop,
    ) -> Result<ScaleKind> {
        let race = Race::new(self, train, valid, device, stop, &|_| {})?;
        let mut settings = race.settings();
        settings.retain(|config| config.architecture == Architecture::Linear);
        let (entrants, _) = race.run(settings)?;
        let chosen = race.choose(&entrants)?;
        Ok(chosen.members.first().map_or(self.base.scaling, |&place| entrants[place].config.scaling))
    }
}

/// A race under way.
struct Race<'a> {
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

/// What a run ended in: the model of its best epoch and a value per query that it was judged by, or why it failed.
type Outcome = Result<Option<(Model, Vec<Option<f64>>)>>;

impl<'a> Race<'a> {
    fn new(
        auto: &'a Auto,
        train: &'a Dataset,
        valid: Option<&'a Dataset>,
        device: &'a Device,
        stop: &'a Stop,
        on: &'a (dyn Fn(AutoProgress) + Sync),
    ) -> Result<Self> {
        auto.base.check_pairs(train)?;
        let rotations = rotation::rotations(train.n_queries(), valid.map_or(0, Dataset::n_queries), auto.base.seed)?;
        let metric = metric::parse(&auto.base.metric)?;
        let better = if metric.is_cost() { Better::Lower } else { Better::Higher };
        Ok(Race { auto, train, valid, device, stop, on, metric, better, began: Instant::now(), rotations })
    }

    /// All settings that are tried.
    fn settings(&self) -> Vec<TrainConfig> {
        let queries = self.rotations.first().map_or(0, |rotation| rotation.train.len());
        entrant::settings(&self.auto.base, self.auto.scaling, queries)
    }

    fn choose(&self, entrants: &[Entrant]) -> Result<choice::Chosen> {
        choice::choose(self.better, entrants).ok_or_else(|| {
            let failure = entrants.iter().find_map(|entrant| entrant.failure.clone());
            match (self.stop.check(), failure) {
                (Err(stopped), _) => stopped,
                (Ok(()), failure) => Error::Training(failure.unwrap_or_else(|| "no setting could be judged".into())),
            }
        })
    }

    /// All rounds; whether they were cut short.
    fn run(&self, settings: Vec<TrainConfig>) -> Result<(Vec<Entrant>, bool)> {
        let queries = self.train.n_queries() + self.valid.map_or(0, Dataset::n_queries);
        let mut entrants: Vec<Entrant> = settings.into_iter().map(|config| Entrant::new(config, queries)).collect();
        let seeds: Vec<u64> = Ensemble::seeds(self.auto.base.seed, self.rotations.len()).collect();
        let mut left = self.auto.trials.unwrap_or(usize::MAX);
        for (round, (rotation, &seed)) in self.rotations.iter().zip(&seeds).enumerate() {
            let mut places: Vec<usize> =
                if round == 0 { (0..entrants.len()).collect() } else { choice::survivors(self.better, &entrants) };
            if places.is_empty() {
                break;
            }
            if self.stop.check().is_err() || (round > 0 && self.is_late(round)) {
                return Ok((entrants, true));
            }
            // What is left of a budget goes to the best.
            let whole = places.len() <= left;
            places.truncate(left);
            left -= places.len();
            if !places.is_empty() && !self.round(&mut entrants, &places, rotation, seed, round)? {
                return Ok((entrants, true));
            }
            if !whole {
                break;
            }
        }
        Ok((entrants, false))
    }

    /// Whether there is no time for another round: all rounds before took this long.
    fn is_late(&self, rounds: usize) -> bool {
        let passed = self.began.elapsed();
        let next = passed.checked_div(rounds as u32).unwrap_or_default();
        self.auto.limit.is_some_and(|limit| passed + next / 2 > limit)
    }

    /// Asks for the memory of a round, all at once: its runs are in parallel, so that what one of them asks for does not count what
    /// the others are about to take.
    fn ask(&self, entrants: &[Entrant], places: &[usize], rotation: &Rotation) -> Result<()> {
        let configs = || places.iter().map(|&place| &entrants[place].config);
        let documents = |data: &Dataset, queries: &[usize]| -> u64 {
            let offsets = data.offsets();
            queries.iter().map(|&query| (offsets[query + 1] - offsets[query]) as u64).sum()
        };
        let valid = self.valid.map_or(0, |valid| valid.n_documents() as u64);
        let (train, judged) =
            (documents(self.train, &rotation.train), documents(self.train, &rotation.held).saturating_add(valid));
        let width = self.train.n_features() as u64;
        // A mapped file is scaled as it is read; what is judged by is joined in memory.
        let own = if self.train.is_mapped() { 0 } else { train };
        let copy = memory::bytes_of::<f32>(own.saturating_add(judged).saturating_mul(width));
        let kinds: BTreeSet<&str> =
            configs().filter(|config| config.scaling != ScaleKind::None).map(|config| config.scaling.name()).collect();
        // The parts, one copy of them for each scaling, and what is joined a second time while it is joined.
        let joined = memory::bytes_of::<f32>(judged.saturating_mul(width));
        let copies = copy.saturating_mul(1 + kinds.len() as u64).saturating_add(joined);
        let workers = rayon::current_num_threads().min(places.len());
        let trees = configs().filter(|config| matches!(config.method, Method::Boosting(_))).count().min(workers);
        let bins = boosting_bytes(train, width, TreeSettings::default().bins).saturating_mul(trees as u64);
        memory::ask(
            copies.saturating_add(bins),
            "the copies of the data that settings are compared on",
            "name a model, as in `model` linear, or a scaling, as in `scale` quantile",
        )
    }

    /// One run of each of these settings; whether all came to their end.
    fn round(
        &self,
        entrants: &mut [Entrant],
        places: &[usize],
        rotation: &Rotation,
        seed: u64,
        round: usize,
    ) -> Result<bool> {
        self.ask(entrants, places, rotation)?;
        let parts = rotation.data(self.train, self.valid)?;
        let halves = Halves::new(parts[1].n_queries(), seed)?;
        let mut scaled: BTreeMap<&'static str, Arc<TrainingData<'_>>> = BTreeMap::new();
        for &place in places {
            let kind = entrants[place].config.scaling;
            if !scaled.contains_key(kind.name()) {
                let data = TrainingData::with_scaler(Scaler::fit(kind, self.train), &parts[0], &parts[1])?;
                scaled.insert(kind.name(), Arc::new(data));
            }
        }
        let done = Mutex::new(Vec::<(usize, Outcome, f64)>::new());
        let before: usize = entrants.iter().map(|entrant| entrant.models.len()).sum();
        let values: Vec<(String, f64)> =
            entrants.iter().map(|entrant| (entrant.name(), entrant.summary().mean)).collect();
        let best = choice::ranked(self.better, entrants).first().map(|&place| values[place].clone());
        let jobs: Vec<(usize, TrainConfig)> =
            places.iter().map(|&place| (place, TrainConfig { seed, ..entrants[place].config.clone() })).collect();
        parallel::each(&jobs, |(place, config)| {
            let start = Instant::now();
            // The first run of all has no bound, so that there is a model in any case.
            let bounded = round > 0 || *place > 0;
            let outcome = self.one(config, &scaled[config.scaling.name()], &halves, bounded);
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
        let judged = || {
            let valid = self.valid.map_or(0, Dataset::n_queries);
            rotation.held.iter().copied().chain(first_valid..first_valid + valid)
        };
        let mut whole = true;
        for (place, outcome, seconds) in done {
            entrants[place].seconds += seconds;
            match outcome {
                Ok(Some((model, values))) => entrants[place].note(model, judged().zip(values)),
                Ok(None) => whole = false,
                Err(error @ (Error::Training(_) | Error::Mismatch(_) | Error::Config(_))) => {
                    entrants[place].failure = Some(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(whole)
    }

    /// One run to its end, or nothing where it is stopped.
    fn one(&self, config: &TrainConfig, data: &Arc<TrainingData<'_>>, halves: &Halves, bounded: bool) -> Outcome {
        let trainer = Trainer::on(config.clone(), data.clone(), self.device)?;
        let mut trainer = trainer.with_stop(self.stop.clone());
        let mut judge = CrossJudge::new(halves.clone(), self.better);
        let is_late = || bounded && self.auto.limit.is_some_and(|limit| self.began.elapsed() > limit);
        if train_judged(&mut trainer, &mut judge, &|_| !is_late())? == Finish::Stopped {
            return Ok(None);
        }
        let model = trainer.finish()?;
        Ok(Some((model, judge.values().to_vec())))
    }

    /// The average of all models of these settings, with all that is known of it.
    fn model(&self, entrants: &[Entrant], members: &[usize], report: &AutoReport, finish: Finish) -> Result<Model> {
        let models: Vec<Model> = members.iter().flat_map(|&place| entrants[place].models.iter().cloned()).collect();
        let mut model = Model::ensemble(&models, &self.sample())?;
        let estimate = members.iter().map(|&place| entrants[place].summary().mean).sum::<f64>() / members.len() as f64;
        let mut metrics = self.auto.metrics.clone();
        let name = self.metric.name();
        metrics.retain(|measure| measure.name() != name);
        metrics.insert(0, self.metric.clone());
        model.info.conventions = Conventions::default().to_string();
        for (split, data) in [("train", Some(self.train)), ("valid", self.valid)] {
            let Some(data) = data else { continue };
            model.info.data.insert(split.into(), DataInfo::of("", data));
            model.info.metrics.insert(split.into(), means(&metrics, &model.score(data)?, data));
        }
        if self.valid.is_none() {
            // Of its members, each on the queries that it was not trained on: all others have been seen by the model.
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
        // What was stated, beside what came out.
        if let Some(scaling) = self.auto.scaling {
            model.info.settings["scale"] = serde_json::json!(scaling);
        }
        if let Some(trials) = self.auto.trials {
            model.info.settings["trials"] = serde_json::json!(trials);
        }
        let best_value = Some(estimate).filter(|value| value.is_finite());
        model.info.run = Some(RunInfo { identity: self.identity(), finish, best_value });
        Ok(model)
    }

    /// Enough of the training queries to tell the spread of scores by.
    fn sample(&self) -> Dataset {
        let step = self.train.n_documents().div_ceil(SPREAD_DOCUMENTS).max(1);
        self.train.select(&(0..self.train.n_queries()).step_by(step).collect::<Vec<_>>())
    }

    fn identity(&self) -> String {
        let settings = serde_json::to_string(&self.auto.base).unwrap_or_default();
        let data = [Some(self.train), self.valid].map(|data| data.map_or(0, Dataset::fingerprint));
        let bounds = (self.auto.scaling, self.auto.trials, self.auto.limit);
        format!("{:016x}", Hasher::of(format!("auto {settings} {data:?} {bounds:?}").as_bytes()))
    }
}
