//! LambdaLoss: Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, 2018.

mod bounds;
mod convergence;
mod curves;
mod cutoff;
mod em;
mod folds;
pub mod losses;
mod mu;
mod nets;
mod overfit;
mod own_losses;
mod shuffled;
mod small_net;
mod soft;
mod soft_facts;
mod table3;
mod trees;
mod weights;

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 8] = [
    bounds::EXPERIMENT,
    table3::EXPERIMENT,
    trees::EXPERIMENT,
    mu::EXPERIMENT,
    cutoff::EXPERIMENT,
    convergence::EXPERIMENT,
    soft::EXPERIMENT,
    overfit::EXPERIMENT,
];
