//! Values and derivatives of units.

use super::padded;
use crate::model::Activation;
use crate::numeric::{flushed, sigmoid_and_derivative, tanh_and_derivative};
use crate::simd::{Simd, Vectorised, WIDEST};

/// See [`super::activate`].
pub(super) struct Activate<'a> {
    pub function: Activation,
    pub units: usize,
    pub values: &'a mut [f32],
    pub derivatives: &'a mut [f32],
}

impl Vectorised for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        match self.function {
            Activation::Sigmoid => self.each(simd, |x| sigmoid_and_derivative(within(x, SATURATED))),
            Activation::Tanh => self.each(simd, |x| tanh_and_derivative(within(x, SATURATED / 2.0))),
            Activation::Relu => self.each(simd, relu),
        }
    }
}

impl Activate<'_> {
    #[inline(always)]
    fn each<const N: usize, S: Simd<N>>(self, simd: S, of: impl Fn(f32) -> (f32, f32)) {
        let Activate { units, values, derivatives, .. } = self;
        for (value, derivative) in values.iter_mut().zip(&mut *derivatives) {
            let (own, slope) = of(*value);
            (*value, *derivative) = (flushed(own), flushed(slope));
        }
        let padded = padded(units);
        if padded == units {
            return;
        }
        // Beyond the last unit a weight of 0 may have met an infinite feature.
        let mut lanes = [0.0; WIDEST];
        lanes.iter_mut().zip(padded - WIDEST..units).for_each(|(lane, _)| *lane = 1.0);
        let (half, zero) = (simd.splat(0.5), simd.splat(0.0));
        for numbers in [values, derivatives] {
            for row in numbers.chunks_exact_mut(padded) {
                let Some(last) = row.last_chunk_mut::<WIDEST>() else { return };
                for (number, lane) in last.as_chunks_mut::<N>().0.iter_mut().zip(lanes.as_chunks::<N>().0) {
                    simd.store(number, simd.if_less(half, simd.load(lane), simd.load(number), zero));
                }
            }
        }
    }
}

/// `max(x, 0)` and its derivative; NaN stays NaN.
#[inline(always)]
fn relu(x: f32) -> (f32, f32) {
    if x <= 0.0 { (0.0, 0.0) } else { (x, 1.0) }
}

/// Where `4 e^-x` counts as zero, and with it the derivatives of a sigmoid at `x` and of a hyperbolic tangent at `x / 2`. Their
/// exponentials become subnormal numbers further out.
const SATURATED: f32 = 46.0;

/// `x` moved to the closest number that is at most `limit` from 0; NaN stays NaN.
#[inline(always)]
fn within(x: f32, limit: f32) -> f32 {
    let x = if x > limit { limit } else { x };
    if x < -limit { -limit } else { x }
}
