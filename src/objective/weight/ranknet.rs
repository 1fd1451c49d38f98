//! RankNet: all pairs have the same weight.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::{PairForm, PairWeight, Pairs, ValueRule};
use crate::name::Parameter;
use std::cmp::Ordering;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "ranknet",
    parameters: &[Parameter::flag("ties", "include pairs with equal labels, with target 1/2")],
    help: "pairwise cross entropy: all pairs have weight 1",
    make: Make::Pairs(LogBase::Nats, |name| Arc::new(RankNet { ties: name.flag("ties") })),
};

/// 1 for `y_i > y_j` (RankNet, Eq. 3). With ties, 1/2 in each direction for `y_i = y_j`, which is a target probability
/// of 1/2; this includes queries without relevant documents.
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
