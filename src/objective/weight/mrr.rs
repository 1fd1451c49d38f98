//! LambdaRank for the reciprocal rank, as defined in the 2009 paper.

use super::ap::inverse_rank;
use super::{Classes, PairForm, PairWeight, RankedList, ValueRule, Values};

/// `1/r_j - 1/r` for a relevant document `i` and another document `j` with `r_j < r <= r_i`, else 0, where `r` is the
/// rank of the first relevant document (Eq. 11): the gain in reciprocal rank when `i` moves to the rank of `j`. If the
/// top document is relevant, there are no lambdas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mrr {
    pub k: Option<usize>,
    pub threshold: f32,
}

/// Position of the first relevant document, or the length of the list if there is none.
pub(super) fn first_relevant(ranked: &[f32], threshold: f32) -> usize {
    ranked.iter().position(|&label| label >= threshold).unwrap_or(ranked.len())
}

impl PairWeight for Mrr {
    fn exact(&self, ranked: &[f32], _: usize, j: usize) -> f64 {
        let first = first_relevant(ranked, self.threshold);
        if j < first { inverse_rank(j, self.k) - inverse_rank(first, self.k) } else { 0.0 }
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
        Some(ValueRule::FirstRelevant { k: self.k })
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let first = first_relevant(list.labels(), self.threshold);
        values.first.resize(list.len(), 0.0);
        values.second.extend((0..list.len()).map(|place| inverse_rank(place.min(first), self.k)));
        values.top = first;
    }
}
