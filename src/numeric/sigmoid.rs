//! The logistic function and its integral, without overflow.

use super::exp::exp_and_exp_m1;

/// `1 / (1 + e^-x)`.
///
/// ```
/// use burnrank::numeric::sigmoid;
/// assert_eq!(sigmoid(0.0), 0.5);
/// assert_eq!((sigmoid(1e3), sigmoid(-1e3)), (1.0, 0.0));
/// ```
#[inline]
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// `ln(1 + e^x)`, without overflow for large `x`.
///
/// ```
/// use burnrank::numeric::softplus;
/// assert_eq!(softplus(0.0), 2f64.ln());
/// assert_eq!((softplus(1e3), softplus(-1e3)), (1e3, 0.0));
/// ```
#[inline]
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// `1 / (1 + e^-x)` and its derivative in f32, without branches or calls; for hidden units.
#[inline(always)]
pub(crate) fn sigmoid_and_derivative(x: f32) -> (f32, f32) {
    let (small, _) = exp_and_exp_m1(-x.abs());
    let large = 1.0 / (1.0 + small);
    (if x < 0.0 { small * large } else { large }, small * large * large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_is_the_integral_of_sigmoid() {
        for x in [-30.0, -2.0, -0.1, 0.0, 0.7, 5.0, 30.0] {
            let derivative = (softplus(x + 1e-5) - softplus(x - 1e-5)) / 2e-5;
            assert!((derivative - sigmoid(x)).abs() < 1e-8, "{x}");
            assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() < 1e-15);
        }
    }
}
