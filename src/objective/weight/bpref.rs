//! LambdaRank for binary preference.

use super::{Classes, PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{self, BprefSwaps, Metric};

/// The change of bpref when a relevant document and another swap: a difference of one value per document, see
/// [`BprefSwaps`].
#[derive(Debug, Clone, Copy)]
pub(super) struct BprefSwap(pub metric::Bpref);

impl PairWeight for BprefSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        self.0.swap_delta(ranked, i, j).abs()
    }

    fn classes(&self) -> Classes {
        Classes::AtLeast(self.0.threshold)
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::FallOrRise)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Preference)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let swaps = BprefSwaps::new(&self.0, list.labels());
        values.top = swaps.top;
        values.first.extend(swaps.fall.iter().map(|fall| fall * swaps.scale));
        values.second.extend(swaps.rise.iter().map(|rise| rise * swaps.scale));
    }
}
