//! LambdaRank for the average relevance position.

use super::{PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{self, Metric};

/// `|y_i - y_j| |i - j|`, the change of ARP when `i` and `j` swap; divided by the sum of labels for the mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArpSwap(pub metric::Arp);

impl PairWeight for ArpSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        self.0.swap_delta(ranked, i, j).abs()
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Discounts)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Apart)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let scale = self.0.of_sum(1.0, list.labels());
        values.first.extend(list.labels().iter().map(|&label| scale * f64::from(label)));
        values.second.extend((0..list.len()).map(|place| -(place as f64)));
        if scale == 0.0 {
            values.top = 0;
        }
    }
}
