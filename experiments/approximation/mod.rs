//! Burges, Ranking as Function Approximation, 2006.

pub(crate) mod forces;
mod function_approximation;
pub(crate) mod margin;
mod measures;

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 1] = [function_approximation::EXPERIMENT];
