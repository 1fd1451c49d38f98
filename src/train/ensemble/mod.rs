//! Ensembles: training runs whose models are averaged into one.

mod finish;
mod resume;
#[cfg(test)]
mod tests;

use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::model::{EpochRecord, Finish, shape_of_sum};
use crate::setting::{Method, TrainConfig};
use crate::stop::Stop;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::sync::Arc;

/// Training runs in parallel, whose models are averaged into one [`Model`](crate::Model) with a single scorer.
///
/// Members can differ in seed, objective, number of hidden units, training queries and other settings, as long as their
/// models [can be summed](crate::Scorer::weighted_sum) and metric and scaling are the same. An ensemble of one member
/// equals its run, to the byte.
///
/// ```
/// use burnrank::train::{Ensemble, TrainingData};
/// use burnrank::{Synthetic, TrainConfig, Trainer, device};
/// use std::sync::Arc;
/// let generator = Synthetic { queries: 30, ..Synthetic::net() }.generator()?;
/// let (train, valid) = (generator.part(0..20)?.0, generator.part(20..30)?.0);
/// let config = TrainConfig { epochs: 3, ..TrainConfig::default() };
/// let data = Arc::new(TrainingData::new(config.scaling, train, valid)?);
/// let members = Ensemble::seeds(config.seed, 4).map(|seed| {
///     Trainer::on(TrainConfig { seed, ..config.clone() }, data.clone(), &device::open("auto")?)
/// });
/// let ensemble = Ensemble::new(members.collect::<Result<_, _>>()?)?;
/// let model = ensemble.train()?;
/// assert_eq!((model.info.members.len(), model.info.ranker.architecture.hidden()), (4, &[40][..]));
/// # Ok::<(), burnrank::Error>(())
/// ```
pub struct Ensemble<'a> {
    members: Vec<Trainer<'a>>,
}

impl<'a> Ensemble<'a> {
    /// Creates an ensemble of runs.
    ///
    /// # Errors
    /// If there is no run, the runs have different metrics or scalings, or their models cannot be summed.
    pub fn new(members: Vec<Trainer<'a>>) -> Result<Self> {
        let shape = |member: &Trainer<'_>| member.config.shape(&member.data.scaler);
        if members.len() != 1 {
            shape_of_sum(&members.iter().map(shape).collect::<Vec<_>>())?;
        }
        if let Some((first, others)) = members.split_first() {
            if let Some(other) = others.iter().find(|other| other.config.metric != first.config.metric) {
                let (one, two) = (&first.config.metric, &other.config.metric);
                return Err(Error::Config(format!(
                    "members use different metrics, {one} and {two}: use the same metric for all"
                )));
            }
            if others.iter().any(|other| other.data.scaler != first.data.scaler) {
                return Err(Error::Mismatch(
                    "members whose features are scaled differently cannot be averaged: use the same scaling for all, \
                     fitted on the same data (TrainingData::with_same_scaling)"
                        .into(),
                ));
            }
        }
        Ok(Ensemble { members })
    }

    /// The seeds of `count` members: the first is `seed` itself, the others are random numbers that depend on it.
    ///
    /// ```
    /// use burnrank::train::Ensemble;
    /// assert_eq!(Ensemble::seeds(7, 3).next(), Some(7));
    /// assert!(Ensemble::seeds(7, 3).skip(1).all(|seed| !Ensemble::seeds(8, 3).any(|other| other == seed)));
    /// ```
    pub fn seeds(seed: u64, count: usize) -> impl Iterator<Item = u64> {
        (0..count as u64).map(move |member| match member {
            0 => seed,
            _ => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(member);
                // Small enough to be exact in every JSON parser.
                u64::from(random.random::<u32>())
            }
        })
    }

    /// Whether the settings use no random numbers, so that members with different seeds would be equal.
    pub fn is_deterministic(config: &TrainConfig) -> bool {
        match &config.method {
            Method::Boosting(trees) => {
                trees.subsample == 1.0 && trees.feature_fraction == 1.0 && !config.objective.is_random()
            }
            _ => false,
        }
    }

    /// Like [`Trainer::with_metrics`], for all members.
    #[must_use]
    pub fn with_metrics(mut self, metrics: &[Arc<dyn Metric>]) -> Self {
        self.members = self.members.into_iter().map(|member| member.with_metrics(metrics.to_vec())).collect();
        self
    }

    /// Like [`Trainer::with_metric`], for all members.
    ///
    /// # Errors
    /// The errors of [`Trainer::with_metric`].
    pub fn with_metric(mut self, metric: &Arc<dyn Metric>) -> Result<Self> {
        let members = self.members.into_iter().map(|member| member.with_metric(metric.clone()));
        self.members = members.collect::<Result<_>>()?;
        Ok(self)
    }

    /// Like [`Trainer::with_stop`], for all members.
    #[must_use]
    pub fn with_stop(mut self, stop: &Stop) -> Self {
        self.members = self.members.into_iter().map(|member| member.with_stop(stop.clone())).collect();
        self
    }

    /// The members.
    pub fn members(&self) -> &[Trainer<'a>] {
        &self.members
    }

    /// Like [`Trainer::identity`]; equals it for a single member.
    pub fn identity(&self) -> String {
        Self::identity_of(&self.members.iter().map(Trainer::identity).collect::<Vec<_>>())
    }

    /// The identity of an ensemble of runs with these identities.
    pub fn identity_of(members: &[String]) -> String {
        match members {
            [only] => only.clone(),
            members => super::identity::hash(&members.join(" ")),
        }
    }

    /// Returns why training has finished, or `None` while any member has not.
    ///
    /// The reason is the first of these that any member has: diverged, all epochs run, out of patience, converged.
    pub fn finished(&self) -> Option<Finish> {
        let all: Option<Vec<Finish>> = self.members.iter().map(Trainer::finished).collect();
        all.and_then(|all| first_reason(&all))
    }

    /// The number of epochs that all unfinished members have run, or the longest run if all have finished.
    pub fn epochs(&self) -> usize {
        let lengths = |going: bool| {
            let counted = self.members.iter().filter(move |member| !going || member.finished().is_none());
            counted.map(|member| member.history().len())
        };
        lengths(true).min().or_else(|| lengths(false).max()).unwrap_or(0)
    }

    /// The epochs of all members after the first `after` and up to [`Ensemble::epochs`], sorted by epoch and member.
    pub fn history(&self, after: usize) -> Vec<EpochRecord> {
        let whole = self.epochs();
        let several = self.members.len() > 1;
        let of = |(place, member): (usize, &Trainer<'_>)| {
            let number = several.then_some(place);
            let epochs = member.history().iter().take(whole).skip(after);
            epochs.map(|epoch| EpochRecord { member: number, ..epoch.clone() }).collect::<Vec<_>>()
        };
        let mut history: Vec<EpochRecord> = self.members.iter().enumerate().flat_map(of).collect();
        history.sort_by_key(|epoch| (epoch.epoch, epoch.member));
        history
    }

    /// Runs one epoch of each unfinished member, in parallel.
    ///
    /// The result does not depend on the number of threads. After an interrupted epoch, only members that are behind
    /// the others run.
    ///
    /// # Errors
    /// The errors of [`Trainer::epoch`].
    pub fn epoch(&mut self) -> Result<()> {
        let (whole, several) = (self.epochs(), self.members.len() > 1);
        let next = self.members.par_iter_mut().enumerate();
        let next = next.filter(|(_, member)| member.finished().is_none() && member.history().len() == whole);
        let run = |(place, member): (usize, &mut Trainer<'a>)| match member.epoch() {
            Ok(_) => Ok(()),
            Err(Error::Training(message)) if several => Err(Error::Training(format!("member {place}: {message}"))),
            Err(error) => Err(error),
        };
        // Run all, then return the first error in member order, so that it does not depend on threads.
        next.map(run).collect::<Vec<_>>().into_iter().collect()
    }
}

/// The reason with the highest precedence.
fn first_reason(reasons: &[Finish]) -> Option<Finish> {
    let order = [Finish::Stopped, Finish::Diverged, Finish::Epochs, Finish::Patience, Finish::Converged];
    order.into_iter().find(|reason| reasons.contains(reason))
}
