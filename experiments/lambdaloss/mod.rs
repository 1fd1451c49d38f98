//! LambdaLoss: Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, 2018.

mod bounds;
mod convergence;
mod curves;
mod custom_losses;
mod cutoff;
mod em;
mod folds;
pub mod losses;
mod mu;
mod nets;
mod overfit;
mod shuffled;
mod small_net;
mod soft;
mod soft_facts;
mod table3;
mod trees;
mod weights;

use crate::harness::{Experiment, Scale};

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 11] = [
    bounds::EXPERIMENT,
    table3::EXPERIMENT,
    trees::tables::EXPERIMENT,
    trees::figures::EXPERIMENT,
    trees::table5::EXPERIMENT,
    trees::web::EXPERIMENT,
    mu::EXPERIMENT,
    cutoff::EXPERIMENT,
    convergence::EXPERIMENT,
    soft::EXPERIMENT,
    overfit::EXPERIMENT,
];

/// Deviations from the paper, with `quick` as the last one at quick scale.
fn deviations(scale: Scale, all: &[&str], quick: &str) -> Vec<String> {
    all.iter().copied().chain(scale.pick(None, Some(quick))).map(str::to_owned).collect()
}
