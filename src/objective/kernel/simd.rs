//! Lanes of f32, chosen at run time: AVX-512, AVX2 with FMA, or plain arrays that any compiler turns into its baseline
//! vectors (SSE2, NEON).
//!
//! A kernel is written once over [`Simd`] and handed to [`dispatch`], which compiles it once for each instruction set.
//! Sums are taken lane by lane in a fixed order: one machine always gives the same bytes, but another instruction set may
//! differ in the last bits.

/// What a kernel may do with `N` lanes.
pub(super) trait Simd<const N: usize>: Copy {
    /// `N` lanes.
    type V: Copy;
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
pub(super) trait Vectorised {
    type Output;
    fn run<const N: usize, S: Simd<N>>(self, simd: S) -> Self::Output;
}

/// The widest lanes of any instruction set: arrays are padded to a multiple of it.
pub(super) const WIDEST: usize = 16;

/// Runs on the best lanes of this machine.
#[inline]
pub(super) fn dispatch<T: Vectorised>(task: T) -> T::Output {
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
    task.run(Portable)
}

/// Eight lanes in an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable;

#[inline(always)]
fn zip(a: [f32; 8], b: [f32; 8], of: impl Fn(f32, f32) -> f32) -> [f32; 8] {
    std::array::from_fn(|lane| of(a[lane], b[lane]))
}

impl Simd<8> for Portable {
    type V = [f32; 8];

    #[inline(always)]
    fn splat(self, value: f32) -> Self::V {
        [value; 8]
    }

    #[inline(always)]
    fn load(self, from: &[f32; 8]) -> Self::V {
        *from
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; 8], value: Self::V) {
        *to = value;
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a / b)
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn abs(self, a: Self::V) -> Self::V {
        a.map(f32::abs)
    }

    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // Two roundings unless one instruction is in the baseline: a call of `fmaf` would cost far more.
        if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
            std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
        } else {
            std::array::from_fn(|lane| a[lane] * b[lane] + c[lane])
        }
    }

    #[inline(always)]
    fn if_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        std::array::from_fn(|lane| if a[lane] < b[lane] { yes[lane] } else { no[lane] })
    }

    #[inline(always)]
    fn round(self, a: Self::V) -> Self::V {
        // Adding and subtracting 1.5 * 2^23 rounds to an integer, without a library call where there is no instruction.
        const MAGIC: f32 = 12_582_912.0;
        a.map(|a| (a + MAGIC) - MAGIC)
    }

    #[inline(always)]
    fn pow2(self, a: Self::V) -> Self::V {
        // SAFETY: the lanes hold small integers.
        a.map(|a| f32::from_bits((unsafe { a.to_int_unchecked::<i32>() } + 127).cast_unsigned() << 23))
    }

    #[inline(always)]
    fn sum(self, a: Self::V) -> f32 {
        ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Simd, Vectorised};
    use std::arch::x86_64::*;

    /// # Safety
    /// The machine must have AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub unsafe fn run_avx2<T: Vectorised>(task: T) -> T::Output {
        task.run(Avx2(()))
    }

    /// # Safety
    /// The machine must have AVX-512F.
    #[target_feature(enable = "avx512f,avx2,fma")]
    pub unsafe fn run_avx512<T: Vectorised>(task: T) -> T::Output {
        task.run(Avx512(()))
    }

    /// Proof that the machine has AVX2 and FMA: made only in `run_avx2`.
    #[derive(Clone, Copy)]
    pub struct Avx2(());

    /// Proof that the machine has AVX-512F: made only in `run_avx512`.
    #[derive(Clone, Copy)]
    pub struct Avx512(());

    /// The methods that are one instruction.
    macro_rules! instructions {
        ($($name:ident($($argument:ident),*) = $intrinsic:ident;)*) => {$(
            #[inline(always)]
            fn $name(self, $($argument: Self::V),*) -> Self::V {
                // SAFETY: `self` is the proof that the machine has the instruction.
                unsafe { $intrinsic($($argument),*) }
            }
        )*};
    }

    impl Simd<8> for Avx2 {
        type V = __m256;

        instructions! {
            add(a, b) = _mm256_add_ps;
            sub(a, b) = _mm256_sub_ps;
            mul(a, b) = _mm256_mul_ps;
            div(a, b) = _mm256_div_ps;
            min(a, b) = _mm256_min_ps;
            max(a, b) = _mm256_max_ps;
            fma(a, b, c) = _mm256_fmadd_ps;
        }

        #[inline(always)]
        fn splat(self, value: f32) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instruction.
            unsafe { _mm256_set1_ps(value) }
        }

        #[inline(always)]
        fn load(self, from: &[f32; 8]) -> Self::V {
            // SAFETY: eight floats are there, at any alignment.
            unsafe { _mm256_loadu_ps(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; 8], value: Self::V) {
            // SAFETY: there is room for eight floats, at any alignment.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), value) }
        }

        #[inline(always)]
        fn abs(self, a: Self::V) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instruction.
            unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
        }

        #[inline(always)]
        fn if_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instructions.
            unsafe { _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LT_OQ>(a, b)) }
        }

        #[inline(always)]
        fn round(self, a: Self::V) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instruction.
            unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
        }

        #[inline(always)]
        fn pow2(self, a: Self::V) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instructions.
            unsafe {
                let biased = _mm256_add_epi32(_mm256_cvtps_epi32(a), _mm256_set1_epi32(127));
                _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
            }
        }

        #[inline(always)]
        fn sum(self, a: Self::V) -> f32 {
            // SAFETY: `self` is the proof that the machine has the instructions.
            unsafe {
                let four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
                let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
            }
        }
    }

    impl Simd<16> for Avx512 {
        type V = __m512;

        instructions! {
            add(a, b) = _mm512_add_ps;
            sub(a, b) = _mm512_sub_ps;
            mul(a, b) = _mm512_mul_ps;
            div(a, b) = _mm512_div_ps;
            min(a, b) = _mm512_min_ps;
            max(a, b) = _mm512_max_ps;
            abs(a) = _mm512_abs_ps;
            fma(a, b, c) = _mm512_fmadd_ps;
        }

        #[inline(always)]
        fn splat(self, value: f32) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instruction.
            unsafe { _mm512_set1_ps(value) }
        }

        #[inline(always)]
        fn load(self, from: &[f32; 16]) -> Self::V {
            // SAFETY: sixteen floats are there, at any alignment.
            unsafe { _mm512_loadu_ps(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; 16], value: Self::V) {
            // SAFETY: there is room for sixteen floats, at any alignment.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
        }

        #[inline(always)]
        fn if_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instructions.
            unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), no, yes) }
        }

        #[inline(always)]
        fn round(self, a: Self::V) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instruction.
            unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
        }

        #[inline(always)]
        fn pow2(self, a: Self::V) -> Self::V {
            // SAFETY: `self` is the proof that the machine has the instructions.
            unsafe {
                let biased = _mm512_add_epi32(_mm512_cvtps_epi32(a), _mm512_set1_epi32(127));
                _mm512_castsi512_ps(_mm512_slli_epi32::<23>(biased))
            }
        }

        #[inline(always)]
        fn sum(self, a: Self::V) -> f32 {
            // SAFETY: `self` is the proof that the machine has the instruction.
            unsafe { _mm512_reduce_add_ps(a) }
        }
    }
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
            for output in [dispatch(Exponential(x)), Exponential(x).run(Portable)] {
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
        assert_eq!(Sum(powers).run(Portable), 65_535.0);
    }
}
