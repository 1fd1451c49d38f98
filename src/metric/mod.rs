//! Evaluation metrics: one per file, computed in f64 on the host.

mod ap;
mod arp;
mod bpref;
mod capped_ap;
mod dcg;
mod err;
mod evaluate;
mod gain;
mod incremental;
mod letor;
mod name;
mod ndcg;
mod order;
mod pairs;
mod peer;
mod precision;
mod recall;
mod registry;
mod rr;
mod summary;
mod ties;
mod wta;

#[cfg(test)]
mod peer_tests;
#[cfg(test)]
mod shared_tests;

pub use crate::numeric::Score;
pub use ap::Ap;
pub use arp::{Arp, ArpForm};
pub use bpref::Bpref;
pub(crate) use bpref::BprefSwaps;
pub use capped_ap::CappedAp;
pub use dcg::Dcg;
pub(crate) use err::ErrSwaps;
pub use err::ExpectedRr;
pub use evaluate::{Conventions, Empty, Missing, evaluate, evaluate_query};
pub use gain::{Gain, discount, discounts, max_dcg};
pub(crate) use incremental::{IncrementalEvaluator, LabelledQuery};
pub use letor::LetorNdcg;
pub use ndcg::Ndcg;
pub use order::{Ties, order, rank_order};
pub use pairs::PairwiseAccuracy;
pub use peer::Peer;
pub use precision::Precision;
pub use recall::Recall;
pub(crate) use registry::with_cutoff;
pub use registry::{DEFAULT_METRIC, METRICS, MetricEntry, REPORTED_METRICS, parse, parse_like_trec_eval, parse_with};
pub use rr::Rr;
pub use summary::Summary;
pub use wta::{Rate, Wta};

use crate::error::Result;
use std::fmt::Debug;

/// A metric of one ranked list.
///
/// Only [`Metric::name`] and [`Metric::value`] are required: with them a metric can be evaluated and optimised with
/// LambdaRank. Labels are given in rank order, top document first; they are finite and not negative.
///
/// ```
/// use burnrank::Metric;
/// /// The label of the second document.
/// #[derive(Debug)]
/// struct Second;
/// impl Metric for Second {
///     fn name(&self) -> String {
///         "second".to_owned()
///     }
///     fn value(&self, ranked: &[f32]) -> f64 {
///         ranked.get(1).map_or(0.0, |&label| label.into())
///     }
/// }
/// let metric: std::sync::Arc<dyn Metric> = std::sync::Arc::new(Second);
/// assert_eq!(metric.swaps(&[0.0, 1.0, 3.0]).delta(1, 2), 2.0);
/// ```
pub trait Metric: Debug + Send + Sync {
    /// Returns the full name of the metric, as in `ndcg@10`.
    fn name(&self) -> String;

    /// Returns the metric's value for a list, given its labels in rank order.
    fn value(&self, ranked: &[f32]) -> f64;

    /// Returns the change of [`Metric::value`] when the documents at positions `i` and `j` (from 0) swap.
    ///
    /// The default swaps and evaluates again: slow but simple, and the reference for every [`Metric::swaps`].
    ///
    /// # Panics
    /// Panics if a position is out of bounds.
    fn swap_delta(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        let mut swapped = ranked.to_vec();
        swapped.swap(i, j);
        self.value(&swapped) - self.value(ranked)
    }

    /// Prepares one ranked list for computing the changes of many swaps.
    ///
    /// The default calls [`Metric::swap_delta`]; most metrics of this crate have a faster implementation.
    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(SwapAndEvaluate { metric: self, ranked })
    }

    /// Returns whether a query with these labels (in any order) has no relevant documents.
    fn is_empty(&self, labels: &[f32]) -> bool {
        match self.threshold() {
            Some(threshold) => !labels.iter().any(|&label| label >= threshold),
            None => labels.iter().all(|&label| label <= 0.0),
        }
    }

    /// Lowest relevant label of a binary metric; `None` if the metric distinguishes grades of relevance.
    fn threshold(&self) -> Option<f32> {
        None
    }

    /// Returns whether lower values are better, as for ARP.
    fn is_cost(&self) -> bool {
        false
    }

    /// Identifies a metric that has a faster kernel than [`Metric::swaps`].
    fn kind(&self) -> MetricKind {
        MetricKind::Other
    }

    /// Number of top ranks whose order matters, such as 10 for `ndcg@10`; `None` if all do.
    ///
    /// The value must not depend on the order of the documents below.
    fn depth(&self) -> Option<usize> {
        None
    }

    /// Mean of [`Metric::value`] over all orders of documents with equal scores; `None` if it has no closed form.
    ///
    /// `ends` holds the end of each group of equal scores, such as `[1, 4]` if the documents at positions 1 to 3 are
    /// tied; for `retrieved` see [`Metric::value_of_retrieved`].
    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], retrieved: usize) -> Option<f64> {
        let _ = (ranked, ends, retrieved);
        None
    }

    /// Value when only the first `retrieved` documents were returned: the others count in ideals and totals, but have
    /// no rank.
    ///
    /// The default ranks the others last.
    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let _ = retrieved;
        self.value(ranked)
    }

    /// Checks that the metric is defined for these labels. ERR refuses labels above its highest grade.
    ///
    /// # Errors
    /// Returns an error that names the first unsupported label.
    fn check(&self, labels: &[f32]) -> Result<()> {
        let _ = labels;
        Ok(())
    }
}

/// Changes of a metric by swaps in one ranked list, prepared by [`Metric::swaps`].
pub trait Swaps {
    /// Returns the change of the metric when positions `i` and `j` (from 0) swap; 0 if they are equal.
    ///
    /// # Panics
    /// Panics if a position is out of bounds.
    fn delta(&self, i: usize, j: usize) -> f64;
}

/// Identifies the metrics that have dedicated kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricKind {
    /// NDCG.
    Ndcg {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
        /// Gain of a label.
        gain: Gain,
    },
    /// Average precision.
    Ap {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
        /// Lowest relevant label.
        threshold: f32,
    },
    /// Reciprocal rank.
    Rr {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
        /// Lowest relevant label.
        threshold: f32,
    },
    /// DCG.
    Dcg {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
        /// Gain of a label.
        gain: Gain,
    },
    /// Expected reciprocal rank.
    Err {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
        /// Highest grade of the scale.
        max: f32,
    },
    /// Binary preference.
    Bpref {
        /// Lowest relevant label.
        threshold: f32,
    },
    /// Fraction of pairs in the right order, or in the wrong one.
    Pairs,
    /// Average relevance position.
    Arp {
        /// Mean or sum.
        form: ArpForm,
    },
    /// Any other metric.
    Other,
}

/// Default of [`Metric::swaps`] for any metric.
struct SwapAndEvaluate<'a, M: ?Sized> {
    metric: &'a M,
    ranked: &'a [f32],
}

impl<M: Metric + ?Sized> Swaps for SwapAndEvaluate<'_, M> {
    fn delta(&self, i: usize, j: usize) -> f64 {
        self.metric.swap_delta(self.ranked, i, j)
    }
}
