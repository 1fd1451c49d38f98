//! Lanes of f32, chosen at run time: AVX-512, AVX2 with FMA, or plain arrays that any compiler turns into its baseline
//! vectors (SSE2, NEON).
//!
//! A kernel is written once over [`Simd`] and handed to [`dispatch`], which compiles it once for each instruction set.
//! Sums are taken lane by lane in a fixed order: one machine always gives the same bytes, but another instruction set may
//! differ in the last bits.

#[cfg(target_arch = "x86_64")]
mod x86;

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
}

/// Runs on the best lanes of this machine.
#[inline]
pub(crate) fn dispatch<T: Vectorised>(task: T) -> T::Output {
    #[cfg(test)]
    if PORTABLE.get() {
        return task.run(Portable);
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
    task.run(Portable)
}

/// The instruction set that lambda kernels take on this machine: `AVX-512`, `AVX2 with FMA`, or the `baseline` that the
/// program was compiled for (SSE2, NEON).
pub fn instruction_set() -> &'static str {
    struct Name;
    impl Vectorised for Name {
        type Output = &'static str;

        #[inline(always)]
        fn run<const N: usize, S: Simd<N>>(self, _: S) -> &'static str {
            S::NAME
        }
    }
    dispatch(Name)
}

/// Eight lanes in an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

#[inline(always)]
fn zip(a: [f32; 8], b: [f32; 8], of: impl Fn(f32, f32) -> f32) -> [f32; 8] {
    std::array::from_fn(|lane| of(a[lane], b[lane]))
}

impl Simd<8> for Portable {
    const NAME: &'static str = "baseline";
    type V = [f32; 8];
    type D = [f64; 4];

    #[inline(always)]
    fn splat64(self, value: f64) -> Self::D {
        [value; 4]
    }

    #[inline(always)]
    fn load64(self, from: &[f64; 4]) -> Self::D {
        *from
    }

    #[inline(always)]
    fn add64(self, a: Self::D, b: Self::D) -> Self::D {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }

    #[inline(always)]
    fn mul64(self, a: Self::D, b: Self::D) -> Self::D {
        std::array::from_fn(|lane| a[lane] * b[lane])
    }

    #[inline(always)]
    fn fma64(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D {
        if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
            std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
        } else {
            std::array::from_fn(|lane| a[lane] * b[lane] + c[lane])
        }
    }

    #[inline(always)]
    fn sum64(self, a: Self::D) -> f64 {
        (a[0] + a[2]) + (a[1] + a[3])
    }

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
