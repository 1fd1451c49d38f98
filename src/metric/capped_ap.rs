//! Average precision with a divisor of at most `k`.

use super::name::REL;
use super::{Ap, Metric, MetricEntry};
use crate::name::{Cutoff, Spelling};
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "capped-map",
    aliases: &[],
    parameters: &[REL],
    cutoff: Cutoff::Needed,
    help: "average precision with divisor min(R, k) for R relevant documents: map@k of LightGBM and XGBoost",
    make: |name| Arc::new(CappedAp { threshold: name.threshold(), k: name.needed_k() }),
};

/// Average precision with divisor min(R, k): 1/min(R, k) sum over relevant ranks r <= k of (relevant documents up to r) /
/// r, named `capped-map@10`.
///
/// [`Ap`] divides by the number R of all relevant documents, as trec_eval does.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::CappedAp;
/// assert_eq!(CappedAp { k: 1, threshold: 1.0 }.value(&[1.0, 1.0, 0.0]), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CappedAp {
    /// Rank cutoff.
    pub k: usize,
    /// Lowest relevant label.
    pub threshold: f32,
}

impl Metric for CappedAp {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number(REL.key, self.threshold, Some(1.0)).cutoff(Some(self.k)).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn threshold(&self) -> Option<f32> {
        Some(self.threshold)
    }

    fn depth(&self) -> Option<usize> {
        Some(self.k)
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let relevant = ranked.iter().filter(|label| **label >= self.threshold).count();
        let over_all = Ap { k: Some(self.k), threshold: self.threshold }.value_of_retrieved(ranked, retrieved);
        if relevant == 0 { 0.0 } else { over_all * relevant as f64 / relevant.min(self.k) as f64 }
    }
}
