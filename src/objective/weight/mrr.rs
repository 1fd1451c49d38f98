//! LambdaRank for the reciprocal rank, as the 2009 paper defines it.

use super::ap::inverse_rank;
use super::{Classes, PairForm, PairWeight, RankedList, ValueRule, Values};

/// `1/r_j - 1/r` for a relevant document `i` and another `j` with `r_j < r <= r_i`, else 0, where `r` is the rank of the top
/// relevant document (Eq. 11): what the reciprocal rank gains when `i` takes the place of `j`. Where the top document is
/// relevant there is no force.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mrr {
    pub k: Option<usize>,
    pub threshold: f32,
}

/// The position of the top relevant document; the length of the list when there is none.
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
