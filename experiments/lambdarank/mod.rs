//! LambdaRank: Burges et al., Learning to Rank with Nonsmooth Cost Functions, 2006.

mod cubic;
mod forces;
mod schedule;
mod small;
mod speedup;

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 4] =
    [forces::EXPERIMENT, speedup::EXPERIMENT, cubic::EXPERIMENT, small::EXPERIMENT];
