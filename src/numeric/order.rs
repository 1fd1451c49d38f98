//! The order of scores: descending, with NaN as minus infinity and -0 as 0.

use std::cmp::Ordering;

/// Bound that scores are clamped to before they are compared or subtracted: differences stay finite, and the sigmoid of
/// a difference of that size is 0 or 1 anyway.
pub const LARGEST_SCORE: f32 = 1e30;

/// Clamps a score for comparison and subtraction: NaN becomes the lowest score, and infinities become
/// [`LARGEST_SCORE`].
#[inline]
pub(crate) fn safe(score: f32) -> f32 {
    let number = if score.is_nan() { -LARGEST_SCORE } else { score };
    // Adding 0 turns -0 into 0.
    number.clamp(-LARGEST_SCORE, LARGEST_SCORE) + 0.0
}

/// Ascending order of two scores, with NaN as minus infinity and -0 as 0. Sorting uses this instead of `total_cmp`,
/// which orders -0 below 0.
#[inline]
pub(crate) fn compare(a: f64, b: f64) -> Ordering {
    let number = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score + 0.0 };
    number(a).total_cmp(&number(b))
}

/// A score that documents are ranked by: `f32` or `f64`.
///
/// NaN counts as minus infinity, and -0 as 0.
pub trait Score: Copy + Send + Sync + private::Key {}

impl Score for f32 {}
impl Score for f64 {}

pub(crate) mod private {
    use std::fmt::Debug;

    /// Packs a score and a tie breaker into one integer whose ascending order is the ranking, which sorts fastest.
    pub trait Key: Copy {
        type Packed: Copy + Ord + Send + Debug;
        fn pack(self, breaker: u32) -> Self::Packed;
        fn breaker(packed: Self::Packed) -> u32;
        fn ties(a: Self::Packed, b: Self::Packed) -> bool;
        /// Returns whether the score is neither NaN nor minus infinity.
        fn is_above_bottom(self) -> bool;
    }

    impl Key for f32 {
        type Packed = u64;

        #[inline]
        fn pack(self, breaker: u32) -> u64 {
            let number = if self.is_nan() { f32::NEG_INFINITY } else { self };
            u64::from(!super::ascending(number)) << 32 | u64::from(breaker)
        }

        #[inline]
        fn breaker(packed: u64) -> u32 {
            packed as u32
        }

        #[inline]
        fn ties(a: u64, b: u64) -> bool {
            a >> 32 == b >> 32
        }

        #[inline]
        fn is_above_bottom(self) -> bool {
            self > f32::NEG_INFINITY
        }
    }

    impl Key for f64 {
        type Packed = u128;

        #[inline]
        fn pack(self, breaker: u32) -> u128 {
            let number = if self.is_nan() { f64::NEG_INFINITY } else { self };
            let bits = (number + 0.0).to_bits();
            let ascending = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            u128::from(!ascending) << 32 | u128::from(breaker)
        }

        #[inline]
        fn breaker(packed: u128) -> u32 {
            packed as u32
        }

        #[inline]
        fn ties(a: u128, b: u128) -> bool {
            a >> 32 == b >> 32
        }

        #[inline]
        fn is_above_bottom(self) -> bool {
            self > f64::NEG_INFINITY
        }
    }
}

/// Maps a number to an integer of the same order. -0 and 0 give the same integer.
#[inline]
pub(crate) fn ascending(number: f32) -> u32 {
    let bits = (number + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// Inverse of [`ascending`].
#[inline]
pub(crate) fn from_ascending(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key ^ 1 << 31 } else { !key })
}

/// Sort key: ascending keys are descending scores, then ascending documents.
#[inline]
pub(crate) fn key(score: f32, document: usize) -> u64 {
    private::Key::pack(score, document as u32)
}

/// The score of a key; minus infinity for NaN, 0 for -0.
#[inline]
pub(crate) fn number(key: u64) -> f32 {
    from_ascending(!((key >> 32) as u32))
}

/// Sorts scores into `keys`, whose lower halves are then the documents from the top rank down.
pub(crate) fn sort(scores: impl Iterator<Item = f32>, keys: &mut Vec<u64>, spare: &mut Vec<u64>) {
    keys.clear();
    keys.extend(scores.enumerate().map(|(document, score)| key(score, document)));
    sort_keys(keys, spare);
}

/// Sorts keys by their upper halves. Their lower halves must already be in order.
pub(crate) fn sort_keys(keys: &mut Vec<u64>, spare: &mut Vec<u64>) {
    if keys.len() < BY_DIGITS {
        keys.sort_unstable();
    } else {
        sort_by_digits(keys, spare);
    }
}

/// Lists of at least this length are sorted by digits, in linear time.
const BY_DIGITS: usize = 1500;
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;

/// Radix sort: three stable passes over the digits of the upper halves.
fn sort_by_digits(keys: &mut Vec<u64>, spare: &mut Vec<u64>) {
    let digit = |key: u64, pass: usize| (key >> (32 + DIGIT * pass as u32)) as usize % BUCKETS;
    let mut starts = [[0u32; BUCKETS]; 3];
    for &key in keys.iter() {
        for (pass, counts) in starts.iter_mut().enumerate() {
            counts[digit(key, pass)] += 1;
        }
    }
    spare.resize(keys.len(), 0);
    for (pass, starts) in starts.iter_mut().enumerate() {
        let mut sum = 0;
        starts.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
        for &key in keys.iter() {
            let start = &mut starts[digit(key, pass)];
            spare[*start as usize] = key;
            *start += 1;
        }
        std::mem::swap(keys, spare);
    }
}

/// The document of a key.
#[inline]
pub(crate) fn document(key: u64) -> usize {
    key as u32 as usize
}

/// Returns the documents from the top rank down, as ranked in training.
///
/// As in every kernel, NaN counts as the lowest score and scores are clamped to ±1e30.
///
/// ```
/// assert_eq!(burnrank::numeric::training_order(&[0.5, f32::NAN, 2.0, 0.5]), [2, 0, 3, 1]);
/// ```
pub fn training_order(scores: &[f32]) -> Vec<usize> {
    let mut keys = Vec::new();
    sort(scores.iter().map(|&score| safe(score)), &mut keys, &mut Vec::new());
    keys.into_iter().map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_compared_by_value() {
        for (a, b, expected) in [
            (0.0, -0.0, Ordering::Equal),
            (-0.0, 0.0, Ordering::Equal),
            (1.0, -1.0, Ordering::Greater),
            (f64::NAN, f64::NEG_INFINITY, Ordering::Equal),
            (f64::NAN, -1e300, Ordering::Less),
        ] {
            assert_eq!(compare(a, b), expected, "{a} {b}");
        }
    }

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
    fn training_order_is_that_of_a_stable_sort() {
        for n in [0, 1, 2, 500, BY_DIGITS, 5_000] {
            let scores: Vec<f32> = (0..n).map(|i| ((i * 7919) % 883) as f32 / 8.0 - 50.0).collect();
            let mut expected: Vec<usize> = (0..n).collect();
            expected.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            assert_eq!(training_order(&scores), expected);
        }
    }

    #[test]
    fn numbers_round_trip_through_keys() {
        for score in [0.0, 1.5, -1.5, LARGEST_SCORE, -LARGEST_SCORE, f32::MIN_POSITIVE, -1e-40, 3e38, f32::INFINITY] {
            assert_eq!(number(key(score, 7)), score);
            assert_eq!(document(key(score, 7)), 7);
        }
    }

    #[test]
    fn f32_and_f64_have_the_same_order() {
        let scores = [f32::NAN, f32::NEG_INFINITY, -3e38, -0.0, 0.0, 1e-40, 1.0, 1e31, 2e31, f32::INFINITY];
        for (a, b) in scores.iter().flat_map(|&a| scores.map(|b| (a, b))) {
            let single = private::Key::pack(a, 0).cmp(&private::Key::pack(b, 0));
            let double = private::Key::pack(f64::from(a), 0).cmp(&private::Key::pack(f64::from(b), 0));
            assert_eq!(single, double, "{a} {b}");
            let value = |score: f32| if score.is_nan() { f32::NEG_INFINITY } else { score };
            assert_eq!(Some(single), value(b).partial_cmp(&value(a)), "{a} {b}");
        }
    }
}
