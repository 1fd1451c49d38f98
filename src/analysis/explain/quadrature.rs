//! Gauss-Legendre quadrature on [0, 1]: `n` points are exact for polynomials up to degree 2n - 1.

/// Returns the points and weights of the rule with `n` points.
///
/// The points are the zeros of the Legendre polynomial P_n, computed by Newton's method and mapped from [-1, 1] to [0, 1]. The
/// weight of a zero x is 1 / ((1 - x^2) P_n'(x)^2), half of its weight on [-1, 1].
pub(super) fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let point = |index: usize| {
        let mut x = (std::f64::consts::PI * (index as f64 + 0.75) / (n as f64 + 0.5)).cos();
        // Convergence is quadratic; five iterations are enough for any n.
        for _ in 0..8 {
            let (value, derivative) = legendre(n, x);
            x -= value / derivative;
        }
        let derivative = legendre(n, x).1;
        ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * derivative * derivative))
    };
    (0..n).map(point).collect()
}

/// P_n(x) and its derivative, by the three-term recurrence.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut value) = (1.0, x);
    for degree in 2..=n {
        let k = degree as f64;
        (previous, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * previous) / k);
    }
    (value, n as f64 * (x * value - previous) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_below_degree_2n_are_exact() {
        for n in [1, 2, 3, 7, 20, 60] {
            for degree in 0..2 * n {
                let sum: f64 = gauss_legendre(n).iter().map(|(x, weight)| weight * x.powi(degree as i32)).sum();
                let expected = 1.0 / (degree as f64 + 1.0);
                assert!((sum - expected).abs() < 1e-13, "{n} points, degree {degree}: {sum}, expected {expected}");
            }
        }
    }
}
