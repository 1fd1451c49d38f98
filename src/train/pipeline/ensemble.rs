//! The members of a run, and its identity.

use super::Splits;
use crate::data::Targets;
use crate::error::Result;
use crate::setting::TrainConfig;
use crate::train::{Ensemble, Trainer, TrainingData};
use burn::tensor::Device;
use std::sync::Arc;

/// The settings of each member: those of the run with the member's seed.
fn configs(config: &TrainConfig, members: usize) -> impl Iterator<Item = (usize, TrainConfig)> {
    Ensemble::seeds(config.seed, members).map(|seed| TrainConfig { seed, ..config.clone() }).enumerate()
}

/// The target probabilities of a member; members use them in turn.
fn targets_of(member: usize, targets: &[Targets]) -> Option<&Targets> {
    targets.get(member % targets.len().max(1))
}

impl<'a> Ensemble<'a> {
    /// Creates an ensemble whose members have the same settings except for the seed, and use `data` and `targets` in
    /// turn.
    ///
    /// # Errors
    /// The errors of [`Trainer::on`], [`Trainer::with_targets`] and [`Ensemble::new`].
    pub fn of(
        config: &TrainConfig,
        members: usize,
        data: &[Arc<TrainingData<'a>>],
        targets: &'a [Targets],
        device: &Device,
    ) -> Result<Self> {
        let start = |(member, config): (usize, TrainConfig)| {
            let trainer = Trainer::on(config, data[member % data.len()].clone(), device)?;
            match targets_of(member, targets) {
                Some(targets) => trainer.with_targets(targets),
                None => Ok(trainer),
            }
        };
        Ensemble::new(configs(config, members).map(start).collect::<Result<_>>()?)
    }
}

impl Splits {
    /// The [identity](Ensemble::identity) of the run that [`Ensemble::of`] creates on these data, computed before
    /// scaling.
    pub fn identity(&self, config: &TrainConfig, members: usize, targets: &[Targets]) -> String {
        let of = |(member, config): (usize, TrainConfig)| {
            let (train, valid) = self.of_member(member);
            Trainer::identity_of(&config, train, valid, targets_of(member, targets))
        };
        Ensemble::identity_of(&configs(config, members).map(of).collect::<Vec<_>>())
    }
}
