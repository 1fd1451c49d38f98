//! LambdaRank for DCG.

use super::{PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{self, Gain, Metric};

/// `|1/D_i - 1/D_j| |g_i - g_j|`, the change of DCG@k when `i` and `j` swap.
#[derive(Debug, Clone, Copy)]
pub(super) struct DcgSwap {
    pub k: Option<usize>,
    pub gain: Gain,
}

impl PairWeight for DcgSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        metric::Dcg { k: self.k, gain: self.gain }.swap_delta(ranked, i, j).abs()
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
        values.first.extend(list.labels().iter().map(|&label| self.gain.of(label)));
        values.set_discounts(list.len(), self.k, 1.0);
    }

    /// Gains are not divided by an ideal DCG, so they must fit in single precision.
    fn largest_label(&self) -> f32 {
        if self.gain == Gain::Exponential { 100.0 } else { 1e9 }
    }
}
