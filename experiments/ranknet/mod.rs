//! RankNet: Burges et al., Learning to Rank using Gradient Descent, 2005.

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 0] = [];
