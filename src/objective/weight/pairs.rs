//! LambdaRank for the fraction of pairs in the right order.

use super::PairWeight;
use crate::metric::Metric;
use std::sync::Arc;

/// The change of the fraction when `i` and `j` swap.
///
/// A swap of a higher label `h` and a lower label `l` changes the order of the pair itself, of the pairs of both
/// documents with each document between them in rank and in label, and of the pairs of one of them with each document
/// between them in rank that has the label of either. Let `C_x(p)` be the number of documents above rank `p` with a
/// label below `x` plus the number of those with a label of at most `x`. For `i` above `j`, the change is
/// `C_h(j) - C_h(i) - C_l(j) + C_l(i)`, divided by the number of pairs: two differences per label, which no form covers.
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
