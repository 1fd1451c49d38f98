//! Gains of labels, discounts of ranks and the ideal DCG.

use crate::name::words;
use std::borrow::Cow;
use std::sync::OnceLock;

words! {
    /// Gain of a label `y`.
    ///
    /// ```
    /// use burnrank::metric::Gain;
    /// assert_eq!(Gain::Exponential.of(3.0), 7.0);
    /// assert_eq!(Gain::Linear.of(3.0), 3.0);
    /// ```
    #[derive(Default)]
    pub enum Gain: "gain" {
        /// 2^y - 1: Eq. 1 of the LambdaRank paper (2006) and Eq. 4 of the LambdaLoss paper.
        ///
        /// The gains 0, 3, 7, 15 and 31 in section 6.3 of the LambdaRank paper are those of labels 0, 2, 3, 4 and 5.
        #[default]
        Exponential = "exponential" | "exp",
        /// y, the gain of trec_eval and scikit-learn.
        Linear = "linear",
    }
}

impl Gain {
    /// Returns the gain of a label.
    #[inline]
    pub fn of(self, label: f32) -> f64 {
        match self {
            Gain::Exponential => match POWERS.get(label as usize) {
                Some(power) if label >= 0.0 && label.trunc() == label => power - 1.0,
                _ => f64::from(label).exp2() - 1.0,
            },
            Gain::Linear => label.into(),
        }
    }
}

/// 2^y for common labels: a lookup is faster than `exp2`.
const POWERS: [f64; LEVELS] = {
    let mut powers = [1.0; LEVELS];
    let mut level = 1;
    while level < LEVELS {
        powers[level] = powers[level - 1] * 2.0;
        level += 1;
    }
    powers
};

/// Integer labels below this are sorted by counting.
const LEVELS: usize = 32;

/// Number of precomputed discounts.
const TABLE: usize = 1 << 16;

fn table() -> &'static [f64] {
    static DISCOUNTS: OnceLock<Vec<f64>> = OnceLock::new();
    DISCOUNTS.get_or_init(|| (0..TABLE).map(compute).collect())
}

fn compute(position: usize) -> f64 {
    (position as f64 + 2.0).log2().recip()
}

/// Returns 1 / log2(1 + rank) for a position counted from 0 (rank = position + 1).
///
/// ```
/// assert_eq!(burnrank::metric::discount(0), 1.0);
/// assert_eq!(burnrank::metric::discount(2), 0.5);
/// ```
pub fn discount(position: usize) -> f64 {
    table().get(position).copied().unwrap_or_else(|| compute(position))
}

/// Returns the discounts of the first `n` positions.
pub fn discounts(n: usize) -> Cow<'static, [f64]> {
    match table().get(..n) {
        Some(cached) => Cow::Borrowed(cached),
        None => Cow::Owned((0..n).map(discount).collect()),
    }
}

/// Returns the ideal DCG@k: that of the labels, given in any order, sorted in descending order.
///
/// ```
/// use burnrank::metric::{Gain, max_dcg};
/// let ideal = 7.0 + 3.0 / 3f64.log2() + 1.0 / 2.0;
/// assert!((max_dcg(&[0.0, 1.0, 2.0, 0.0, 3.0], None, Gain::Exponential) - ideal).abs() < 1e-12);
/// ```
pub fn max_dcg(labels: &[f32], k: Option<usize>, gain: Gain) -> f64 {
    let depth = k.unwrap_or(labels.len()).min(labels.len());
    let mut counts = [0usize; LEVELS];
    for &label in labels {
        // Negative labels, fractions and NaN do not survive the round trip.
        let level = label as usize;
        if level >= LEVELS || level as f32 != label {
            return max_dcg_by_sorting(labels, depth, gain);
        }
        counts[level] += 1;
    }
    let discounts = discounts(depth);
    let (mut sum, mut position) = (0.0, 0);
    for level in (1..LEVELS).rev() {
        let level_gain = gain.of(level as f32);
        let end = (position + counts[level]).min(depth);
        // Add term by term, as DCG does, so that a perfect ranking has an NDCG of exactly 1.
        for discount in &discounts[position..end] {
            sum += level_gain * discount;
        }
        position = end;
    }
    sum
}

fn max_dcg_by_sorting(labels: &[f32], depth: usize, gain: Gain) -> f64 {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    sorted.iter().zip(discounts(depth).iter()).map(|(&label, discount)| gain.of(label) * discount).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_and_sorting_agree() {
        let labels = [3.0, 0.0, 31.0, 2.0, 2.0, 1.0, 0.0];
        for gain in [Gain::Exponential, Gain::Linear] {
            for k in 1..9 {
                let depth = k.min(labels.len());
                assert_eq!(max_dcg(&labels, Some(k), gain), max_dcg_by_sorting(&labels, depth, gain));
            }
        }
    }

    #[test]
    fn fractions_and_high_labels_have_gains() {
        assert_eq!(Gain::Exponential.of(0.5), 2f64.sqrt() - 1.0);
        assert_eq!(Gain::Exponential.of(40.0), 2f64.powi(40) - 1.0);
        assert_eq!(Gain::Exponential.of(0.0), 0.0);
        assert_eq!(Gain::Exponential.of(-1.0), -0.5);
        assert_eq!(max_dcg(&[0.5, 2.5], None, Gain::Linear), 2.5 + 0.5 / 3f64.log2());
    }

    #[test]
    fn discounts_extend_beyond_the_table() {
        let long = discounts(TABLE + 3);
        assert_eq!(long.len(), TABLE + 3);
        assert_eq!(long[TABLE + 2], ((TABLE + 4) as f64).log2().recip());
        assert_eq!(discounts(3).len(), 3);
    }
}
