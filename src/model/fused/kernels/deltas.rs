//! Gradients with respect to the inputs of units.

use crate::numeric::TINY;
use crate::simd::{Simd, Vectorised};

/// See [`super::output_deltas`].
pub(super) struct OutputDeltas<'a> {
    pub gradient: &'a [f32],
    pub weights: &'a [f32],
    pub derivatives: &'a mut [f32],
}

impl Vectorised for OutputDeltas<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let OutputDeltas { gradient, weights, derivatives } = self;
        for (row, gradient) in derivatives.chunks_exact_mut(weights.len()).zip(gradient) {
            let gradient = simd.splat(*gradient);
            for (derivative, weight) in row.as_chunks_mut::<N>().0.iter_mut().zip(weights.as_chunks::<N>().0) {
                let back = simd.mul(gradient, simd.load(weight));
                simd.store(derivative, delta(simd, back, simd.load(derivative)));
            }
        }
    }
}

/// The gradient with respect to the input of a unit: the gradient with respect to its value times its derivative.
#[inline(always)]
fn delta<const N: usize, S: Simd<N>>(simd: S, back: S::V, derivative: S::V) -> S::V {
    let (tiny, zero) = (simd.splat(TINY), simd.splat(0.0));
    let flushed = |x| simd.if_less(simd.abs(x), tiny, zero, x);
    flushed(simd.mul(flushed(back), derivative))
}

/// See [`super::hidden_deltas`].
pub(super) struct HiddenDeltas<'a> {
    pub back: &'a [f32],
    pub derivatives: &'a mut [f32],
}

impl Vectorised for HiddenDeltas<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        for (derivative, back) in self.derivatives.as_chunks_mut::<N>().0.iter_mut().zip(self.back.as_chunks::<N>().0) {
            simd.store(derivative, delta(simd, simd.load(back), simd.load(derivative)));
        }
    }
}
