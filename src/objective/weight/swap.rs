//! LambdaRank for any other metric.

use super::PairWeight;
use crate::metric::{Metric, MetricKind};
use std::sync::Arc;

/// The change of a metric when `i` and `j` swap: O(nk) for a metric of the top k ranks, n² swaps for others.
#[derive(Debug, Clone)]
pub(super) struct AnySwap(pub Arc<dyn Metric>);

impl PairWeight for AnySwap {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        self.0.swap_delta(ranked, i, j).abs()
    }

    fn prepare<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Fn(usize, usize) -> f64 + 'a> {
        let swaps = self.0.swaps(ranked);
        Box::new(move |i, j| swaps.delta(i, j).abs())
    }

    /// Swaps below the ranks that count have no effect.
    fn depth(&self) -> Option<usize> {
        self.0.depth()
    }

    fn counts_pairs(&self) -> bool {
        self.0.kind() == MetricKind::Pairs
    }
}
