//! NDCG-Loss1.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::{PairForm, PairWeight, Pairs, RankedList, ValueRule, Values};
use crate::metric::{Gain, discount, max_dcg};
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "ndcg-loss1",
    parameters: &[],
    help: "bound on NDCG: weight is the discounted gain",
    make: Make::Pairs(LogBase::Bits, |name| Arc::new(Ndcg1 { k: name.cutoff() })),
};

/// `G_i / D_i`, for all pairs (LambdaLoss, section 5.2), with the ideal DCG at `k`.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Ndcg1 {
    pub k: Option<usize>,
}

impl PairWeight for Ndcg1 {
    fn exact(&self, ranked: &[f32], i: usize, _: usize) -> f64 {
        let ideal = max_dcg(ranked, self.k, Gain::Exponential);
        if ideal > 0.0 { Gain::Exponential.of(ranked[i]) / ideal * discount(i) } else { 0.0 }
    }

    fn pairs(&self) -> Pairs {
        Pairs::All
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Own)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Discounted)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let ideal = max_dcg(list.labels(), self.k, Gain::Exponential);
        let scale = if ideal > 0.0 { ideal.recip() } else { 0.0 };
        values.set_discounts(list.len(), None, scale);
        let gains = list.labels().iter().map(|&label| Gain::Exponential.of(label));
        values.first.extend(gains.zip(&values.second).map(|(gain, discount)| gain * discount));
    }

    fn largest_label(&self) -> f32 {
        1e3
    }
}
