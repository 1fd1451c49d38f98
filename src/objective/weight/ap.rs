//! LambdaRank for average precision.

use super::{Classes, PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{self, Metric};

/// The change of AP@k when a relevant document and another swap.
///
/// Let `h_p = 1/p` up to rank `k` and 0 beyond, `c_p` the number of relevant documents in the top `p`, and `S_p` the
/// sum of `h` over them, so that `AP = sum of c_p h_p over relevant p / R`. Swapping a relevant document `i` with
/// another document `j` changes `AP` by `A_j - A_i` if `i` is above, where `A_p = c_p h_p - S_p`, and by `B_j - B_i` if
/// `j` is above, where `B_p = A_p + h_p`. The difference of the sums covers all documents between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct ApSwap {
    pub k: Option<usize>,
    pub threshold: f32,
}

impl PairWeight for ApSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        metric::Ap { k: self.k, threshold: self.threshold }.swap_delta(ranked, i, j).abs()
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
        Some(ValueRule::Precision { k: self.k })
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let relevant = |label: f32| label >= self.threshold;
        let inverse_total = (list.labels().iter().filter(|&&label| relevant(label)).count().max(1) as f64).recip();
        let (mut count, mut sum) = (0.0, 0.0);
        for (place, &label) in list.labels().iter().enumerate() {
            let inverse = inverse_rank(place, self.k);
            if relevant(label) {
                count += 1.0;
                sum += inverse;
            }
            values.first.push((count * inverse - sum) * inverse_total);
            values.second.push(((count + 1.0) * inverse - sum) * inverse_total);
        }
    }
}

/// `1 / rank` for a position counted from 0; 0 beyond rank `k`.
pub(super) fn inverse_rank(position: usize, k: Option<usize>) -> f64 {
    if k.is_none_or(|k| position < k) { ((position + 1) as f64).recip() } else { 0.0 }
}
