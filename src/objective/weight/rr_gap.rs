//! Difference of gains with the discount of reciprocal ranks.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::ap::inverse_rank;
use super::{PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{Gain, max_dcg};
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "rr-gap",
    parameters: &[],
    help: "difference of gains times difference of reciprocal ranks (not from a paper)",
    make: Make::Pairs(LogBase::Bits, |name| Arc::new(RrGap { k: name.cutoff() })),
};

/// `|1/i - 1/j| |G_i - G_j|`, the change of `sum of G_i / i` when `i` and `j` swap, with the ideal DCG of `G` at `k`.
///
/// This is LambdaRank for NDCG with reciprocal ranks as discount instead of logarithms, which emphasises the top ranks.
/// It is not from a paper, but belongs to the family of the LambdaLoss paper's metric-driven weights.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct RrGap {
    pub k: Option<usize>,
}

impl PairWeight for RrGap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        let ideal = max_dcg(ranked, self.k, Gain::Exponential);
        let gap = (Gain::Exponential.of(ranked[i]) - Gain::Exponential.of(ranked[j])).abs();
        let discounts = (inverse_rank(i, None) - inverse_rank(j, None)).abs();
        if ideal > 0.0 { gap / ideal * discounts } else { 0.0 }
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Discounts)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Apart)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        values.set_gains(list, Gain::Exponential, self.k);
        values.second.extend((0..list.len()).map(|place| inverse_rank(place, None)));
    }

    fn largest_label(&self) -> f32 {
        1e3
    }
}
