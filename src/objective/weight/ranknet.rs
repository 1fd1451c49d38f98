//! RankNet: every pair counts the same.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::{PairForm, PairWeight, Pairs, ValueRule};
use crate::name::Parameter;
use std::cmp::Ordering;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "ranknet",
    parameters: &[Parameter::flag("ties", "pairs of equal labels have the target 1/2")],
    help: "cross entropy of pairs, every pair weighs 1; ties with target 1/2",
    make: Make::Pairs(LogBase::Nats, |name| Arc::new(RankNet { ties: name.flag("ties") })),
};

/// 1 for `y_i > y_j` (RankNet, Eq. 3); with ties 1/2 for each order of `y_i = y_j`, the target probability of 1/2: in every
/// query, also where nothing is relevant.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct RankNet {
    pub ties: bool,
}

impl PairWeight for RankNet {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        match ranked[i].partial_cmp(&ranked[j]) {
            Some(Ordering::Greater) => 1.0,
            Some(Ordering::Equal) if self.ties => 0.5,
            _ => 0.0,
        }
    }

    fn pairs(&self) -> Pairs {
        if self.ties { Pairs::All } else { Pairs::Ordered }
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Constant { ties: self.ties })
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Apart)
    }

    fn ignores_ranks(&self) -> bool {
        true
    }
}
