//! Reciprocal rank.

use super::name::REL;
use super::{Metric, MetricEntry, MetricKind, Swaps};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "mrr",
    aliases: &["rr", "recip-rank", "reciprocal-rank"],
    parameters: &[REL],
    cutoff: Cutoff::Last,
    help: "reciprocal rank of the first relevant document",
    make: |name| Arc::new(Rr { threshold: name.threshold(), k: name.k() }),
};

/// Reciprocal rank: RR@k = 1 / (rank of the first relevant document), 0 if that rank is beyond `k`; named `mrr`,
/// `mrr@10`, `mrr:rel=2`.
///
/// Relevant means `y >= threshold`. The mean over queries is MRR, hence the name.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::Rr;
/// let rr = Rr { k: None, threshold: 1.0 };
/// assert_eq!(rr.value(&[0.0, 0.0, 3.0, 1.0, 2.0]), 1.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rr {
    /// Rank cutoff; all ranks when `None`.
    pub k: Option<usize>,
    /// Lowest relevant label.
    pub threshold: f32,
}

impl Default for Rr {
    fn default() -> Self {
        Rr { k: None, threshold: 1.0 }
    }
}

impl Rr {
    fn of_position(&self, position: Option<usize>, retrieved: usize) -> f64 {
        let depth = retrieved.min(self.k.unwrap_or(usize::MAX));
        position.filter(|&position| position < depth).map_or(0.0, |position| 1.0 / (position + 1) as f64)
    }
}

impl Metric for Rr {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number(REL.key, self.threshold, Some(1.0)).cutoff(self.k).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        let mut relevant = (0..ranked.len()).filter(|&position| ranked[position] >= self.threshold);
        Box::new(RrSwaps { rr: self, ranked, first: relevant.next(), second: relevant.next() })
    }

    fn threshold(&self) -> Option<f32> {
        Some(self.threshold)
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Rr { k: self.k, threshold: self.threshold }
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        self.of_position(ranked.iter().position(|&label| label >= self.threshold), retrieved)
    }
}

/// Changes of RR by swaps: only moving the first relevant document, or moving another one above it, has an effect.
struct RrSwaps<'a> {
    rr: &'a Rr,
    ranked: &'a [f32],
    first: Option<usize>,
    second: Option<usize>,
}

impl Swaps for RrSwaps<'_> {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let Some(first) = self.first else { return 0.0 };
        let moved = match (self.ranked[i] >= self.rr.threshold, self.ranked[j] >= self.rr.threshold) {
            (true, false) if i == first => self.second.map_or(j, |second| second.min(j)),
            (false, true) if i < first => i,
            _ => return 0.0,
        };
        let length = self.ranked.len();
        self.rr.of_position(Some(moved), length) - self.rr.of_position(Some(first), length)
    }
}
