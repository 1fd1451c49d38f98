//! Burges, Ranking as Function Approximation, 2006.

pub(crate) mod fields;
mod function_approximation;
pub(crate) mod margin;
mod metrics;

use crate::harness::Experiment;

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 1] = [function_approximation::EXPERIMENT];
