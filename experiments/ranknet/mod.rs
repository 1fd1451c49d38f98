//! RankNet: Burges et al., Learning to Rank using Gradient Descent, 2005.

mod artificial;
mod pair_net;
mod per_pair;
mod per_pair_checks;
mod table1;
mod table1_ceiling;
mod table1_report;
mod table2;
mod zero_error;

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 4] =
    [table1::EXPERIMENT, zero_error::EXPERIMENT, table2::EXPERIMENT, per_pair::EXPERIMENT];
