//! Gauss-Legendre quadrature on [0, 1]: with n points exact for every polynomial of degree 2n - 1.

/// Points and weights of a rule of `n` points.
///
/// The points are the zeros of the Legendre polynomial P_n, found by Newton's method, moved from [-1, 1] to [0, 1]; the weight
/// of a zero x is 1 / ((1 - x^2) P_n'(x)^2), half of what it is on [-1, 1].
pub(super) fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let point = |index: usize| {
        let mut x = (std::f64::consts::PI * (index as f64 + 0.75) / (n as f64 + 0.5)).cos();
        // Quadratic convergence from this start: five steps are enough for any n.
        for _ in 0..8 {
            let (value, slope) = legendre(n, x);
            x -= value / slope;
        }
        let slope = legendre(n, x).1;
        ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(point).collect()
}

/// P_n(x) and its derivative, by the recurrence of three terms.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for degree in 2..=n {
        let k = degree as f64;
        (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
    }
    (value, n as f64 * (x * value - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_up_to_twice_the_points_are_exact() {
        for n in [1, 2, 3, 7, 20, 60] {
            for degree in 0..2 * n {
                let sum: f64 = gauss_legendre(n).iter().map(|(x, weight)| weight * x.powi(degree as i32)).sum();
                let expected = 1.0 / (degree as f64 + 1.0);
                assert!((sum - expected).abs() < 1e-13, "{n} points, degree {degree}: {sum}, not {expected}");
            }
        }
    }
}
