//! RankNet: Burges et al., Learning to Rank using Gradient Descent, 2005.

mod artificial;
mod kernel;
mod kernel_checks;
mod kernel_solver;
pub mod pair_net;
mod per_pair;
mod per_pair_checks;
mod posteriors;
mod probabilities;
mod table1;
mod table1_ceiling;
mod table1_report;
mod table2;
mod three_items;
mod web;
mod web_report;
mod zero_error;

use crate::harness::Experiment;

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 7] = [
    probabilities::EXPERIMENT,
    zero_error::EXPERIMENT,
    table1::EXPERIMENT,
    per_pair::EXPERIMENT,
    table2::EXPERIMENT,
    web::EXPERIMENT,
    kernel::EXPERIMENT,
];
