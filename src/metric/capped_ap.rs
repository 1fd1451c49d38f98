//! Average precision that a full first page can reach.

use super::name::{rel_option, spell};
use super::{Ap, KnownMetric, Metric};
use std::sync::Arc;

pub(super) const ROW: KnownMetric = KnownMetric {
    name: "capped-map",
    aliases: &[],
    suffix: "[:rel=y]@k",
    help: "average precision over at most k: LightGBM's and XGBoost's map@k",
    make: |parts| Ok(Arc::new(CappedAp { threshold: parts.threshold()?, k: parts.needed_k()? })),
};

/// 1/min(R, k) sum over relevant ranks r <= k of (relevant documents up to r) / r, named `capped-map@10`.
///
/// [`Ap`] divides by all R relevant documents, as trec_eval does.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::CappedAp;
/// assert_eq!(CappedAp { k: 1, threshold: 1.0 }.value(&[1.0, 1.0, 0.0]), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CappedAp {
    /// The last rank that counts.
    pub k: usize,
    /// Labels of at least this are relevant.
    pub threshold: f32,
}

impl Metric for CappedAp {
    fn name(&self) -> String {
        spell(ROW.name, &[rel_option(self.threshold)], Some(self.k))
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn is_empty(&self, labels: &[f32]) -> bool {
        !labels.iter().any(|&label| label >= self.threshold)
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
