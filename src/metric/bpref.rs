//! Binary preference.

use super::name::REL;
use super::{Metric, MetricEntry, MetricKind, Swaps};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "bpref",
    aliases: &[],
    parameters: &[REL],
    cutoff: Cutoff::No,
    help: "binary preference",
    make: |name| Arc::new(Bpref { threshold: name.threshold() }),
};

/// Binary preference: bpref = 1/R sum over relevant documents of 1 - min(N_above, R) / min(R, N), named `bpref`,
/// `bpref:rel=2`.
///
/// This is trec_eval's formula: R is the number of relevant documents (`y >= threshold`), N the number of other
/// documents and N_above the number of those ranked above the relevant document. All documents of a list count as
/// judged.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::Bpref;
/// let bpref = Bpref { threshold: 1.0 };
/// let expected = ((1.0 - 0.0) + (1.0 - 1.0 / 2.0)) / 2.0;
/// assert_eq!(bpref.value(&[1.0, 0.0, 1.0, 0.0, 0.0]), expected);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bpref {
    /// Lowest relevant label.
    pub threshold: f32,
}

impl Default for Bpref {
    fn default() -> Self {
        Bpref { threshold: 1.0 }
    }
}

impl Metric for Bpref {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number(REL.key, self.threshold, Some(1.0)).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(BprefSwaps::new(self, ranked))
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Bpref { threshold: self.threshold }
    }

    fn threshold(&self) -> Option<f32> {
        Some(self.threshold)
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let relevant = ranked.iter().filter(|&&label| label >= self.threshold).count();
        if relevant == 0 {
            return 0.0;
        }
        let bound = relevant.min(ranked.len() - relevant);
        let (mut others, mut sum) = (0usize, 0.0);
        for &label in ranked.iter().take(retrieved) {
            if label < self.threshold {
                others += 1;
            } else {
                sum += 1.0 - share(others.min(relevant), bound);
            }
        }
        sum / relevant as f64
    }
}

fn share(others: usize, bound: usize) -> f64 {
    if others == 0 { 0.0 } else { others as f64 / bound as f64 }
}

/// Changes of bpref by swaps, O(1) each.
///
/// Swapping a relevant document with another one also moves the latter above or below all relevant documents between
/// them. Let `c(x) = min(x, R)` and `o` the number of non-relevant documents above a rank. Of the relevant documents
/// above it, let `f` be the number of those with fewer than `R` non-relevant documents above (one more would lower
/// their term), and `g` the number of those with at most `R` (one fewer would raise it). The change is then a
/// difference of one value per rank:
///
/// ```text
/// relevant above:  A = c(o) + f, where o and f include the document at the rank itself
/// relevant below:  B = c(o) + g
/// ```
#[derive(Debug, Default)]
pub(crate) struct BprefSwaps {
    pub relevant: Vec<bool>,
    /// `-A` of each rank, for a relevant document above; an integer to be multiplied by `scale`.
    pub fall: Vec<f64>,
    /// `-B` of each rank, for a relevant document below.
    pub rise: Vec<f64>,
    /// 1 / (R min(R, N)).
    pub scale: f64,
    /// Number of ranks with fewer than R non-relevant documents above: swaps below them have no effect.
    pub top: usize,
}

impl BprefSwaps {
    pub fn new(bpref: &Bpref, ranked: &[f32]) -> Self {
        let relevant: Vec<bool> = ranked.iter().map(|&label| label >= bpref.threshold).collect();
        let total = relevant.iter().filter(|&&is_relevant| is_relevant).count();
        let bound = total * total.min(relevant.len() - total);
        let scale = if bound == 0 { 0.0 } else { (bound as f64).recip() };
        let (mut fall, mut rise) = (Vec::with_capacity(relevant.len()), Vec::with_capacity(relevant.len()));
        let (mut others, mut can_lose, mut can_gain, mut top) = (0, 0, 0, 0);
        for &is_relevant in &relevant {
            rise.push(-((others.min(total) + can_gain) as f64));
            top += usize::from(others < total);
            if is_relevant {
                can_lose += usize::from(others < total);
                fall.push(-((others.min(total) + can_lose) as f64));
                can_gain += usize::from(others <= total);
            } else {
                others += 1;
                fall.push(-((others.min(total) + can_lose) as f64));
            }
        }
        BprefSwaps { relevant, fall, rise, scale, top }
    }
}

impl Swaps for BprefSwaps {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        match (self.relevant[i], self.relevant[j]) {
            (true, false) => (self.fall[j] - self.fall[i]) * self.scale,
            (false, true) => (self.rise[i] - self.rise[j]) * self.scale,
            _ => 0.0,
        }
    }
}
