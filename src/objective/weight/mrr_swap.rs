//! LambdaRank for the reciprocal rank, in both directions.

use super::ap::inverse_rank;
use super::mrr::first_relevant;
use super::{Classes, PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{self, Metric};

/// The change of the reciprocal rank when a relevant document and another swap, including swaps that lower it. Only
/// pairs that move the first relevant document have a weight.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct MrrSwap {
    pub k: Option<usize>,
    pub threshold: f32,
}

impl PairWeight for MrrSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        metric::Rr { k: self.k, threshold: self.threshold }.swap_delta(ranked, i, j).abs()
    }

    fn classes(&self) -> Classes {
        Classes::AtLeast(self.threshold)
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::FallOrRise)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::FirstTwoRelevant { k: self.k })
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let n = list.len();
        let first = first_relevant(list.labels(), self.threshold);
        let below = list.labels().get(first + 1..).unwrap_or_default();
        let second = first + 1 + first_relevant(below, self.threshold);
        // Falling below the second relevant document is no worse than falling to its rank.
        let fall = |place: usize| if place == first { first } else { place.max(first).min(second) };
        values.first.extend((0..n).map(|place| inverse_rank(fall(place), self.k)));
        values.second.extend((0..n).map(|place| inverse_rank(place.min(first), self.k)));
        values.top = (first + 1).min(n);
    }
}
