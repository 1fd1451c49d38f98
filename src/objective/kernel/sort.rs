//! Ranks for training: by score, highest first; equal scores in document order.

/// Scores are cut to this before they are compared or subtracted: their differences stay finite, and a sigmoid of a
/// difference of that size is 0 or 1 all the same.
pub const LARGEST_SCORE: f32 = 1e30;

/// A score that can be compared and subtracted: NaN becomes the lowest score, infinities are cut to
/// [`LARGEST_SCORE`].
#[inline]
pub(super) fn safe(score: f32) -> f32 {
    // `max` drops a NaN; adding 0 makes -0 equal to 0 in its bits as well.
    score.max(-LARGEST_SCORE).min(LARGEST_SCORE) + 0.0
}

/// A key that sorts upwards where numbers (not -0 or NaN) sort downwards, then by document.
#[inline]
pub(super) fn key(score: f32, document: usize) -> u64 {
    let bits = score.to_bits();
    let upwards = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    (u64::from(!upwards) << 32) | document as u64
}

/// The order of safe scores: `keys` come back sorted, their lower halves are the documents from the top rank down.
pub(super) fn sort(scores: impl Iterator<Item = f32>, keys: &mut Vec<u64>) {
    keys.clear();
    keys.extend(scores.enumerate().map(|(document, score)| key(score, document)));
    keys.sort_unstable();
}

/// The document of a sorted key.
#[inline]
pub(super) fn document(key: u64) -> usize {
    key as u32 as usize
}

/// The documents from the top rank down, as training ranks them.
///
/// NaN counts as the lowest score, and scores beyond ±1e30 as equal to it, as in every kernel.
///
/// ```
/// assert_eq!(burnrank::training_order(&[0.5, f32::NAN, 2.0, 0.5]), [2, 0, 3, 1]);
/// ```
pub fn training_order(scores: &[f32]) -> Vec<usize> {
    let mut keys = Vec::new();
    sort(scores.iter().map(|&score| safe(score)), &mut keys);
    keys.into_iter().map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_keep_document_order_and_zeros_are_equal() {
        assert_eq!(training_order(&[0.0, -0.0, 0.0, -1.0, 1.0]), [4, 0, 1, 2, 3]);
    }

    #[test]
    fn infinities_are_cut_and_nan_is_lowest() {
        assert_eq!(training_order(&[f32::NAN, f32::NEG_INFINITY, f32::INFINITY, 2e30, -5.0]), [2, 3, 4, 0, 1]);
        assert_eq!(safe(f32::NAN), -LARGEST_SCORE);
        assert_eq!(safe(f32::INFINITY), LARGEST_SCORE);
    }

    #[test]
    fn the_order_is_that_of_a_stable_sort() {
        let scores: Vec<f32> = (0..500).map(|i| ((i * 7919) % 83) as f32 / 8.0 - 5.0).collect();
        let mut expected: Vec<usize> = (0..500).collect();
        expected.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        assert_eq!(training_order(&scores), expected);
    }
}
