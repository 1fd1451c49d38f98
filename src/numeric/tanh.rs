//! The hyperbolic tangent.

use super::exp::exp_and_exp_m1;

/// `tanh(x)` and its derivative in f32, without branches or calls; for hidden units.
#[inline(always)]
pub(crate) fn tanh_and_derivative(x: f32) -> (f32, f32) {
    let (small, less) = exp_and_exp_m1(-2.0 * x.abs());
    let whole = 1.0 / (1.0 + small);
    ((-less * whole).copysign(x), 4.0 * small * whole * whole)
}
