//! Donmez, Svore and Burges, On the Local Optimality of LambdaRank, 2009.

mod constructions;
mod descent;
mod directions;
mod epochs;
mod matching;
mod pairs;
mod random_directions;
mod setting;
mod tuned;

use crate::harness::Experiment;

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 5] =
    [constructions::EXPERIMENT, directions::EXPERIMENT, matching::EXPERIMENT, pairs::EXPERIMENT, epochs::EXPERIMENT];
