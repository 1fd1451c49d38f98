//! Normalised discounted cumulative gain.

use super::dcg::{Dcg, DcgSwaps};
use super::gain::{Gain, max_dcg};
use super::name::GAIN;
use super::{Metric, MetricEntry, MetricKind, Swaps};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "ndcg",
    aliases: &[],
    parameters: &[GAIN],
    cutoff: Cutoff::Last,
    help: "normalised discounted cumulative gain, gain 2^y - 1 unless linear",
    make: |name| Arc::new(Ndcg { gain: name.gain(), k: name.k() }),
};

/// Normalised discounted cumulative gain: NDCG@k = DCG@k / maxDCG@k, named `ndcg`, `ndcg@10`, `ndcg:linear@10`.
///
/// 0 if no document has a positive label. trec_eval and scikit-learn use the linear gain.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::{Gain, Ndcg};
/// let ndcg = Ndcg { k: None, gain: Gain::Exponential };
/// let dcg = 7.0 / 2.0 + 1.0 / 5f64.log2() + 3.0 / 6f64.log2();
/// let ideal = 7.0 + 3.0 / 3f64.log2() + 1.0 / 2.0;
/// assert!((ndcg.value(&[0.0, 0.0, 3.0, 1.0, 2.0]) - dcg / ideal).abs() < 1e-12); // 0.542037
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ndcg {
    /// Rank cutoff; all ranks when `None`.
    pub k: Option<usize>,
    /// Gain of a label.
    pub gain: Gain,
}

impl Ndcg {
    fn dcg(&self) -> Dcg {
        Dcg { k: self.k, gain: self.gain }
    }

    fn normalise(&self, dcg: f64, labels: &[f32]) -> f64 {
        let ideal = max_dcg(labels, self.k, self.gain);
        if ideal > 0.0 { dcg / ideal } else { 0.0 }
    }
}

impl Metric for Ndcg {
    fn name(&self) -> String {
        Spelling::new(ROW.name).word(self.gain.name(), self.gain != Gain::default()).cutoff(self.k).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.normalise(self.dcg().value(ranked), ranked)
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(DcgSwaps::new(&self.dcg(), ranked, self.normalise(1.0, ranked)))
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Ndcg { k: self.k, gain: self.gain }
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], retrieved: usize) -> Option<f64> {
        Some(self.normalise(self.dcg().value_over_ties(ranked, ends, retrieved)?, ranked))
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        self.normalise(self.dcg().value_of_retrieved(ranked, retrieved), ranked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_ranking_is_exactly_one() {
        for labels in [vec![4.0, 3.0, 3.0, 1.0, 0.0], vec![2.5, 1.25, 0.1], vec![7.0; 99]] {
            for (k, gain) in [(None, Gain::Exponential), (Some(2), Gain::Linear)] {
                assert_eq!(Ndcg { k, gain }.value(&labels), 1.0);
            }
        }
    }
}
