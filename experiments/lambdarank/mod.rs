//! LambdaRank: Burges et al., Learning to Rank with Nonsmooth Cost Functions, 2006.

mod cubic;
mod lambdas;
mod schedule;
mod small;
mod speedup;

use crate::harness::Experiment;

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 4] =
    [lambdas::EXPERIMENT, speedup::EXPERIMENT, cubic::EXPERIMENT, small::EXPERIMENT];
