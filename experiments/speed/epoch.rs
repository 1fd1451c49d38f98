//! Epochs of the library's own training loop.

use super::shape::HIDDEN;
use super::timing::{Patience, Timing, with_peak};
use crate::harness::NetShape;
use burnrank::{
    Activation, Architecture, Dataset, Device, GradientPath, Objective, OptimizerKind, ScaleKind, Schedule,
    TrainConfig, Trainer,
};

/// What the trainer judges after each epoch: cheap to compute, because it is not what is measured.
pub const METRIC: &str = "p@1";

/// What an epoch took.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    pub timing: Timing,
    /// Pairs with a lambda, in the epoch that had the most.
    pub pairs: f64,
    pub peak: Option<f64>,
}

/// The net of one or two layers that is timed.
pub fn architecture(net: NetShape) -> Architecture {
    match net {
        NetShape::Linear => Architecture::Linear,
        NetShape::TwoLayer => Architecture::Mlp { hidden: vec![HIDDEN], activation: Activation::Sigmoid },
    }
}

/// The settings of all epochs here: sigmoid units, Adam, endless.
pub fn config(
    objective: &str,
    net: NetShape,
    gradient: GradientPath,
    batch: usize,
    seed: u64,
) -> anyhow::Result<TrainConfig> {
    Ok(TrainConfig {
        objective: Objective::parse(objective)?,
        architecture: architecture(net),
        scaling: ScaleKind::None,
        optimizer: OptimizerKind::Adam,
        learning_rate: 1e-3,
        schedule: Schedule::Constant,
        batch_queries: batch,
        gradient,
        epochs: usize::MAX,
        patience: 0,
        metric: METRIC.into(),
        seed,
        ..TrainConfig::default()
    })
}

/// Times whole epochs of a [`Trainer`] whose validation set is one query.
///
/// Each time is the record's own: forward, lambdas, backward and Adam for every batch, and besides them what a trainer
/// cannot leave out: one query of validation, and P@1 of the training queries from the scores that it has anyway.
pub fn measure(config: TrainConfig, data: &Dataset, device: &Device, patience: Patience) -> anyhow::Result<Epoch> {
    let shortest = (0..data.n_queries()).min_by_key(|&query| data.query(query).labels.len());
    let valid = data.select(&shortest.map(|query| vec![query]).unwrap_or_default());
    let mut trainer = Trainer::new(config, data, &valid, device)?;
    let mut pairs = 0.0;
    let (timing, peak) = with_peak(|| {
        patience.repeat(|| {
            let record = trainer.epoch()?;
            // Trained for MRR, queries whose first document is relevant have no pair left: a fast machine trains until all have none.
            pairs = f64::max(pairs, record.effective_pairs as f64);
            Ok(record.seconds)
        })
    })?;
    Ok(Epoch { timing, pairs, peak })
}
