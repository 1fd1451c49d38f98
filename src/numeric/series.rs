//! The sigmoid as a sum of exponentials.

use std::sync::LazyLock;

/// Number of exponentials.
pub(crate) const TERMS: usize = 12;

/// `c_k`, `c_k / k` and `c_k k` for `k = 1..=TERMS`: coefficients of `u / (1 + u)`, `ln(1 + u)` and `u / (1 + u)^2` in
/// powers of `u`, for `u` in 0..1.
#[derive(Debug)]
pub(crate) struct Series {
    pub sigmoid: [f64; TERMS],
    pub softplus: [f64; TERMS],
    pub derivative: [f64; TERMS],
}

pub(crate) static SERIES: LazyLock<Series> = LazyLock::new(|| {
    let sigmoid = inverse_of_one_plus();
    Series {
        sigmoid,
        softplus: std::array::from_fn(|index| sigmoid[index] / (index + 1) as f64),
        derivative: std::array::from_fn(|index| sigmoid[index] * (index + 1) as f64),
    }
});

/// `1 / (1 + u)` on 0..1 as powers of `u`, from its Chebyshev series.
///
/// With `t = 2u - 1` and `r = 3 + sqrt 8`: `1 / (1 + u) = 2 / (3 + t) = (1 + 2 sum of (-1/r)^m T_m(t)) / sqrt 2`.
fn inverse_of_one_plus() -> [f64; TERMS] {
    let ratio = -1.0 / (3.0 + 8f64.sqrt());
    let (mut before, mut current) = ([0.0; TERMS], [0.0; TERMS]);
    // T_0 = 1 and T_1 = 2u - 1, then T_(m+1) = 2 (2u - 1) T_m - T_(m-1).
    before[0] = 1.0;
    (current[0], current[1]) = (-1.0, 2.0);
    let mut sum = [0.0; TERMS];
    sum[0] = 1.0;
    let mut weight = 2.0 * ratio;
    for _ in 1..TERMS {
        sum.iter_mut().zip(&current).for_each(|(sum, term)| *sum += weight * term);
        let next = std::array::from_fn(|k| {
            let shifted = if k > 0 { current[k - 1] } else { 0.0 };
            4.0 * shifted - 2.0 * current[k] - before[k]
        });
        (before, current) = (current, next);
        weight *= ratio;
    }
    sum.map(|coefficient| coefficient / 2f64.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(coefficients: &[f64; TERMS], u: f64) -> f64 {
        coefficients.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * u)
    }

    #[test]
    fn the_error_is_within_the_bound() {
        let bound = 1.71 * (3.0 + 8f64.sqrt()).powi(-(TERMS as i32));
        assert!(bound < 1.2e-9);
        for step in 1..=10_000 {
            let u = f64::from(step) * 1e-4;
            let (sigmoid, softplus) = (u / (1.0 + u), u.ln_1p());
            assert!((evaluate(&SERIES.sigmoid, u) - sigmoid).abs() <= bound * u * 1.0001);
            assert!((evaluate(&SERIES.softplus, u) - softplus).abs() <= bound * u * 1.0001);
            // The derivative of a series of K terms has up to 2 K^2 times its error at the ends.
            assert!((evaluate(&SERIES.derivative, u) - u / (1.0 + u).powi(2)).abs() <= 2.0 * 144.0 * bound * u);
        }
    }

    #[test]
    fn coefficients_do_not_cancel() {
        assert!(SERIES.sigmoid.iter().all(|coefficient| coefficient.abs() < 1.01), "{:?}", SERIES.sigmoid);
    }
}
