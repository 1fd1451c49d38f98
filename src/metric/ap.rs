//! Average precision.

use super::name::REL;
use super::{Metric, MetricEntry, MetricKind, Swaps};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "map",
    aliases: &["ap", "map-cut", "average-precision"],
    parameters: &[REL],
    cutoff: Cutoff::Last,
    help: "average precision",
    make: |name| Arc::new(Ap { threshold: name.threshold(), k: name.k() }),
};

/// AP@k = 1/R sum over relevant ranks r <= k of (relevant documents up to r) / r, named `map`, `map@10`, `map:rel=2`.
///
/// R counts all relevant documents (`y >= threshold`), also those behind `k`, as trec_eval does. The mean over queries
/// is MAP, hence the name.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::Ap;
/// let ap = Ap { k: None, threshold: 1.0 };
/// let expected = (1.0 / 3.0 + 2.0 / 4.0 + 3.0 / 5.0) / 3.0;
/// assert!((ap.value(&[0.0, 0.0, 3.0, 1.0, 2.0]) - expected).abs() < 1e-12); // 0.477778
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ap {
    /// The last rank that counts; all when `None`.
    pub k: Option<usize>,
    /// Labels of at least this are relevant.
    pub threshold: f32,
}

impl Default for Ap {
    fn default() -> Self {
        Ap { k: None, threshold: 1.0 }
    }
}

impl Metric for Ap {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number(REL.key, self.threshold, Some(1.0)).cutoff(self.k).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(ApSwaps::new(self, ranked))
    }

    fn is_empty(&self, labels: &[f32]) -> bool {
        !labels.iter().any(|&label| label >= self.threshold)
    }

    fn threshold(&self) -> Option<f32> {
        Some(self.threshold)
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Ap { k: self.k, threshold: self.threshold }
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let depth = retrieved.min(self.k.unwrap_or(usize::MAX));
        let (mut found, mut sum) = (0usize, 0.0);
        for (position, _) in ranked.iter().enumerate().filter(|(_, label)| **label >= self.threshold) {
            found += 1;
            if position < depth {
                sum += found as f64 / (position + 1) as f64;
            }
        }
        if found == 0 { 0.0 } else { sum / found as f64 }
    }
}

/// A relevant document that leaves rank i for rank j > i takes its own precision along and costs every relevant one
/// between them one find; the other way round it gives both.
struct ApSwaps {
    relevant: Vec<bool>,
    /// The relevant documents up to and including a position.
    found: Vec<f64>,
    /// The sum of 1/rank of the relevant documents before a position, up to `k`.
    inverse: Vec<f64>,
    depth: usize,
    total: f64,
}

impl ApSwaps {
    fn new(ap: &Ap, ranked: &[f32]) -> Self {
        let depth = ap.k.unwrap_or(usize::MAX);
        let relevant: Vec<bool> = ranked.iter().map(|&label| label >= ap.threshold).collect();
        let (mut found, mut inverse) = (Vec::with_capacity(ranked.len()), Vec::with_capacity(ranked.len()));
        let (mut count, mut sum) = (0.0, 0.0);
        for (position, &is_relevant) in relevant.iter().enumerate() {
            inverse.push(sum);
            if is_relevant {
                count += 1.0;
                sum += if position < depth { 1.0 / (position + 1) as f64 } else { 0.0 };
            }
            found.push(count);
        }
        ApSwaps { relevant, found, inverse, depth, total: count }
    }

    fn precision(&self, position: usize, found: f64) -> f64 {
        if position < self.depth { found / (position + 1) as f64 } else { 0.0 }
    }
}

impl Swaps for ApSwaps {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let lower = self.precision(j, self.found[j]);
        let change = match (self.relevant[i], self.relevant[j]) {
            (true, false) => {
                let upper = self.precision(i, self.found[i]);
                lower - upper - (self.inverse[j] - self.inverse[i + 1])
            }
            (false, true) => {
                let upper = self.precision(i, self.found[i] + 1.0);
                upper - lower + (self.inverse[j] - self.inverse[i + 1])
            }
            _ => return 0.0,
        };
        change / self.total
    }
}
