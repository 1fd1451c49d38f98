//! Successive halving: many settings are tried for a few epochs, the better third for three times as many, and so on.

use super::bounds::known;
use super::candidate::{Candidate, Evaluation, better};
use super::data::TuneData;
use super::distributed::{Report, assign};
use super::journal::Journal;
use super::outcome::{Ended, Found, Trial, order};
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

/// One in so many trials of a rung goes on to so many times the epochs.
const SHARE: usize = 3;
/// The rungs; on the last, runs have all their epochs.
pub const RUNGS: usize = 3;

/// A search to be done. Its outcome is a function of the fields and the data, unless time cuts it short.
#[derive(Debug, Clone)]
pub struct Search {
    /// What settings are drawn from.
    pub space: Space,
    /// How many are tried; the first is always the default: what `burnrank train` does with `--model mlp` and no further option,
    /// or with `--model trees` where only trees are searched.
    pub trials: usize,
    /// The measure that epochs and settings are chosen by.
    pub metric: String,
    /// The seed of the draws, of the halves of the validation queries and of every training run.
    pub seed: u64,
    /// The most epochs, where they are not those of the model's default.
    pub epochs: Option<usize>,
    /// Epochs without a better value before a run stops, where they are not those of the model's default.
    pub patience: Option<usize>,
    /// When no further epoch begins.
    pub until: Option<Instant>,
}

/// What a trial came to after a rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The number of the trial, from 0.
    pub trial: usize,
    /// The rung, from 1.
    pub rung: usize,
    /// What is known of it; nothing where training failed.
    pub evaluation: Option<Evaluation>,
    /// Why training failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How long the rung took.
    pub seconds: f64,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// The rung, from 1.
    pub rung: usize,
    /// The trials of the rung.
    pub trials: usize,
    /// Those that are done.
    pub done: usize,
}

/// What a search works with beside the data.
pub struct Surroundings<'s> {
    /// Where to train.
    pub device: &'s Device,
    /// Ends the search within a second of being set; what was found until then counts.
    pub stop: Stop,
    /// Where outcomes are kept, and known from.
    pub journal: Option<&'s Journal>,
    /// Is told of every trial that is done, from any thread.
    pub progress: &'s (dyn Fn(Progress) + Sync),
    /// The processes that share the trials; only the first has a journal. What is found does not depend on their number.
    pub member: Member,
}

impl Search {
    /// Refuses what makes no sense, before any work.
    ///
    /// # Errors
    /// The first such setting.
    pub fn check(&self) -> Result<()> {
        if self.trials == 0 {
            return Err(Error::Config("trials 0: expected a number of 1 or more".into()));
        }
        self.space.check()?;
        self.config(0, 1)?.check()?;
        self.config(1, 1)?.check()
    }

    /// Refuses training queries without an order to learn, unless the objective of the default needs none.
    ///
    /// # Errors
    /// As [`TrainConfig::check_pairs`], for the first fold that has none.
    pub fn check_pairs(&self, data: &TuneData<'_>) -> Result<()> {
        let config = self.config(0, 1)?;
        data.training().try_for_each(|train| config.check_pairs(train))
    }

    /// The configuration of a trial on this number of training queries, which decides how long the default is trained.
    ///
    /// # Errors
    /// When the space holds what it should not.
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

    /// What tells searches apart, as far as it decides what a trial comes to; the number of trials may grow.
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

    /// What all processes that share the trials must have in common, beside the data.
    fn facts(&self, device: &Device) -> Vec<Fact> {
        let backend = device::host_backend(device).map_or("GPU", Backend::name);
        let mut facts = setting_facts(&self.identity_of(backend));
        facts.push(("trials".into(), self.trials.to_string()));
        facts
    }

    /// Runs the search: to its end, until it is stopped, or until its time is over.
    ///
    /// # Errors
    /// When the data cannot be trained on by any settings, the journal holds values that this search cannot have, or the machine
    /// fails. A trial whose training fails is a result. A journal that cannot be written is reported by [`Journal::failure`].
    pub fn run(&self, data: &TuneData<'_>, around: &Surroundings<'_>) -> Result<Found> {
        self.check()?;
        let better = better(&self.metric)?;
        if around.member.size() > 1 {
            around.member.same(Error::Mismatch, "give all processes the same files", Ok(data.facts()))?;
            let remedy = "give all processes the same settings";
            around.member.same(Error::Config, remedy, Ok(self.facts(around.device)))?;
        }
        self.check_pairs(data)?;
        // Folds of fewer queries have more epochs.
        let queries = data.training_queries().min().unwrap_or(0);
        let configs = (0..self.trials).map(|trial| self.config(trial, queries)).collect::<Result<Vec<_>>>()?;
        let run = Run {
            search: self,
            configs: &configs,
            data,
            around,
            carried: configs.iter().map(|_| Mutex::new(None)).collect(),
            outcomes: configs.iter().map(|_| Mutex::new(None)).collect(),
            known: known(self, data, around)?,
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
            let kept: Vec<usize> = ranked.into_iter().map(|(trial, _)| trial).collect();
            // The default is always judged after as many epochs as the best.
            open.retain(|trial| *trial == 0 || kept.contains(trial));
            (0..self.trials).filter(|trial| !open.contains(trial)).for_each(|trial| *lock(&run.carried[trial]) = None);
            rung += 1;
        }
        let ended = match rung > RUNGS {
            true => Ended::Whole,
            false if run.stopped.load(Ordering::Relaxed) => Ended::Stopped,
            false => Ended::Time,
        };
        let outcomes: Vec<Option<Outcome>> = run
            .outcomes
            .into_iter()
            .map(|outcome| outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let trials = outcomes.into_iter().zip(configs).filter_map(|(outcome, config)| {
            let Outcome { trial, rung, evaluation, failure, seconds } = outcome?;
            Some(Trial { number: trial, config, rung, evaluation, failure, seconds })
        });
        Ok(Found { metric: self.metric.clone(), better, asked: self.trials, ended, trials: trials.collect() })
    }
}

/// The epochs that a trial has after a rung: a ninth of all, a third, all.
fn epochs_after(rung: usize, config: &TrainConfig) -> usize {
    config.epochs.div_ceil(SHARE.pow((RUNGS - rung.min(RUNGS)) as u32))
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A search at work.
struct Run<'r, 'd> {
    search: &'r Search,
    configs: &'r [TrainConfig],
    data: &'r TuneData<'d>,
    around: &'r Surroundings<'r>,
    /// Nets, as far as they are trained. Trees, which hold a copy of the data each, are grown anew on each rung.
    carried: Vec<Mutex<Option<Candidate<'d>>>>,
    /// The last outcome of each trial.
    outcomes: Vec<Mutex<Option<Outcome>>>,
    /// What the journal knows from before, by trial and rung.
    known: BTreeMap<(usize, usize), Outcome>,
    /// Which process runs each trial.
    owners: Mutex<Vec<Option<usize>>>,
    /// The trials of this process whose outcomes are new on this rung.
    written: Mutex<BTreeSet<usize>>,
    /// Whether a process was asked to stop.
    stopped: AtomicBool,
}

impl Run<'_, '_> {
    fn goes_on(&self) -> bool {
        !self.around.stop.asked() && self.search.until.is_none_or(|until| Instant::now() < until)
    }

    /// Takes these trials to the end of a rung, and tells whether all of them got there.
    fn rung(&self, rung: usize, trials: &[usize]) -> Result<bool> {
        let own = self.own(trials);
        let (done, whole) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Of several processes, the others are taken to be as far as this one.
        let share = |done: usize| done * trials.len() / own.len().max(1);
        let tell = |done| (self.around.progress)(Progress { rung, trials: trials.len(), done: share(done) });
        tell(0);
        let work = parallel::each(&own, |&trial| {
            whole.fetch_add(usize::from(self.trial(rung, trial)?), Ordering::Relaxed);
            tell(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(())
        });
        self.joined(work.map(|()| Report {
            whole: whole.into_inner() == own.len(),
            stopped: self.around.stop.asked(),
            outcomes: self.reported(&own),
        }))
    }

    /// The trials that this process runs; what is left of others is let go.
    fn own(&self, trials: &[usize]) -> Vec<usize> {
        let mut owners = lock(&self.owners);
        assign(&mut owners, trials, self.around.member.size());
        let rank = Some(self.around.member.rank());
        trials.iter().filter(|&&trial| owners[trial] != rank).for_each(|&trial| *lock(&self.carried[trial]) = None);
        trials.iter().copied().filter(|&trial| owners[trial] == rank).collect()
    }

    /// What trials of this process came to, for the others.
    fn reported(&self, own: &[usize]) -> Vec<(Outcome, bool)> {
        let written = std::mem::take(&mut *lock(&self.written));
        let outcome = |&trial: &usize| Some((lock(&self.outcomes[trial]).clone()?, written.contains(&trial)));
        if self.around.member.size() == 1 { Vec::new() } else { own.iter().filter_map(outcome).collect() }
    }

    /// Takes in what all processes came to, and tells whether all of their trials got to the end of the rung.
    fn joined(&self, own: Result<Report>) -> Result<bool> {
        let mut whole = true;
        if self.around.member.size() == 1 {
            let own = own?;
            self.stopped.store(own.stopped, Ordering::Relaxed);
            return Ok(own.whole);
        }
        for (rank, report) in Report::share(&self.around.member, own)?.into_iter().enumerate() {
            whole &= report.whole;
            self.stopped.fetch_or(report.stopped, Ordering::Relaxed);
            for (outcome, new) in report.outcomes.into_iter().filter(|_| rank != self.around.member.rank()) {
                if let Some(journal) = self.around.journal.filter(|_| new) {
                    journal.add(&outcome);
                }
                let trial = outcome.trial;
                *lock(&self.outcomes[trial]) = Some(outcome);
            }
        }
        Ok(whole)
    }

    /// Takes a trial to the end of a rung, and tells whether it got there.
    fn trial(&self, rung: usize, trial: usize) -> Result<bool> {
        let mut place = lock(&self.outcomes[trial]);
        if let Some(known) = self.known.get(&(trial, rung)) {
            *place = Some(known.clone());
            return Ok(true);
        }
        if let Some(outcome) = place.as_mut().filter(|outcome| is_over(outcome)) {
            // It keeps its value.
            outcome.rung = rung;
            return Ok(true);
        }
        if !self.goes_on() {
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
            self.around.journal.inspect(|journal| journal.add(&outcome));
            lock(&self.written).insert(trial);
        }
        let is_judged = |evaluation: &Evaluation| evaluation.chosen_epochs.iter().flatten().all(|&epoch| epoch > 0);
        if whole || outcome.evaluation.as_ref().is_some_and(is_judged) {
            *place = Some(outcome);
        }
        Ok(whole)
    }

    fn train(&self, rung: usize, trial: usize) -> Result<(Evaluation, bool)> {
        let config = &self.configs[trial];
        let mut candidate = match lock(&self.carried[trial]).take() {
            Some(candidate) => candidate,
            None => {
                let of_fold = |queries| self.search.config(trial, queries);
                let configs = self.data.training_queries().map(of_fold).collect::<Result<_>>()?;
                Candidate::of_folds(configs, self.data, self.around.device, &self.around.stop)?
            }
        };
        let whole = candidate.train_to(epochs_after(rung, config), &|| self.goes_on())?;
        let evaluation = candidate.evaluation();
        if config.method == Method::Gradient {
            *lock(&self.carried[trial]) = Some(candidate);
        }
        Ok((evaluation, whole))
    }
}

/// Whether further epochs would not change an outcome.
fn is_over(outcome: &Outcome) -> bool {
    outcome.evaluation.as_ref().is_none_or(|evaluation| evaluation.exhausted)
}

/// Whether an error is that of the settings of one trial, which others need not share.
fn is_the_trials(error: &Error) -> bool {
    matches!(error, Error::Training(_) | Error::Mismatch(_) | Error::Data(_) | Error::Config(_))
}

#[cfg(test)]
mod tests;
