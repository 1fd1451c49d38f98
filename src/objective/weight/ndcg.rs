//! LambdaRank for NDCG.

use super::{PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{self, Gain, Metric};

/// `|1/D_i - 1/D_j| |G_i - G_j|`, the change of NDCG@k when `i` and `j` swap; the discount is 0 beyond `k`.
#[derive(Debug, Clone, Copy)]
pub(super) struct NdcgSwap {
    pub k: Option<usize>,
    pub gain: Gain,
}

impl PairWeight for NdcgSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        metric::Ndcg { k: self.k, gain: self.gain }.swap_delta(ranked, i, j).abs()
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Discounts)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Apart)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        values.set_gains(list, self.gain, self.k);
        values.set_discounts(list.len(), self.k, 1.0);
    }

    fn largest_label(&self) -> f32 {
        if self.gain == Gain::Exponential { 1e3 } else { 1e9 }
    }
}
