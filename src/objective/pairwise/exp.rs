//! Exponentials of many numbers at once, in f64.

use crate::simd::{Simd, Vectorised, dispatch};

/// Replaces every `x` by `e^x`, relative error below 1e-14; `x` is cut to -700 and 700.
pub(super) fn exponentials(values: &mut [f64]) {
    dispatch(Exponentials(values));
}

struct Exponentials<'a>(&'a mut [f64]);

impl Vectorised for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, _: S) {
        self.0.iter_mut().for_each(|value| *value = exponential(*value));
    }
}

/// `e^x` without a branch or a call, so that loops over it become vectors.
#[inline(always)]
pub(super) fn exponential(x: f64) -> f64 {
    /// 1 / k! for the rest of at most ln(2) / 2.
    const TAYLOR: [f64; 12] = {
        let mut terms = [1.0; 12];
        let mut k = 1;
        while k < 12 {
            terms[k] = terms[k - 1] / k as f64;
            k += 1;
        }
        terms
    };
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding 1.5 * 2^52 leaves the nearest integer in the lowest bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let x = x.clamp(-700.0, 700.0);
    let shifted = x * std::f64::consts::LOG2_E + MAGIC;
    let power = shifted - MAGIC;
    let rest = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    let mut sum = TAYLOR[11];
    let mut k = 11;
    while k > 0 {
        k -= 1;
        sum = sum * rest + TAYLOR[k];
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_library() {
        let x: Vec<f64> = (-60_000..60_000).map(|i| f64::from(i) * 0.01).collect();
        let mut y = x.clone();
        exponentials(&mut y);
        for (x, y) in x.iter().zip(&y) {
            assert!((y / x.exp() - 1.0).abs() < 1e-14, "{x}: {y}");
        }
        assert_eq!(exponential(0.0), 1.0);
        assert!(exponential(-1e300) < 1e-300);
    }
}
