//! Rules that derive a document's values from labels and ranks, for devices that compute ranks without sorting.

/// How the values that [`PairWeight::values`](super::PairWeight::values) sets are computed from labels and ranks.
///
/// A device computes the ranks and then applies this rule, so that no list is copied to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueRule {
    /// The first value depends only on the labels of the query, the second only on the rank.
    Apart,
    /// The first value depends only on the labels, times the discount `1/D` of the rank; there is no second value.
    Discounted,
    /// Values of average precision over the top `k` ranks.
    Precision {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
    },
    /// Values of the reciprocal rank of the first relevant document, for swaps that raise it.
    FirstRelevant {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
    },
    /// Values of the reciprocal rank, for swaps that raise or lower it.
    FirstTwoRelevant {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
    },
    /// Values of binary preference.
    Preference,
    /// Values of the expected reciprocal rank; the first value, the probability of stopping, depends only on the label.
    Cascade {
        /// Rank cutoff; all ranks when `None`.
        k: Option<usize>,
    },
}
