//! The paper's training: RankNet or LambdaRank, linear or two-layer nets, with restarts from new random weights whenever the
//! training cost stalls.

use crate::harness::figure::Series;
use crate::harness::tuning::{or_diverged, tune};
use crate::harness::{Execution, NetShape, Ticker, once, train, train_until};
use anyhow::Context;
use burnrank::train::TrainingData;
use burnrank::{
    Activation, Architecture, EpochRecord, Init, Model, Objective, OptimizerKind, ScaleKind, Schedule, TrainConfig,
};
use std::ops::Range;
use std::sync::Arc;

/// Number of epochs without a lower training cost before a restart.
pub const STALLED: usize = 50;
/// Below this share of the initial learning rate, weights are considered constant.
pub const FROZEN: f64 = 1e-3;

/// Compared methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    RankNet,
    LambdaRank,
}

/// Both methods, RankNet first.
pub const METHODS: [Method; 2] = [Method::RankNet, Method::LambdaRank];
/// Both nets of the paper.
pub const NETS: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];

/// One series per net and method, with a value for each depth of NDCG.
pub fn method_series(depths: Range<usize>, value: impl Fn(Method, NetShape, usize) -> f64) -> Vec<Series> {
    let series = |net: NetShape, method: Method| {
        let colour = usize::from(method == Method::LambdaRank) + 2 * usize::from(net == NetShape::TwoLayer);
        let points = depths.clone().map(|depth| (depth as f64, value(method, net, depth)));
        Series::line(format!("{method:?}, {}", net.name()), colour, points)
    };
    NETS.into_iter().flat_map(|net| METHODS.map(|method| series(net, method))).collect()
}

/// Learning rates of the search, with equally wide grids for both methods.
///
/// RankNet's gradient is a sum over several hundred pairs of weight 1; LambdaRank's weights are a hundred times smaller, so its
/// learning rates are larger.
pub fn learning_rates(method: Method) -> [f64; 5] {
    match method {
        Method::RankNet => [1e-5, 3e-5, 1e-4, 3e-4, 1e-3],
        Method::LambdaRank => [1e-3, 3e-3, 1e-2, 3e-2, 1e-1],
    }
}

/// The paper's settings: plain gradient descent, one update per query, a learning rate that shrinks when the cost rises.
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

/// Result of a training run with restarts.
pub struct Trained {
    /// Model with the best validation value over all starts.
    pub model: Model,
    pub valid: f64,
    /// Number of epochs over all starts, including idle ones.
    pub epochs: usize,
    pub restarts: usize,
    /// Counted over all starts.
    pub best_epoch: usize,
}

/// Trains for the configured number of epochs, restarting whenever training stalls.
pub fn run(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    data: &Arc<TrainingData<'_>>,
    (ticker, (from, to)): (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Trained> {
    let is_cost = config.objective.is_cost();
    let (mut best, mut epochs_so_far, mut starts): (Option<Trained>, usize, usize) = (None, 0, 0);
    while epochs_so_far < config.epochs {
        let share = |epochs: usize| from + (to - from) * epochs.min(config.epochs) as f64 / config.epochs as f64;
        let seed = config.seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(starts as u64));
        let start = TrainConfig { seed, epochs: config.epochs - epochs_so_far, ..config.clone() };
        let place = (ticker, (share(epochs_so_far), share(config.epochs)));
        let name = format!("{key} start {starts}");
        let enough = |history: &[EpochRecord]| is_frozen(history) || is_stalled(history, is_cost);
        let model = train_until(execution, &name, &start, data, place, enough)?;
        let valid = model.best_value().context("no epoch was run")?;
        let (run, best_epoch) = (&model.history, epochs_so_far + model.info.best_epoch);
        epochs_so_far +=
            run.len() + if is_frozen(run) && !is_stalled(run, is_cost) { remaining_epochs(run, is_cost) } else { 0 };
        if best.as_ref().is_none_or(|best| valid > best.valid) {
            best = Some(Trained { model, valid, epochs: 0, restarts: 0, best_epoch });
        }
        starts += 1;
    }
    let best = best.context("the number of epochs is 0")?;
    Ok(Trained { epochs: epochs_so_far.min(config.epochs), restarts: starts - 1, ..best })
}

/// Training cost of an epoch: its loss, or minus the training metric.
fn cost(record: &EpochRecord, is_cost: bool) -> f64 {
    if is_cost { record.loss } else { -record.train }
}

/// Number of epochs since the lowest training cost.
fn idle_epochs(history: &[EpochRecord], is_cost: bool) -> usize {
    let costs = history.iter().map(|record| cost(record, is_cost));
    let lowest =
        costs.enumerate().fold((0, f64::INFINITY), |best, (at, cost)| if cost < best.1 { (at, cost) } else { best });
    history.len().saturating_sub(lowest.0 + 1)
}

fn is_stalled(history: &[EpochRecord], is_cost: bool) -> bool {
    idle_epochs(history, is_cost) >= STALLED
}

/// Number of idle epochs left before a restart.
fn remaining_epochs(history: &[EpochRecord], is_cost: bool) -> usize {
    STALLED.saturating_sub(idle_epochs(history, is_cost))
}

fn is_frozen(history: &[EpochRecord]) -> bool {
    match history {
        [first, .., last] => last.learning_rate < FROZEN * first.learning_rate,
        _ => false,
    }
}

/// Short search over learning rates: each with its validation value, in ascending order.
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
            let model = train(execution, &key, &config, data, (ticker, (0.0, 0.0)), |_| false);
            or_diverged(model.and_then(|model| model.best_value().context("no epoch was run")))
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
    fn a_run_stalls_without_a_lower_cost() {
        let mut history = vec![record(2.0, 0.4, 1.0), record(1.0, 0.6, 1.0)];
        history.extend((1..STALLED).map(|_| record(1.0, 0.7, 1.0)));
        // The loss was lowest in the second epoch, NDCG highest in the third.
        assert_eq!((idle_epochs(&history, true), idle_epochs(&history, false)), (STALLED - 1, STALLED - 2));
        assert!(!is_stalled(&history, true) && remaining_epochs(&history, true) == 1);
        history.push(record(1.5, 0.5, 1.0));
        assert!(is_stalled(&history, true) && !is_stalled(&history, false));
        assert!(!is_frozen(&history));
        history.push(record(1.5, 0.5, 0.9 * FROZEN));
        assert!(is_frozen(&history) && !is_frozen(&history[..1]));
    }
}
