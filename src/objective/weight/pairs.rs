//! LambdaRank for the share of rightly ordered pairs.

use super::PairWeight;
use crate::metric::Metric;
use std::sync::Arc;

/// The change of the share when `i` and `j` swap.
///
/// A swap of a higher label `h` and a lower label `l` puts right or wrong the pair itself, those of both documents with
/// each document between them in rank and in label, and that of one of them with each document between them in rank that
/// has the label of either. With `C_x(p)` the number of documents above rank `p` with a label below `x` plus the number
/// with a label of at most `x`, that is `C_h(j) - C_h(i) - C_l(j) + C_l(i)` for `i` above `j`, divided by the number of
/// pairs: two differences for every label, not one form.
#[derive(Debug, Clone)]
pub(super) struct PairsSwap(pub Arc<dyn Metric>);

impl PairWeight for PairsSwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        self.0.swap_delta(ranked, i, j).abs()
    }

    fn prepare<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Fn(usize, usize) -> f64 + 'a> {
        let swaps = self.0.swaps(ranked);
        Box::new(move |i, j| swaps.delta(i, j).abs())
    }

    fn counts_pairs(&self) -> bool {
        true
    }
}
