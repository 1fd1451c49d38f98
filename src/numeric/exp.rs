//! Exponentials without branches or calls, so that loops over them vectorise.

use crate::simd::{Simd, Vectorised, dispatch};

/// Replaces each `x` with `e^x`, with a relative error below 1e-14; `x` is clamped to -700..700.
pub(crate) fn exponentials(values: &mut [f64]) {
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

/// `e^x` in f64 with a relative error below 1e-14; `x` is clamped to -700..700.
#[inline(always)]
pub(crate) fn exponential(x: f64) -> f64 {
    /// 1 / k!, for remainders of at most ln(2) / 2.
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

/// Returns `e^x` and `e^x - 1` in f32 for `x <= 0`, both within a few units in the last place, down to the smallest
/// subnormal number. NaN stays NaN.
#[inline(always)]
pub(crate) fn exp_and_exp_m1(x: f32) -> (f32, f32) {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits.
    const MAGIC: f32 = 12_582_912.0;
    // Below this, e^x rounds to 0. A comparison instead of `max` keeps NaN.
    const LOWEST: f32 = -104.0;
    // 2^-64 and 64: a power of two that may be subnormal is built in two steps.
    const DOWN: f32 = 1.0 / 18_446_744_073_709_551_616.0;
    const UP: u32 = 64;
    let x = if x < LOWEST { LOWEST } else { x };
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let power = shifted - MAGIC;
    let rest = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    let tail = 1.0 / 24.0 + rest * (1.0 / 120.0 + rest * (1.0 / 720.0 + rest * (1.0 / 5040.0)));
    let less = rest + rest * rest * (0.5 + rest * (1.0 / 6.0 + rest * tail));
    let above = f32::from_bits(shifted.to_bits().wrapping_add(127 + UP) << 23);
    let scale = above * DOWN;
    ((above + above * less) * DOWN, scale * less + (scale - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_agrees_with_std() {
        let x: Vec<f64> = (-60_000..60_000).map(|i| f64::from(i) * 0.01).collect();
        let mut y = x.clone();
        exponentials(&mut y);
        for (x, y) in x.iter().zip(&y) {
            assert!((y / x.exp() - 1.0).abs() < 1e-14, "{x}: {y}");
        }
        assert_eq!(exponential(0.0), 1.0);
        assert!(exponential(-1e300) < 1e-300);
    }

    #[test]
    fn exp_and_exp_m1_agree_with_std() {
        for x in (0..104_000).map(|i| i as f32 * -0.001) {
            let (all, less) = exp_and_exp_m1(x);
            let (exact, exact_less) = (f64::from(x).exp(), f64::from(x).exp_m1());
            // Subnormal numbers have fewer digits.
            assert!((f64::from(all) - exact).abs() <= 4e-7 * exact + 1.5e-45, "{x}: {all}");
            assert!((f64::from(less) - exact_less).abs() <= 4e-7 * exact_less.abs(), "{x}: {less}");
        }
        assert!(exp_and_exp_m1(f32::NAN).0.is_nan());
    }
}
