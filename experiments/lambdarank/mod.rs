//! LambdaRank: Burges et al., Learning to Rank with Nonsmooth Cost Functions, 2006.

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 0] = [];
