//! Lanes of f32, chosen at run time: AVX-512, AVX2 with FMA, or plain arrays that any compiler turns into its baseline
//! vectors (SSE2, NEON).
//!
//! A kernel is written once over [`Simd`] and handed to [`dispatch`], which compiles it once for each instruction set.
//! Sums are taken lane by lane in a fixed order: one machine always gives the same bytes, but another instruction set, with
//! more lanes or with products and sums in one rounding, may differ in the last bits. [`portable`] gives that speed up for
//! bytes that are the same everywhere.
//!
//! Why not the crate `pulp`, which Burn's matrix products bring along anyway? It was tried: the same loops with its tokens
//! and its instructions in place of `x86`, the same bytes, both in one program by turns, one thread of an AVX2 machine,
//! millions of pairs per second of CPU time (best of 90 repeats, beside other work; kernels without second derivatives; ours,
//! pulp's, share):
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
//! By medians NDCG-Loss2 keeps 0.92 and the lists of 600 documents 0.93. What it would save is the `unsafe` of one file,
//! not the trait or the portable lanes: its own trait fixes neither the number of lanes nor the order of a sum.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use portable::Lanes;
pub use portable::{portable, set_portable};

/// What a kernel may do with `N` lanes.
pub(crate) trait Simd<const N: usize>: Copy {
    /// What the instruction set is called.
    const NAME: &'static str;
    /// `N` lanes.
    type V: Copy;
    /// Four lanes of f64.
    type D: Copy;
    fn splat64(self, value: f64) -> Self::D;
    fn load64(self, from: &[f64; 4]) -> Self::D;
    fn add64(self, a: Self::D, b: Self::D) -> Self::D;
    fn mul64(self, a: Self::D, b: Self::D) -> Self::D;
    /// `a b + c`.
    fn fma64(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D;
    /// The sum of the lanes.
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
    /// To the nearest integer.
    fn round(self, a: Self::V) -> Self::V;
    /// `2^a` of integers from -126 to 127.
    fn pow2(self, a: Self::V) -> Self::V;
    /// The sum of the lanes.
    fn sum(self, a: Self::V) -> f32;

    /// Tells the machine that what is there will soon be read; any address will do.
    #[inline(always)]
    fn prefetch(self, from: *const f32) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instruction is in every x86-64 and never fails.
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

    /// `e^-x` for `x` of at least 0, relative error below 2e-7; 0 beyond 87.
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

/// The widest lanes of any instruction set: arrays are padded to a multiple of it.
pub(crate) const WIDEST: usize = 16;

#[cfg(test)]
thread_local! {
    /// Whether this thread leaves the lanes of its machine alone.
    pub(crate) static PORTABLE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Whether this thread's portable lanes are those that were compiled with more instructions than the baseline has.
    pub(crate) static WIDER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether one instruction for a product and a sum is in every machine that this program was compiled for.
const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// Runs on the best lanes of this machine, or on the portable ones when they are asked for.
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

/// The instruction set that our own loops take on this machine: `AVX-512`, `AVX2 with FMA`, the `baseline` that the
/// program was compiled for (SSE2, NEON), or `portable` when [`set_portable`] asked for it.
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
    fn the_exponential_is_right_on_every_lane() {
        for step in 0..6_000 {
            let x: [f32; WIDEST] = std::array::from_fn(|lane| (step * WIDEST + lane) as f32 * 1e-3);
            for output in [dispatch(Exponential(x)), Exponential(x).run(Lanes::<false>)] {
                for (x, y) in x.into_iter().zip(output) {
                    let expected = if x < 87.0 { (-f64::from(x)).exp() } else { 0.0 };
                    // The rounding of x log2(e) costs nothing; that of 2^k e^rest a few units in the last place.
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
    fn lanes_are_summed_once_each() {
        let powers: [f32; WIDEST] = std::array::from_fn(|lane| 2f32.powi(lane as i32));
        assert_eq!(dispatch(Sum(powers)), 65_535.0);
        assert_eq!(Sum(powers).run(Lanes::<false>), 65_535.0);
    }
}
