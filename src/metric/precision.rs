//! Precision at k.

use super::name::REL;
use super::ties::mean_over_ties;
use super::{Metric, MetricEntry, Swaps};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "p",
    aliases: &["precision"],
    parameters: &[REL],
    cutoff: Cutoff::Needed,
    help: "precision",
    make: |name| Arc::new(Precision { threshold: name.threshold(), k: name.needed_k() }),
};

/// Precision: P@k = (relevant documents among the first k) / k, named `p@5`, `p:rel=2@5`.
///
/// Relevant means `y >= threshold`. Lists shorter than k are also divided by k, as in trec_eval.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::Precision;
/// let precision = Precision { k: 3, threshold: 1.0 };
/// assert_eq!(precision.value(&[0.0, 0.0, 3.0, 1.0, 2.0]), 1.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Rank cutoff.
    pub k: usize,
    /// Lowest relevant label.
    pub threshold: f32,
}

impl Precision {
    fn of_count(&self, count: f64) -> f64 {
        count / self.k.max(1) as f64
    }
}

impl Metric for Precision {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number(REL.key, self.threshold, Some(1.0)).cutoff(Some(self.k)).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(TopSwaps { ranked, k: self.k, threshold: self.threshold, scale: self.of_count(1.0) })
    }

    fn threshold(&self) -> Option<f32> {
        Some(self.threshold)
    }

    fn depth(&self) -> Option<usize> {
        Some(self.k)
    }

    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], retrieved: usize) -> Option<f64> {
        Some(self.of_count(count_over_ties(ranked, ends, self.k.min(retrieved), self.threshold)))
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        self.of_count(count_relevant(ranked, self.k.min(retrieved), self.threshold))
    }
}

/// Number of relevant documents among the first `depth`.
pub(super) fn count_relevant(ranked: &[f32], depth: usize, threshold: f32) -> f64 {
    ranked.iter().take(depth).filter(|&&label| label >= threshold).count() as f64
}

/// Mean of [`count_relevant`] over all orders of documents with equal scores.
pub(super) fn count_over_ties(ranked: &[f32], ends: &[usize], depth: usize, threshold: f32) -> f64 {
    let relevant = |label| f64::from(u8::from(label >= threshold));
    mean_over_ties(ranked, ends, relevant, |position| f64::from(u8::from(position < depth)))
}

/// Changes by swaps: only swapping a relevant and another document across rank k has an effect, which is always the
/// same.
pub(super) struct TopSwaps<'a> {
    pub(super) ranked: &'a [f32],
    pub(super) k: usize,
    pub(super) threshold: f32,
    pub(super) scale: f64,
}

impl Swaps for TopSwaps<'_> {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        match (self.ranked[i] >= self.threshold, self.ranked[j] >= self.threshold) {
            (true, false) if i < self.k && j >= self.k => -self.scale,
            (false, true) if i < self.k && j >= self.k => self.scale,
            _ => 0.0,
        }
    }
}
