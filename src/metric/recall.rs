//! Recall at k.

use super::name::REL;
use super::precision::{TopSwaps, count_over_ties, count_relevant};
use super::{Metric, MetricEntry, Swaps};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "recall",
    aliases: &["r"],
    parameters: &[REL],
    cutoff: Cutoff::Needed,
    help: "recall",
    make: |name| Arc::new(Recall { threshold: name.threshold(), k: name.needed_k() }),
};

/// Recall: R@k = (relevant documents among the first k) / (all relevant documents), named `recall@10`,
/// `recall:rel=2@10`.
///
/// Relevant means `y >= threshold`. 0 if no document is relevant.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::Recall;
/// let recall = Recall { k: 4, threshold: 1.0 };
/// assert_eq!(recall.value(&[0.0, 0.0, 3.0, 1.0, 2.0]), 2.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// Rank cutoff.
    pub k: usize,
    /// Lowest relevant label.
    pub threshold: f32,
}

impl Recall {
    fn of_count(&self, top_count: f64, ranked: &[f32]) -> f64 {
        let relevant = count_relevant(ranked, ranked.len(), self.threshold);
        if relevant == 0.0 { 0.0 } else { top_count / relevant }
    }
}

impl Metric for Recall {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number(REL.key, self.threshold, Some(1.0)).cutoff(Some(self.k)).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(TopSwaps { ranked, k: self.k, threshold: self.threshold, scale: self.of_count(1.0, ranked) })
    }

    fn threshold(&self) -> Option<f32> {
        Some(self.threshold)
    }

    fn depth(&self) -> Option<usize> {
        Some(self.k)
    }

    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], retrieved: usize) -> Option<f64> {
        Some(self.of_count(count_over_ties(ranked, ends, self.k.min(retrieved), self.threshold), ranked))
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        self.of_count(count_relevant(ranked, self.k.min(retrieved), self.threshold), ranked)
    }
}
