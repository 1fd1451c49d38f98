//! SIMD lanes of f32, chosen at run time: AVX-512, AVX2 with FMA, or plain arrays that any compiler turns into its
//! baseline vectors (SSE2, NEON).
//!
//! A kernel is written once over [`Simd`] and passed to [`dispatch`], which compiles it once per instruction set. Sums
//! run lane by lane in a fixed order, so one machine always gives identical results. Another instruction set, with more
//! lanes or fused multiply-add, may differ in the last bits. [`portable`] trades speed for results that are identical
//! on every machine.
//!
//! The crate `pulp`, a dependency of Burn's matrix products, was tried instead of `x86`: same loops, same results.
//! Millions of pairs per second of CPU time on one thread of an AVX2 machine, both in one program, alternating (best of
//! 90 repeats on a busy machine; kernels without hessian; columns: `x86`, `pulp`, ratio):
//!
//! ```text
//! pair by pair, 120 documents    RankNet                 983    1125  1.14
//!                                LambdaRank for NDCG    1030    1018  0.99
//!                                the same with loss      672     663  0.99
//!                                scores far apart        501     494  0.99
//!                                NDCG-Loss2++            752     717  0.95
//! 600 documents                  LambdaRank for NDCG    3121    2987  0.96
//! sweep, 100,000 documents       RankNet              413669  414390  1.00
//!                                LambdaRank for NDCG  185532  184990  1.00
//!                                the same with loss   179132  174428  0.97
//!                                NDCG-Loss2            13885   13193  0.95
//! ```
//!
//! By medians, the ratio is 0.92 for NDCG-Loss2 and 0.93 for 600 documents. `pulp` would only save the `unsafe` code of
//! one file, not the trait or the portable lanes: its own trait fixes neither the number of lanes nor the order of
//! sums.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use portable::Lanes;
pub use portable::{portable, set_portable};

/// Operations of kernels on `N` lanes.
pub(crate) trait Simd<const N: usize>: Copy {
    /// Name of the instruction set.
    const NAME: &'static str;
    /// `N` lanes of f32.
    type V: Copy;
    /// Four lanes of f64.
    type D: Copy;
    fn splat64(self, value: f64) -> Self::D;
    fn load64(self, from: &[f64; 4]) -> Self::D;
    fn add64(self, a: Self::D, b: Self::D) -> Self::D;
    fn mul64(self, a: Self::D, b: Self::D) -> Self::D;
    /// `a b + c`.
    fn fma64(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D;
    /// Sum of the lanes.
    fn sum64(self, a: Self::D) -> f64;
    fn splat(self, value: f32) -> Self::V;
    fn load(self, from: &[f32; N]) -> Self::V;
    fn store(self, to: &mut [f32; N], value: Self::V);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn abs(self, a: Self::V) -> Self::V;
    /// `a b + c`.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `yes` where `a < b`, else `no`.
    fn if_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Rounds to the nearest integer.
    fn round(self, a: Self::V) -> Self::V;
    /// `2^a` for integers from -126 to 127.
    fn pow2(self, a: Self::V) -> Self::V;
    /// Sum of the lanes.
    fn sum(self, a: Self::V) -> f32;

    /// Hints that the memory at an address will soon be read; any address is valid.
    #[inline(always)]
    fn prefetch(self, from: *const f32) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 machine has the instruction, and it never faults.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(from.cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = from;
    }

    /// `coefficients[0] + coefficients[1] x + ...`.
    #[inline(always)]
    fn polynomial(self, x: Self::V, coefficients: &[f32]) -> Self::V {
        let mut sum = self.splat(0.0);
        for (step, &coefficient) in coefficients.iter().rev().enumerate() {
            let coefficient = self.splat(coefficient);
            sum = if step == 0 { coefficient } else { self.fma(sum, x, coefficient) };
        }
        sum
    }

    /// `e^-x` for `x >= 0` with a relative error below 2e-7; 0 above 87.
    #[inline(always)]
    fn exp_minus(self, x: Self::V) -> Self::V {
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        let limit = self.splat(87.0);
        let y = self.sub(self.splat(0.0), self.min(x, limit));
        let power = self.round(self.mul(y, self.splat(std::f32::consts::LOG2_E)));
        let rest = self.fma(power, self.splat(-LN_2_HIGH), y);
        let rest = self.fma(power, self.splat(-LN_2_LOW), rest);
        let value = self.polynomial(rest, &[1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0]);
        self.if_less(x, limit, self.mul(value, self.pow2(power)), self.splat(0.0))
    }
}

/// A computation that can be compiled for any lanes.
///
/// `run` must be `#[inline(always)]`: only then is it compiled with the instructions of its caller.
pub(crate) trait Vectorised {
    type Output;
    fn run<const N: usize, S: Simd<N>>(self, simd: S) -> Self::Output;
}

/// Maximum number of lanes of any instruction set: arrays are padded to a multiple of it.
pub(crate) const WIDEST: usize = 16;

#[cfg(test)]
thread_local! {
    /// Whether this thread uses portable lanes.
    pub(crate) static PORTABLE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Whether this thread's portable lanes are those compiled with AVX2 and FMA enabled.
    pub(crate) static WIDER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether the compilation target has fused multiply-add.
const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// Runs on the best lanes of this machine, or on portable lanes if they are requested.
#[inline]
pub(crate) fn dispatch<T: Vectorised>(task: T) -> T::Output {
    #[cfg(test)]
    if PORTABLE.get() {
        #[cfg(target_arch = "x86_64")]
        if WIDER.get() && std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has AVX2 and FMA.
            return unsafe { x86::run_portable(task) };
        }
        return task.run(Lanes::<false>);
    }
    if portable() {
        return task.run(Lanes::<false>);
    }
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has AVX-512F.
            return unsafe { x86::run_avx512(task) };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has AVX2 and FMA.
            return unsafe { x86::run_avx2(task) };
        }
    }
    task.run(Lanes::<FUSED>)
}

/// Returns the instruction set of this crate's kernels on this machine: `AVX-512`, `AVX2 with FMA`, the `baseline` of
/// the compilation target (SSE2, NEON), or `portable` if requested with [`set_portable`].
pub fn instruction_set() -> &'static str {
    struct Name;
    impl Vectorised for Name {
        type Output = &'static str;

        #[inline(always)]
        fn run<const N: usize, S: Simd<N>>(self, _: S) -> &'static str {
            S::NAME
        }
    }
    if portable() { "portable" } else { dispatch(Name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Exponential([f32; WIDEST]);

    impl Vectorised for Exponential {
        type Output = [f32; WIDEST];

        #[inline(always)]
        fn run<const N: usize, S: Simd<N>>(self, simd: S) -> [f32; WIDEST] {
            let mut output = [f32::NAN; WIDEST];
            let (from, to) = (self.0.as_chunks::<N>().0, output.as_chunks_mut::<N>().0);
            from.iter().zip(to).for_each(|(from, to)| simd.store(to, simd.exp_minus(simd.load(from))));
            output
        }
    }

    #[test]
    fn exponentials_are_accurate_on_every_lane() {
        for step in 0..6_000 {
            let x: [f32; WIDEST] = std::array::from_fn(|lane| (step * WIDEST + lane) as f32 * 1e-3);
            for output in [dispatch(Exponential(x)), Exponential(x).run(Lanes::<false>)] {
                for (x, y) in x.into_iter().zip(output) {
                    let expected = if x < 87.0 { (-f64::from(x)).exp() } else { 0.0 };
                    // Rounding x log2(e) costs nothing; rounding 2^k e^rest costs a few units in the last place.
                    assert!((f64::from(y) - expected).abs() <= 3e-7 * expected, "{x}: {y} is not {expected}");
                }
            }
        }
    }

    struct Sum([f32; WIDEST]);

    impl Vectorised for Sum {
        type Output = f32;

        #[inline(always)]
        fn run<const N: usize, S: Simd<N>>(self, simd: S) -> f32 {
            self.0.as_chunks::<N>().0.iter().map(|chunk| simd.sum(simd.load(chunk))).sum()
        }
    }

    #[test]
    fn each_lane_is_summed_once() {
        let powers: [f32; WIDEST] = std::array::from_fn(|lane| 2f32.powi(lane as i32));
        assert_eq!(dispatch(Sum(powers)), 65_535.0);
        assert_eq!(Sum(powers).run(Lanes::<false>), 65_535.0);
    }
}
