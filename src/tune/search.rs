//! Successive halving: many configurations are trained for a few epochs, the best third for three times as many, and so on.

use super::bounds::journal_outcomes;
use super::candidate::{Candidate, Evaluation, better};
use super::data::TuneData;
use super::distributed::{Report, assign};
use super::journal::Journal;
use super::outcome::{SearchEnd, SearchResult, Trial, order};
use super::parallel;
use super::space::Space;
use crate::device::{self, Backend};
use crate::distributed::{Fact, Member, setting_facts};
use crate::error::{Error, Result};
use crate::setting::{Method, TrainConfig, resolve};
use crate::stop::Stop;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One in three trials of a rung is promoted to the next, with three times the epochs.
const SHARE: usize = 3;
/// Number of rungs; on the last, runs train for all their epochs.
pub const RUNGS: usize = 3;

/// A search. Its result depends only on these fields and the data, unless it is cut short.
#[derive(Debug, Clone)]
pub struct Search {
    /// Distribution of configurations.
    pub space: Space,
    /// Number of trials. The first is always the default: the settings of `burnrank train` with `--model mlp` and no further
    /// option, or with `--model trees` if only trees are searched.
    pub trials: usize,
    /// The metric that selects epochs and settings.
    pub metric: String,
    /// Random seed of the draws, of the halves of the validation queries and of every training run.
    pub seed: u64,
    /// Maximum number of epochs; `None` for the model's default.
    pub epochs: Option<usize>,
    /// Number of epochs without improvement before a run stops; `None` for the model's default.
    pub patience: Option<usize>,
    /// Time limit: no epoch starts after this.
    pub until: Option<Instant>,
}

/// Outcome of a trial after a rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Number of the trial, from 0.
    pub trial: usize,
    /// The rung, from 1.
    pub rung: usize,
    /// Its evaluation; `None` if training failed.
    pub evaluation: Option<Evaluation>,
    /// Why training failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Time of the rung in seconds.
    pub seconds: f64,
}

/// Progress of a search.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// The rung, from 1.
    pub rung: usize,
    /// Number of trials on the rung.
    pub trials: usize,
    /// Number of completed trials.
    pub done: usize,
}

/// Resources of a search other than the data.
pub struct SearchContext<'s> {
    /// Device to train on.
    pub device: &'s Device,
    /// Stops the search within a second; completed trials are kept.
    pub stop: Stop,
    /// Journal that outcomes are read from and written to.
    pub journal: Option<&'s Journal>,
    /// Called after every trial, from any thread.
    pub progress: &'s (dyn Fn(Progress) + Sync),
    /// The processes that share the trials; only the first has a journal. Results do not depend on their number.
    pub member: Member,
}

impl Search {
    /// Validates the settings of the search.
    ///
    /// # Errors
    /// The first invalid setting.
    pub fn check(&self) -> Result<()> {
        if self.trials == 0 {
            return Err(Error::Config("trials 0: expected a number of 1 or more".into()));
        }
        self.space.check()?;
        self.config(0, 1)?.check()?;
        self.config(1, 1)?.check()
    }

    /// Rejects training queries without pairs to learn from, unless the default's objective needs none.
    ///
    /// # Errors
    /// The error of [`TrainConfig::check_pairs`] for the first fold without pairs.
    pub fn check_pairs(&self, data: &TuneData<'_>) -> Result<()> {
        let config = self.config(0, 1)?;
        data.training().try_for_each(|train| config.check_pairs(train))
    }

    /// Returns the configuration of a trial. The number of training queries determines how long the default is trained.
    ///
    /// # Errors
    /// If the space is invalid.
    pub fn config(&self, trial: usize, queries: usize) -> Result<TrainConfig> {
        let is_default = trial == 0;
        let (model, mut given) =
            if is_default { self.space.default_given()? } else { self.space.draw_given(self.seed, trial as u64)? };
        given.state("metric", &self.metric)?;
        given.state("seed", self.seed)?;
        for (key, number) in [("epochs", self.epochs), ("patience", self.patience)] {
            number.map_or(Ok(()), |number| given.state(key, number))?;
        }
        resolve(&model, &given, Some(queries).filter(|_| is_default))
    }

    /// Returns everything that determines the outcome of a trial; the number of trials may grow.
    pub fn identity(&self, data: &TuneData<'_>, backend: &str) -> Value {
        let mut identity = self.identity_of(backend);
        identity["data"] = json!(data.fingerprints());
        identity
    }

    /// The identity without the data.
    fn identity_of(&self, backend: &str) -> Value {
        json!({
            "version": 1,
            "space": self.space,
            "metric": self.metric,
            "seed": self.seed,
            "epochs": self.epochs,
            "patience": self.patience,
            "backend": backend,
        })
    }

    /// Facts on which all processes must agree, other than the data.
    fn facts(&self, device: &Device) -> Vec<Fact> {
        let backend = device::host_backend(device).map_or("GPU", Backend::name);
        let mut facts = setting_facts(&self.identity_of(backend));
        facts.push(("trials".into(), self.trials.to_string()));
        facts
    }

    /// Runs the search until it is complete, stopped, or out of time.
    ///
    /// # Errors
    /// If the data cannot be trained on with any settings, the journal contains impossible outcomes, or the machine fails. A
    /// trial whose training fails is not an error. A journal that cannot be written is reported by [`Journal::failure`].
    pub fn run(&self, data: &TuneData<'_>, context: &SearchContext<'_>) -> Result<SearchResult> {
        self.check()?;
        let better = better(&self.metric)?;
        if context.member.size() > 1 {
            context.member.same(Error::Mismatch, "give all processes the same files", Ok(data.facts()))?;
            let remedy = "give all processes the same settings";
            context.member.same(Error::Config, remedy, Ok(self.facts(context.device)))?;
        }
        self.check_pairs(data)?;
        // Folds with fewer queries have more epochs.
        let queries = data.training_queries().min().unwrap_or(0);
        let configs = (0..self.trials).map(|trial| self.config(trial, queries)).collect::<Result<Vec<_>>>()?;
        let run = Run {
            search: self,
            configs: &configs,
            data,
            context,
            trained: configs.iter().map(|_| Mutex::new(None)).collect(),
            outcomes: configs.iter().map(|_| Mutex::new(None)).collect(),
            stored: journal_outcomes(self, data, context)?,
            owners: Mutex::new(vec![None; configs.len()]),
            written: Mutex::default(),
            stopped: AtomicBool::new(false),
        };
        let (mut open, mut rung): (Vec<usize>, _) = ((0..self.trials).collect(), 1);
        while rung <= RUNGS && run.rung(rung, &open)? {
            let mut ranked: Vec<(usize, Evaluation)> = Vec::new();
            for &trial in &open {
                let evaluation = lock(&run.outcomes[trial]).as_ref().and_then(|outcome| outcome.evaluation.clone());
                ranked.extend(evaluation.map(|evaluation| (trial, evaluation)));
            }
            ranked.sort_by(|a, b| order(better, a, b));
            ranked.truncate(open.len().div_ceil(SHARE));
            let promoted: Vec<usize> = ranked.into_iter().map(|(trial, _)| trial).collect();
            // The default is always evaluated after as many epochs as the best.
            open.retain(|trial| *trial == 0 || promoted.contains(trial));
            (0..self.trials).filter(|trial| !open.contains(trial)).for_each(|trial| *lock(&run.trained[trial]) = None);
            rung += 1;
        }
        let ended = match rung > RUNGS {
            true => SearchEnd::Completed,
            false if run.stopped.load(Ordering::Relaxed) => SearchEnd::Stopped,
            false => SearchEnd::TimedOut,
        };
        let outcomes: Vec<Option<Outcome>> = run
            .outcomes
            .into_iter()
            .map(|outcome| outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let trials = outcomes
            .into_iter()
            .zip(configs)
            .filter_map(|(outcome, config)| {
                let Outcome { trial, rung, evaluation, failure, seconds } = outcome?;
                Some(Trial { number: trial, config, rung, evaluation, failure, seconds })
            })
            .collect();
        Ok(SearchResult { metric: self.metric.clone(), better, requested: self.trials, ended, trials })
    }
}

/// Number of epochs of a trial after a rung: one ninth of all, one third, all.
fn epochs_after(rung: usize, config: &TrainConfig) -> usize {
    config.epochs.div_ceil(SHARE.pow((RUNGS - rung.min(RUNGS)) as u32))
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of a running search.
struct Run<'r, 'd> {
    search: &'r Search,
    configs: &'r [TrainConfig],
    data: &'r TuneData<'d>,
    context: &'r SearchContext<'r>,
    /// Partially trained nets. Trees, which hold a copy of the data each, are retrained on each rung.
    trained: Vec<Mutex<Option<Candidate<'d>>>>,
    /// The last outcome of each trial.
    outcomes: Vec<Mutex<Option<Outcome>>>,
    /// The outcomes stored in the journal, by trial and rung.
    stored: BTreeMap<(usize, usize), Outcome>,
    /// The process that runs each trial.
    owners: Mutex<Vec<Option<usize>>>,
    /// The trials of this process with new outcomes on this rung.
    written: Mutex<BTreeSet<usize>>,
    /// Whether a process was asked to stop.
    stopped: AtomicBool,
}

impl Run<'_, '_> {
    fn may_continue(&self) -> bool {
        !self.context.stop.asked() && self.search.until.is_none_or(|until| Instant::now() < until)
    }

    /// Runs these trials to the end of a rung. Returns whether all of them got there.
    fn rung(&self, rung: usize, trials: &[usize]) -> Result<bool> {
        let assigned = self.assigned(trials);
        let (done, complete) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Other processes are assumed to have made the same progress as this one.
        let share = |done: usize| done * trials.len() / assigned.len().max(1);
        let report = |done| (self.context.progress)(Progress { rung, trials: trials.len(), done: share(done) });
        report(0);
        let work = parallel::each(&assigned, |&trial| {
            complete.fetch_add(usize::from(self.trial(rung, trial)?), Ordering::Relaxed);
            report(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(())
        });
        self.joined(work.map(|()| Report {
            whole: complete.into_inner() == assigned.len(),
            stopped: self.context.stop.asked(),
            outcomes: self.reported(&assigned),
        }))
    }

    /// The trials that this process runs; candidates of other trials are dropped.
    fn assigned(&self, trials: &[usize]) -> Vec<usize> {
        let mut owners = lock(&self.owners);
        assign(&mut owners, trials, self.context.member.size());
        let rank = Some(self.context.member.rank());
        trials.iter().filter(|&&trial| owners[trial] != rank).for_each(|&trial| *lock(&self.trained[trial]) = None);
        trials.iter().copied().filter(|&trial| owners[trial] == rank).collect()
    }

    /// Outcomes of this process's trials, for the other processes.
    fn reported(&self, trials: &[usize]) -> Vec<(Outcome, bool)> {
        let written = std::mem::take(&mut *lock(&self.written));
        let outcome = |&trial: &usize| Some((lock(&self.outcomes[trial]).clone()?, written.contains(&trial)));
        if self.context.member.size() == 1 { Vec::new() } else { trials.iter().filter_map(outcome).collect() }
    }

    /// Collects the outcomes of all processes. Returns whether all of their trials reached the end of the rung.
    fn joined(&self, report: Result<Report>) -> Result<bool> {
        let mut whole = true;
        if self.context.member.size() == 1 {
            let report = report?;
            self.stopped.store(report.stopped, Ordering::Relaxed);
            return Ok(report.whole);
        }
        for (rank, report) in Report::share(&self.context.member, report)?.into_iter().enumerate() {
            whole &= report.whole;
            self.stopped.fetch_or(report.stopped, Ordering::Relaxed);
            for (outcome, new) in report.outcomes.into_iter().filter(|_| rank != self.context.member.rank()) {
                if let Some(journal) = self.context.journal.filter(|_| new) {
                    journal.add(&outcome);
                }
                let trial = outcome.trial;
                *lock(&self.outcomes[trial]) = Some(outcome);
            }
        }
        Ok(whole)
    }

    /// Runs a trial to the end of a rung. Returns whether it got there.
    fn trial(&self, rung: usize, trial: usize) -> Result<bool> {
        let mut place = lock(&self.outcomes[trial]);
        if let Some(outcome) = self.stored.get(&(trial, rung)) {
            *place = Some(outcome.clone());
            return Ok(true);
        }
        if let Some(outcome) = place.as_mut().filter(|outcome| is_over(outcome)) {
            // The value does not change.
            outcome.rung = rung;
            return Ok(true);
        }
        if !self.may_continue() {
            return Ok(false);
        }
        let start = Instant::now();
        let before = place.as_ref().map_or(0.0, |outcome| outcome.seconds);
        let (evaluation, failure, whole) = match self.train(rung, trial) {
            Ok((evaluation, whole)) => (Some(evaluation), None, whole),
            Err(error) if is_the_trials(&error) => (None, Some(error.to_string()), true),
            Err(error) => return Err(error),
        };
        let seconds = before + start.elapsed().as_secs_f64();
        let outcome = Outcome { trial, rung, evaluation, failure, seconds };
        if whole {
            self.context.journal.inspect(|journal| journal.add(&outcome));
            lock(&self.written).insert(trial);
        }
        let is_evaluated = |evaluation: &Evaluation| evaluation.chosen_epochs.iter().flatten().all(|&epoch| epoch > 0);
        if whole || outcome.evaluation.as_ref().is_some_and(is_evaluated) {
            *place = Some(outcome);
        }
        Ok(whole)
    }

    fn train(&self, rung: usize, trial: usize) -> Result<(Evaluation, bool)> {
        let config = &self.configs[trial];
        let mut candidate = match lock(&self.trained[trial]).take() {
            Some(candidate) => candidate,
            None => {
                let of_fold = |queries| self.search.config(trial, queries);
                let configs = self.data.training_queries().map(of_fold).collect::<Result<_>>()?;
                Candidate::of_folds(configs, self.data, self.context.device, &self.context.stop)?
            }
        };
        let whole = candidate.train_to(epochs_after(rung, config), &|| self.may_continue())?;
        let evaluation = candidate.evaluation();
        if config.method == Method::Gradient {
            *lock(&self.trained[trial]) = Some(candidate);
        }
        Ok((evaluation, whole))
    }
}

/// Returns whether further epochs would not change an outcome.
fn is_over(outcome: &Outcome) -> bool {
    outcome.evaluation.as_ref().is_none_or(|evaluation| evaluation.exhausted)
}

/// Returns whether an error is caused by the settings of one trial only.
fn is_the_trials(error: &Error) -> bool {
    matches!(error, Error::Training(_) | Error::Mismatch(_) | Error::Data(_) | Error::Config(_))
}

#[cfg(test)]
mod tests;
