//! The members of a run, and what distinguishes it from others.

use super::Splits;
use crate::data::Targets;
use crate::error::Result;
use crate::setting::TrainConfig;
use crate::train::{Ensemble, Trainer, TrainingData};
use burn::tensor::Device;
use std::sync::Arc;

/// The settings of each member: those of the run, each with its own seed.
fn configs(config: &TrainConfig, members: usize) -> impl Iterator<Item = (usize, TrainConfig)> {
    Ensemble::seeds(config.seed, members).map(|seed| TrainConfig { seed, ..config.clone() }).enumerate()
}

/// The target probabilities of a member; members take them in turn.
fn targets_of(member: usize, targets: &[Targets]) -> Option<&Targets> {
    targets.get(member % targets.len().max(1))
}

impl<'a> Ensemble<'a> {
    /// So many members of the same settings but for their seeds; they take data and targets in turn.
    ///
    /// # Errors
    /// As [`Trainer::on`], [`Trainer::with_targets`] and [`Ensemble::new`].
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
    /// The [identity](Ensemble::identity) of the run that [`Ensemble::of`] starts on these data, before anything is scaled.
    pub fn identity(&self, config: &TrainConfig, members: usize, targets: &[Targets]) -> String {
        let of = |(member, config): (usize, TrainConfig)| {
            let (train, valid) = self.of_member(member);
            Trainer::identity_of(&config, train, valid, targets_of(member, targets))
        };
        Ensemble::identity_of(&configs(config, members).map(of).collect::<Vec<_>>())
    }
}
