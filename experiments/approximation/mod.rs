//! Burges, Ranking as Function Approximation, 2006.

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 0] = [];
