//! Discounted cumulative gain.

use super::gain::{Gain, discount, discounts};
use super::name::GAIN;
use super::ties::mean_over_ties;
use super::{Metric, MetricEntry, MetricKind, Swaps};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "dcg",
    aliases: &[],
    parameters: &[GAIN],
    cutoff: Cutoff::Last,
    help: "discounted cumulative gain, gain 2^y - 1 unless linear",
    make: |name| Arc::new(Dcg { gain: name.gain(), k: name.k() }),
};

/// Discounted cumulative gain: DCG@k = sum over ranks r <= k of gain(y_r) / log2(1 + r), named `dcg`, `dcg@10`,
/// `dcg:linear@10`.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::{Dcg, Gain};
/// let dcg = Dcg { k: Some(3), gain: Gain::Exponential };
/// assert_eq!(dcg.value(&[1.0, 0.0, 2.0, 4.0]), 1.0 + 3.0 / 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dcg {
    /// Rank cutoff; all ranks when `None`.
    pub k: Option<usize>,
    /// Gain of a label.
    pub gain: Gain,
}

impl Dcg {
    fn sum(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let depth = ranked.len().min(retrieved).min(self.k.unwrap_or(usize::MAX));
        ranked[..depth]
            .iter()
            .zip(discounts(depth).iter())
            .map(|(&label, discount)| self.gain.of(label) * discount)
            .sum()
    }
}

impl Metric for Dcg {
    fn name(&self) -> String {
        Spelling::new(ROW.name).word(self.gain.name(), self.gain != Gain::default()).cutoff(self.k).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.sum(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(DcgSwaps::new(self, ranked, 1.0))
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Dcg { k: self.k, gain: self.gain }
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], retrieved: usize) -> Option<f64> {
        let depth = retrieved.min(self.k.unwrap_or(usize::MAX));
        let weight = |position| if position < depth { discount(position) } else { 0.0 };
        Some(mean_over_ties(ranked, ends, |label| self.gain.of(label), weight))
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        self.sum(ranked, retrieved)
    }
}

/// Changes of DCG by swaps: (g_j - g_i) (1/D_i - 1/D_j), times a factor (1 / maxDCG for NDCG).
pub(super) struct DcgSwaps {
    gains: Vec<f64>,
    discounts: Vec<f64>,
}

impl DcgSwaps {
    pub(super) fn new(dcg: &Dcg, ranked: &[f32], factor: f64) -> Self {
        let depth = dcg.k.unwrap_or(usize::MAX).min(ranked.len());
        let mut discounts = discounts(depth).into_owned();
        discounts.resize(ranked.len(), 0.0);
        DcgSwaps { gains: ranked.iter().map(|&label| dcg.gain.of(label) * factor).collect(), discounts }
    }
}

impl Swaps for DcgSwaps {
    fn delta(&self, i: usize, j: usize) -> f64 {
        (self.gains[j] - self.gains[i]) * (self.discounts[i] - self.discounts[j])
    }
}
