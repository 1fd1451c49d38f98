//! NDCG as LETOR 4.0's evaluation script computes it.

use super::gain::Gain;
use super::{Metric, MetricEntry};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "letor-ndcg",
    aliases: &["mean-ndcg"],
    parameters: &[],
    cutoff: Cutoff::Last,
    help: "NDCG of LETOR's script; without @k, its MeanNDCG",
    make: |name| Arc::new(LetorNdcg { k: name.k() }),
};

/// NDCG of LETOR 4.0's evaluation script, named `letor-ndcg@10`, `letor-ndcg`.
///
/// DCG@k = sum over ranks r <= k of (2^y - 1) d(r), where d(1) = d(2) = 1 and d(r) = 1 / log2(r) from rank 3 on,
/// divided by that of the ideal order; 0 for lists of fewer than k documents. Without k, the script's MeanNDCG: the
/// mean of NDCG@1 to NDCG@n for a list of n documents.
///
/// Published results for LETOR 4.0 use it: NDCG@10 on MQ2008, where many queries have fewer than ten documents, is half
/// of what other programs print.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::LetorNdcg;
/// let ndcg = LetorNdcg { k: Some(3) };
/// let ideal = 3.0 + 1.0;
/// assert!((ndcg.value(&[1.0, 0.0, 2.0]) - (1.0 + 3.0 / 3f64.log2()) / ideal).abs() < 1e-12); // 0.723
/// assert_eq!(ndcg.value(&[2.0, 1.0]), 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LetorNdcg {
    /// Rank cutoff; MeanNDCG when `None`.
    pub k: Option<usize>,
}

fn discount(position: usize) -> f64 {
    if position < 2 { 1.0 } else { ((position + 1) as f64).log2().recip() }
}

impl Metric for LetorNdcg {
    fn name(&self) -> String {
        Spelling::new(ROW.name).cutoff(self.k).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        let depth = self.k.unwrap_or(ranked.len());
        if depth > ranked.len() || depth == 0 {
            return 0.0;
        }
        let mut best = ranked.to_vec();
        best.sort_by(|a, b| b.total_cmp(a));
        let (mut dcg, mut ideal, mut sum, mut last) = (0.0, 0.0, 0.0, 0.0);
        for position in 0..depth {
            dcg += Gain::Exponential.of(ranked[position]) * discount(position);
            ideal += Gain::Exponential.of(best[position]) * discount(position);
            last = if ideal > 0.0 { dcg / ideal } else { 0.0 };
            sum += last;
        }
        if self.k.is_some() { last } else { sum / depth as f64 }
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }
}
