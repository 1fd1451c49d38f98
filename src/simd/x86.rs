//! Lanes of AVX2 and AVX-512.

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

/// Runs portable lanes compiled with AVX2 and FMA enabled.
///
/// # Safety
/// The machine must have AVX2 and FMA.
#[cfg(test)]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn run_portable<T: Vectorised>(task: T) -> T::Output {
    task.run(super::Lanes::<false>)
}

/// Proof that the machine has AVX2 and FMA: created only in `run_avx2`.
#[derive(Clone, Copy)]
pub struct Avx2(());

/// Proof that the machine has AVX-512F: created only in `run_avx512`.
#[derive(Clone, Copy)]
pub struct Avx512(());

/// Methods that are a single instruction.
macro_rules! instructions {
    ($($name:ident($($argument:ident),*) = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, $($argument: Self::V),*) -> Self::V {
            // SAFETY: `self` proves that the machine has the instruction.
            unsafe { $intrinsic($($argument),*) }
        }
    )*};
}

/// Four lanes of f64, shared by both instruction sets.
macro_rules! doubles {
    () => {
        type D = __m256d;

        #[inline(always)]
        fn splat64(self, value: f64) -> Self::D {
            // SAFETY: `self` proves that the machine has the instruction.
            unsafe { _mm256_set1_pd(value) }
        }

        #[inline(always)]
        fn load64(self, from: &[f64; 4]) -> Self::D {
            // SAFETY: the array holds four doubles; any alignment is allowed.
            unsafe { _mm256_loadu_pd(from.as_ptr()) }
        }

        #[inline(always)]
        fn add64(self, a: Self::D, b: Self::D) -> Self::D {
            // SAFETY: `self` proves that the machine has the instruction.
            unsafe { _mm256_add_pd(a, b) }
        }

        #[inline(always)]
        fn mul64(self, a: Self::D, b: Self::D) -> Self::D {
            // SAFETY: `self` proves that the machine has the instruction.
            unsafe { _mm256_mul_pd(a, b) }
        }

        #[inline(always)]
        fn fma64(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D {
            // SAFETY: `self` proves that the machine has the instruction.
            unsafe { _mm256_fmadd_pd(a, b, c) }
        }

        #[inline(always)]
        fn sum64(self, a: Self::D) -> f64 {
            // SAFETY: `self` proves that the machine has the instructions.
            unsafe {
                let two = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
                _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
            }
        }
    };
}

impl Simd<8> for Avx2 {
    const NAME: &'static str = "AVX2 with FMA";
    type V = __m256;
    doubles!();

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
        // SAFETY: `self` proves that the machine has the instruction.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    fn load(self, from: &[f32; 8]) -> Self::V {
        // SAFETY: the array holds eight floats; any alignment is allowed.
        unsafe { _mm256_loadu_ps(from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; 8], value: Self::V) {
        // SAFETY: the array holds eight floats; any alignment is allowed.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), value) }
    }

    #[inline(always)]
    fn abs(self, a: Self::V) -> Self::V {
        // SAFETY: `self` proves that the machine has the instruction.
        unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
    }

    #[inline(always)]
    fn if_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe { _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LT_OQ>(a, b)) }
    }

    #[inline(always)]
    fn round(self, a: Self::V) -> Self::V {
        // SAFETY: `self` proves that the machine has the instruction.
        unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
    }

    #[inline(always)]
    fn pow2(self, a: Self::V) -> Self::V {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe {
            let biased = _mm256_add_epi32(_mm256_cvtps_epi32(a), _mm256_set1_epi32(127));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
        }
    }

    #[inline(always)]
    fn sum(self, a: Self::V) -> f32 {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
}

impl Simd<16> for Avx512 {
    const NAME: &'static str = "AVX-512";
    type V = __m512;
    doubles!();

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
        // SAFETY: `self` proves that the machine has the instruction.
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    fn load(self, from: &[f32; 16]) -> Self::V {
        // SAFETY: the array holds sixteen floats; any alignment is allowed.
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; 16], value: Self::V) {
        // SAFETY: the array holds sixteen floats; any alignment is allowed.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
    }

    #[inline(always)]
    fn if_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), no, yes) }
    }

    #[inline(always)]
    fn round(self, a: Self::V) -> Self::V {
        // SAFETY: `self` proves that the machine has the instruction.
        unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
    }

    #[inline(always)]
    fn pow2(self, a: Self::V) -> Self::V {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe {
            let biased = _mm512_add_epi32(_mm512_cvtps_epi32(a), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(biased))
        }
    }

    #[inline(always)]
    fn sum(self, a: Self::V) -> f32 {
        // SAFETY: `self` proves that the machine has the instruction.
        unsafe { _mm512_reduce_add_ps(a) }
    }
}
