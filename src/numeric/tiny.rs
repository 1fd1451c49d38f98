//! Numbers that training counts as zero: on many CPUs arithmetic on subnormal numbers takes a hundred times as long.

/// Smallest absolute value that does not count as zero, just above the root of the smallest normal number: the product
/// of two such values is a normal number.
pub(crate) const TINY: f32 = 1.1e-19;

/// `x`, or 0 if it is closer to 0 than [`TINY`]; NaN stays NaN.
#[inline(always)]
pub(crate) fn flushed(x: f32) -> f32 {
    if x.abs() < TINY { 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_what_is_left_are_normal_numbers() {
        assert!((TINY * TINY).is_normal() && TINY * TINY < 1.1 * f32::MIN_POSITIVE);
        assert_eq!([TINY, -TINY, 0.9 * TINY, -1e-45].map(flushed), [TINY, -TINY, 0.0, 0.0]);
        assert!(flushed(f32::NAN).is_nan() && flushed(f32::NEG_INFINITY) == f32::NEG_INFINITY);
    }
}
