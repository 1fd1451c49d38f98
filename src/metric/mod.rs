//! What is judged: one measure per file, in f64 on the host.

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

/// A measure of one ranked list.
///
/// Only [`Metric::name`] and [`Metric::value`] must be given: whatever has them can be judged by, and trained for with
/// LambdaRank. Labels come in rank order, the top document first; they are finite and not negative.
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
    /// The name that says everything about the measure, as in `ndcg@10`.
    fn name(&self) -> String;

    /// The measure of a list whose labels are given in rank order.
    fn value(&self, ranked: &[f32]) -> f64;

    /// The change of [`Metric::value`] when the documents at positions `i` and `j` (from 0) swap.
    ///
    /// Swaps and evaluates again: slow, obviously right, and the oracle of every [`Metric::swaps`].
    ///
    /// # Panics
    /// When a position is outside the list.
    fn swap_delta(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        let mut swapped = ranked.to_vec();
        swapped.swap(i, j);
        self.value(&swapped) - self.value(ranked)
    }

    /// Prepares one ranked list so that any number of swaps can be asked for cheaply.
    ///
    /// Asks [`Metric::swap_delta`] unless a measure knows better; all measures of this crate do.
    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(SwapAndEvaluate { metric: self, ranked })
    }

    /// Whether a query with these labels (in any order) has nothing that this measure could find.
    fn is_empty(&self, labels: &[f32]) -> bool {
        labels.iter().all(|&label| label <= 0.0)
    }

    /// The lowest relevant label of a binary metric, which distinguishes relevant documents from others and nothing else.
    fn threshold(&self) -> Option<f32> {
        None
    }

    /// Whether smaller values are better, as for ARP.
    fn is_cost(&self) -> bool {
        false
    }

    /// What the measure is, where a faster kernel exists for it than [`Metric::swaps`].
    fn kind(&self) -> MetricKind {
        MetricKind::Other
    }

    /// The number of top ranks whose order matters, as in 10 for `ndcg@10`; `None` when all do.
    ///
    /// A measure that gives one must not depend on the order of the documents behind.
    fn depth(&self) -> Option<usize> {
        None
    }

    /// The mean of [`Metric::value`] over all orders of documents with equal scores, where it has a closed form.
    ///
    /// `ends` holds where each group of equal scores ends, as in `[1, 4]` when the documents at positions 1 to 3 tie;
    /// `retrieved` is that of [`Metric::value_of_retrieved`].
    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], retrieved: usize) -> Option<f64> {
        let _ = (ranked, ends, retrieved);
        None
    }

    /// The measure when only the first `retrieved` documents were returned: the others count in ideals and totals,
    /// but have no rank.
    ///
    /// Measures to which this makes no difference rank the others last.
    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let _ = retrieved;
        self.value(ranked)
    }

    /// Refuses labels that the measure has no value for, as grades above the highest grade of ERR.
    ///
    /// # Errors
    /// When there is such a label.
    fn check(&self, labels: &[f32]) -> Result<()> {
        let _ = labels;
        Ok(())
    }
}

/// The swaps of one ranked list, prepared by [`Metric::swaps`].
pub trait Swaps {
    /// The change of the measure when positions `i` and `j` (from 0) swap; 0 when they are the same.
    ///
    /// # Panics
    /// When a position is outside the list.
    fn delta(&self, i: usize, j: usize) -> f64;
}

/// Which measure a [`Metric`] is, for those that a dedicated kernel exists for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricKind {
    /// NDCG, all ranks when `k` is `None`.
    Ndcg {
        /// The last rank that counts.
        k: Option<usize>,
        /// What a label is worth.
        gain: Gain,
    },
    /// Average precision.
    Ap {
        /// The last rank that counts.
        k: Option<usize>,
        /// Labels of at least this are relevant.
        threshold: f32,
    },
    /// Reciprocal rank.
    Rr {
        /// The last rank that counts.
        k: Option<usize>,
        /// Labels of at least this are relevant.
        threshold: f32,
    },
    /// DCG, all ranks when `k` is `None`.
    Dcg {
        /// The last rank that counts.
        k: Option<usize>,
        /// What a label is worth.
        gain: Gain,
    },
    /// Expected reciprocal rank, all ranks when `k` is `None`.
    Err {
        /// The last rank that counts.
        k: Option<usize>,
        /// The highest grade of the scale.
        max: f32,
    },
    /// Binary preference.
    Bpref {
        /// Labels of at least this are relevant.
        threshold: f32,
    },
    /// The share of pairs in the right order, or in the wrong one.
    Pairs,
    /// Average relevance position.
    Arp {
        /// Mean or sum.
        form: ArpForm,
    },
    /// Any other measure.
    Other,
}

/// The slow way, for any measure.
struct SwapAndEvaluate<'a, M: ?Sized> {
    metric: &'a M,
    ranked: &'a [f32],
}

impl<M: Metric + ?Sized> Swaps for SwapAndEvaluate<'_, M> {
    fn delta(&self, i: usize, j: usize) -> f64 {
        self.metric.swap_delta(self.ranked, i, j)
    }
}
