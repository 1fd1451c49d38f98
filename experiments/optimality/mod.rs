//! Donmez, Svore and Burges, On the Local Optimality of LambdaRank, 2009.

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 0] = [];
