//! How the paper trains: RankNet or LambdaRank, linear or two-layer nets, so many epochs in all, from new random
//! weights whenever the training cost stalls.

use crate::harness::tuning::tune;
use crate::harness::{Execution, NetShape, Ticker, once, train, train_until};
use anyhow::Context;
use burnrank::train::TrainingData;
use burnrank::{
    Activation, Architecture, EpochRecord, Init, Model, Objective, OptimizerKind, ScaleKind, Schedule, TrainConfig,
};
use std::sync::Arc;

/// Epochs without a lower training cost before training starts again.
pub const STALLED: usize = 50;
/// Below this share of the first step size weights hardly move any more.
pub const FROZEN: f64 = 1e-3;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    RankNet,
    LambdaRank,
}

/// Both, the older first.
pub const METHODS: [Method; 2] = [Method::RankNet, Method::LambdaRank];
/// Both nets of the paper.
pub const NETS: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];

/// The step sizes of a short search, of the same width for both methods.
///
/// RankNet's gradient sums over some hundred pairs of weight 1, LambdaRank's over the same pairs with weights that are a
/// hundred times smaller: each has its own range.
pub fn learning_rates(method: Method) -> [f64; 5] {
    match method {
        Method::RankNet => [1e-5, 3e-5, 1e-4, 3e-4, 1e-3],
        Method::LambdaRank => [1e-3, 3e-3, 1e-2, 3e-2, 1e-1],
    }
}

/// The paper's settings: plain gradient descent, one update per query, a step size that shrinks when the cost rises.
pub fn config(method: Method, net: NetShape, epochs: usize, seed: u64) -> anyhow::Result<TrainConfig> {
    Ok(TrainConfig {
        objective: Objective::parse(match method {
            Method::RankNet => "ranknet",
            Method::LambdaRank => "lambdarank:ndcg",
        })?,
        architecture: match net {
            NetShape::Linear => Architecture::Linear,
            NetShape::TwoLayer => Architecture::Mlp { hidden: vec![10], activation: Activation::Tanh },
        },
        init: Init::Burn,
        scaling: ScaleKind::None,
        metric: "ndcg@10".into(),
        epochs,
        learning_rate: learning_rates(method)[2],
        optimizer: OptimizerKind::Sgd,
        batch_queries: 1,
        schedule: Schedule::Shrink,
        patience: 0,
        seed,
        ..TrainConfig::default()
    })
}

/// A whole training.
pub struct Trained {
    /// That of the best validation value over all starts.
    pub model: Model,
    pub valid: f64,
    /// Over all starts, idle ones included.
    pub epochs: usize,
    pub restarts: usize,
    /// Counted over all starts.
    pub best_epoch: usize,
}

/// Trains for all epochs of the settings, with as many starts as it takes.
pub fn run(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    data: &Arc<TrainingData<'_>>,
    (ticker, (from, to)): (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Trained> {
    let is_cost = config.objective.is_cost();
    let (mut best, mut used, mut starts): (Option<Trained>, usize, usize) = (None, 0, 0);
    while used < config.epochs {
        let share = |epochs: usize| from + (to - from) * epochs.min(config.epochs) as f64 / config.epochs as f64;
        let seed = config.seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(starts as u64));
        let start = TrainConfig { seed, epochs: config.epochs - used, ..config.clone() };
        let place = (ticker, (share(used), share(config.epochs)));
        let name = format!("{key} start {starts}");
        let enough = |history: &[EpochRecord]| frozen(history) || stalled(history, is_cost);
        let model = train_until(execution, &name, &start, data, place, enough)?;
        let valid = model.best_value().context("no epoch was run")?;
        let (run, best_epoch) = (&model.history, used + model.info.best_epoch);
        used += run.len() + if frozen(run) && !stalled(run, is_cost) { idle(run, is_cost) } else { 0 };
        if best.as_ref().is_none_or(|best| valid > best.valid) {
            best = Some(Trained { model, valid, epochs: 0, restarts: 0, best_epoch });
        }
        starts += 1;
    }
    let best = best.context("no epoch was asked for")?;
    Ok(Trained { epochs: used.min(config.epochs), restarts: starts - 1, ..best })
}

/// The training cost of an epoch: its loss, or how far NDCG is from where it could be.
fn cost(record: &EpochRecord, is_cost: bool) -> f64 {
    if is_cost { record.loss } else { -record.train }
}

/// Epochs since the lowest training cost.
fn waited(history: &[EpochRecord], is_cost: bool) -> usize {
    let costs = history.iter().map(|record| cost(record, is_cost));
    let lowest =
        costs.enumerate().fold((0, f64::INFINITY), |best, (at, cost)| if cost < best.1 { (at, cost) } else { best });
    history.len().saturating_sub(lowest.0 + 1)
}

fn stalled(history: &[EpochRecord], is_cost: bool) -> bool {
    waited(history, is_cost) >= STALLED
}

/// What is left to wait.
fn idle(history: &[EpochRecord], is_cost: bool) -> usize {
    STALLED.saturating_sub(waited(history, is_cost))
}

fn frozen(history: &[EpochRecord]) -> bool {
    match history {
        [first, .., last] => last.learning_rate < FROZEN * first.learning_rate,
        _ => false,
    }
}

/// A short search: what each step size reaches on validation, in rising order.
pub fn search(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    data: &Arc<TrainingData<'_>>,
    (grid, extensions): (&[f64], usize),
    ticker: &Ticker<'_>,
) -> anyhow::Result<Vec<(f64, f64)>> {
    let tuned = tune(grid, extensions, |learning_rate| {
        let key = format!("{key} step {learning_rate}");
        once(execution, &key, || {
            let config = TrainConfig { learning_rate, ..config.clone() };
            match train(execution, &key, &config, data, (ticker, (0.0, 0.0)), |_| false) {
                Ok(model) => model.best_value().context("no epoch was run"),
                // A step size from which scores grow without end reaches nothing.
                Err(error) if matches!(error.downcast_ref(), Some(burnrank::Error::Training(_))) => Ok(0.0),
                Err(error) => Err(error),
            }
        })
    })?;
    Ok(tuned.trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(loss: f64, train: f64, learning_rate: f64) -> EpochRecord {
        EpochRecord {
            epoch: 1,
            member: None,
            setting: None,
            setting_run: None,
            restart: 0,
            loss,
            train,
            valid: 0.5,
            best: false,
            learning_rate,
            effective_pairs: 0,
            saturated_pairs: 0,
            seconds: 0.0,
        }
    }

    #[test]
    fn a_run_stalls_after_so_many_epochs_without_a_lower_cost() {
        let mut history = vec![record(2.0, 0.4, 1.0), record(1.0, 0.6, 1.0)];
        history.extend((1..STALLED).map(|_| record(1.0, 0.7, 1.0)));
        // The loss was lowest in the second epoch, NDCG highest in the third.
        assert_eq!((waited(&history, true), waited(&history, false)), (STALLED - 1, STALLED - 2));
        assert!(!stalled(&history, true) && idle(&history, true) == 1);
        history.push(record(1.5, 0.5, 1.0));
        assert!(stalled(&history, true) && !stalled(&history, false));
        assert!(!frozen(&history));
        history.push(record(1.5, 0.5, 0.9 * FROZEN));
        assert!(frozen(&history) && !frozen(&history[..1]));
    }
}
