//! ARP-Loss1.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::{PairForm, PairWeight, Pairs, RankedList, ValueRule, Values};
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "arp-loss1",
    parameters: &[],
    help: "bound on the average relevance position: weight is the label",
    make: Make::Pairs(LogBase::Bits, |_| Arc::new(Arp1)),
};

/// `y_i`, for all pairs (LambdaLoss, section 5.1).
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Arp1;

impl PairWeight for Arp1 {
    fn exact(&self, ranked: &[f32], i: usize, _: usize) -> f64 {
        ranked[i].into()
    }

    fn pairs(&self) -> Pairs {
        Pairs::All
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Own)
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
