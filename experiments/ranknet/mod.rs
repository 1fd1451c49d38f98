//! RankNet: Burges et al., Learning to Rank using Gradient Descent, 2005.

mod kernel;
mod kernel_solver;
mod posteriors;
mod probabilities;
mod three_items;
mod web;
mod web_runs;

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 3] = [probabilities::EXPERIMENT, web::EXPERIMENT, kernel::EXPERIMENT];
