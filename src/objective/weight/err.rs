//! LambdaRank for the expected reciprocal rank.

use super::{Classes, PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{ErrSwaps, ExpectedRr, Metric};

/// `|R_i - R_j| (E_i - E_j) / (1 - R_i)` for `i` above `j`, the change of ERR when they swap: see [`ErrSwaps`].
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrSwap(pub ExpectedRr);

impl PairWeight for ErrSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        self.0.swap_delta(ranked, i, j).abs()
    }

    fn classes(&self) -> Classes {
        Classes::UpTo(self.0.max)
    }

    fn depth(&self) -> Option<usize> {
        self.0.k
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Rest)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Cascade { k: self.0.k })
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let ErrSwaps { stops, rests } = ErrSwaps::new(&self.0, list.labels());
        values.top = rests.partition_point(|&rest| rest > 0.0);
        (values.first, values.second) = (stops, rests);
    }
}
