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

/// Average precision: AP@k = 1/R sum over relevant ranks r <= k of (relevant documents up to r) / r, named `map`,
/// `map@10`, `map:rel=2`.
///
/// R counts all relevant documents (`y >= threshold`), including those below rank `k`, as in trec_eval. The mean over
/// queries is MAP, hence the name.
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
    /// Rank cutoff; all ranks when `None`.
    pub k: Option<usize>,
    /// Lowest relevant label.
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
        let (mut relevant, mut sum) = (0usize, 0.0);
        for (position, _) in ranked.iter().enumerate().filter(|(_, label)| **label >= self.threshold) {
            relevant += 1;
            if position < depth {
                sum += relevant as f64 / (position + 1) as f64;
            }
        }
        if relevant == 0 { 0.0 } else { sum / relevant as f64 }
    }
}

/// Changes of AP by swaps, O(1) each.
///
/// Moving a relevant document from rank i down to rank j replaces its precision at i by that at j and lowers the
/// precision at each relevant rank between them by 1/rank; the reverse move does the opposite.
struct ApSwaps {
    relevant: Vec<bool>,
    /// Number of relevant documents up to and including each position.
    counts: Vec<f64>,
    /// Sum of 1/rank over the relevant documents before each position, up to `k`.
    inverse: Vec<f64>,
    depth: usize,
    total: f64,
}

impl ApSwaps {
    fn new(ap: &Ap, ranked: &[f32]) -> Self {
        let depth = ap.k.unwrap_or(usize::MAX);
        let relevant: Vec<bool> = ranked.iter().map(|&label| label >= ap.threshold).collect();
        let (mut counts, mut inverse) = (Vec::with_capacity(ranked.len()), Vec::with_capacity(ranked.len()));
        let (mut count, mut sum) = (0.0, 0.0);
        for (position, &is_relevant) in relevant.iter().enumerate() {
            inverse.push(sum);
            if is_relevant {
                count += 1.0;
                sum += if position < depth { 1.0 / (position + 1) as f64 } else { 0.0 };
            }
            counts.push(count);
        }
        ApSwaps { relevant, counts, inverse, depth, total: count }
    }

    fn precision(&self, position: usize, relevant: f64) -> f64 {
        if position < self.depth { relevant / (position + 1) as f64 } else { 0.0 }
    }
}

impl Swaps for ApSwaps {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let lower = self.precision(j, self.counts[j]);
        let change = match (self.relevant[i], self.relevant[j]) {
            (true, false) => {
                let upper = self.precision(i, self.counts[i]);
                lower - upper - (self.inverse[j] - self.inverse[i + 1])
            }
            (false, true) => {
                let upper = self.precision(i, self.counts[i] + 1.0);
                upper - lower + (self.inverse[j] - self.inverse[i + 1])
            }
            _ => return 0.0,
        };
        change / self.total
    }
}
