//! How the values of a document follow from labels and ranks, for whoever counts ranks and sorts nothing.

/// How the values that [`PairWeight::values`](super::PairWeight::values) fills in follow from labels and ranks.
///
/// A device counts ranks and then makes the values by this rule, so that no list ever goes back to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueRule {
    /// The first value depends on the labels of the query alone, the second on the rank alone.
    Apart,
    /// The first value is one that depends on the labels alone, times the discount `1/D` of the rank; there is no second.
    Discounted,
    /// Those of average precision over the top `k` ranks.
    Precision {
        /// All ranks, where there is none.
        k: Option<usize>,
    },
    /// Those of the reciprocal rank of the top relevant document, which may only rise.
    FirstRelevant {
        /// All ranks, where there is none.
        k: Option<usize>,
    },
    /// Those of the reciprocal rank, which may rise and fall.
    FirstTwoRelevant {
        /// All ranks, where there is none.
        k: Option<usize>,
    },
    /// Those of binary preference.
    Preference,
    /// Those of the expected reciprocal rank; the first value, the chance to stop, depends on the label alone.
    Cascade {
        /// All ranks, where there is none.
        k: Option<usize>,
    },
}
