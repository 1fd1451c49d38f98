//! Maps feature values to integers of the same order, so that every test in a tree is `key > threshold`.
//!
//! An f32 is at most an f64 threshold if and only if it is at most the largest f32 not above the threshold. The bits of
//! f32, read as integers, have the order of the values. Missing values become the smallest or the largest integer,
//! which sends them to their side.

use super::tree::WhenMissing;

/// LightGBM treats values of at most this magnitude as zero.
pub(crate) const ZERO: f32 = 1e-35;

/// Replaces values that LightGBM treats as zero with zero.
#[inline(always)]
pub(super) fn flushed(value: f32) -> f32 {
    if value.abs() <= ZERO { 0.0 } else { value }
}

/// Maps a value that is neither NaN nor -0 to an integer; the order of values is kept.
#[inline(always)]
fn ordered(value: f32) -> i32 {
    let bits = value.to_bits().cast_signed();
    // Reverses the order of negative values; the sign stays.
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// The largest key that goes left.
pub(super) fn of_threshold(threshold: f64) -> i32 {
    // Converts -0 to 0.
    ordered(largest_f32(threshold) + 0.0)
}

/// The largest f32 that is at most `number`.
pub(crate) fn largest_f32(number: f64) -> f32 {
    let nearest = number as f32;
    if f64::from(nearest) > number { nearest.next_down() } else { nearest }
}

/// The keys of `N` values of one feature.
#[inline(always)]
pub(super) fn of_values<const N: usize>(values: &[f32; N], missing: WhenMissing) -> [i32; N] {
    match missing {
        WhenMissing::NanIsZero => values.map(|value| key(value, 0, None)),
        WhenMissing::NanLeft => values.map(|value| key(value, i32::MIN, None)),
        WhenMissing::NanRight => values.map(|value| key(value, i32::MAX, None)),
        WhenMissing::ZeroLeft => values.map(|value| key(value, i32::MIN, Some(i32::MIN))),
        WhenMissing::ZeroRight => values.map(|value| key(value, i32::MAX, Some(i32::MAX))),
    }
}

#[inline(always)]
fn key(value: f32, nan: i32, zero: Option<i32>) -> i32 {
    let key = ordered(value);
    let key = if value.abs() <= ZERO { zero.unwrap_or(0) } else { key };
    if value.is_nan() { nan } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_values() {
        let values = [f32::NEG_INFINITY, f32::MIN, -1.5, -1e-30, 0.0, 2e-35, 0.5, f32::MAX, f32::INFINITY];
        let keys = of_values(&values, WhenMissing::NanIsZero);
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert!(i32::MIN < keys[0] && keys[8] < i32::MAX);
        assert_eq!(of_values(&[-0.0, 1e-40, -1e-35, f32::NAN], WhenMissing::NanIsZero), [0; 4]);
    }

    #[test]
    fn comparing_keys_equals_comparing_values() {
        let edges = [0.0, 1e-35, 1e-30, 0.1, 1.0, 1.5, 3.4e38, f32::MAX, f32::INFINITY];
        let values: Vec<f32> = edges.iter().flat_map(|&x: &f32| [x, -x, x.next_up(), -x.next_down()]).collect();
        let mut thresholds = vec![1e300, -1e300, 5e-324, -5e-324, -0.0];
        for &value in values.iter().filter(|value| !value.is_nan()) {
            let exact = f64::from(value);
            thresholds.extend([exact, exact.next_up(), exact.next_down()]);
        }
        for &threshold in thresholds.iter().filter(|threshold| !threshold.is_nan()) {
            for &value in values.iter().filter(|value| !value.is_nan()) {
                let left = f64::from(flushed(value)) <= threshold;
                let key = of_values(&[value], WhenMissing::NanLeft)[0];
                assert_eq!(key <= of_threshold(threshold), left, "{value:e} and {threshold:e}");
            }
        }
    }
}
