//! ARP-Loss2.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::{PairForm, PairWeight, RankedList, ValueRule, Values};
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "arp-loss2",
    parameters: &[],
    help: "tighter bound on the average relevance position: weight is the difference of labels",
    make: Make::Pairs(LogBase::Bits, |_| Arc::new(Arp2)),
};

/// `|y_i - y_j|` for `y_i > y_j` (LambdaLoss, section 5.1).
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Arp2;

impl PairWeight for Arp2 {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        (f64::from(ranked[i]) - f64::from(ranked[j])).abs()
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Gap)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Apart)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        values.first.extend(list.labels().iter().map(|&label| f64::from(label)));
    }

    fn ignores_ranks(&self) -> bool {
        true
    }
}
