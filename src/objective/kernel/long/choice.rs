//! Which way is faster, by the length of a list.

use super::super::ranked::Ranked;
use super::super::{Kernel, Method, Weighting};

impl Kernel {
    /// Whether to compute a query in near-linear time.
    ///
    /// The choice depends on the query alone, so that a gradient never depends on what else is asked for.
    pub(in super::super) fn goes_fast(&self, ranked: &Ranked) -> bool {
        match self.method {
            Method::Direct => false,
            Method::Fast => self.has_fast_method(),
            Method::Auto => self.has_fast_method() && self.is_long(ranked),
        }
    }

    /// Lengths at which both ways took the same time, gradient alone and with the loss averaged, on one core with AVX2.
    fn is_long(&self, ranked: &Ranked) -> bool {
        let n = ranked.len();
        match self.weighting {
            Weighting::Arp1 | Weighting::Ndcg1 => n >= 200,
            Weighting::RankNet { ties: true } => n >= 250,
            Weighting::RankNet { ties: false } => n >= 700,
            Weighting::Arp2 | Weighting::SwapAp { .. } => n >= 800,
            Weighting::Ndcg2 { delta: 0.0, .. } => n >= 1_400,
            Weighting::Ndcg2 { .. } => n >= 10_000,
            // Directly O(nk).
            Weighting::SwapNdcg { k } => n >= 1_400 && k >= 700,
            // Directly the product of two counts, which is small unless the query is long and badly ranked.
            Weighting::SwapRr { threshold, .. } => {
                let first = ranked.labels.iter().position(|&label| label >= threshold).unwrap_or(n);
                let relevant = ranked.labels[first..].iter().filter(|&&label| label >= threshold).count();
                first * relevant >= 300 * n
            }
            Weighting::SwapMetric(_) => self.is_long_for_measure(ranked),
            Weighting::Custom(_) => false,
        }
    }
}
