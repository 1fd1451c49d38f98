//! Eigenvalues of small symmetric matrices.

use crate::error::{Error, Result};

/// Returns all eigenvalues of a symmetric row-major matrix in ascending order, by the Jacobi method: slow but robust.
///
/// ```
/// let eigenvalues = burnrank::analysis::lambda_field::eigenvalues(&[2.0, 1.0, 1.0, 2.0])?;
/// assert!((eigenvalues[0] - 1.0).abs() < 1e-12 && (eigenvalues[1] - 3.0).abs() < 1e-12);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// If the matrix is not square or has an element that is not finite.
pub fn eigenvalues(matrix: &[f64]) -> Result<Vec<f64>> {
    let n = matrix.len().isqrt();
    if n * n != matrix.len() || matrix.iter().any(|x| !x.is_finite()) {
        return Err(Error::Mismatch("eigenvalues need a square matrix of finite numbers".into()));
    }
    let mut a = matrix.to_vec();
    let size = a.iter().map(|x| x * x).sum::<f64>();
    // Convergence is quadratic; ten sweeps were enough for every query tested.
    for _sweep in 0..60 {
        let off: f64 = (0..n)
            .flat_map(|p| (0..n).map(move |q| (p, q)))
            .filter(|(p, q)| p != q)
            .map(|(p, q)| a[p * n + q].powi(2))
            .sum();
        if off <= size * 1e-30 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, n, p, q);
            }
        }
    }
    let mut diagonal: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    diagonal.sort_by(f64::total_cmp);
    Ok(diagonal)
}

/// Rotates axes `p` and `q` so that the element between them becomes 0.
fn rotate(a: &mut [f64], n: usize, p: usize, q: usize) {
    let between = a[p * n + q];
    if between == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * between);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        a[k * n + p] = cosine * x - sine * y;
        a[k * n + q] = sine * x + cosine * y;
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        a[p * n + k] = cosine * x - sine * y;
        a[q * n + k] = sine * x + cosine * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let x = rng.random_range(-1.0..1.0);
                (a[i * n + j], a[j * n + i]) = (x, x);
            }
        }
        a
    }

    /// Number of eigenvalues below `x`, from the signs of the pivots of `A - x` (Sylvester's law of inertia).
    fn below(matrix: &[f64], x: f64) -> usize {
        let n = matrix.len().isqrt();
        let mut a = matrix.to_vec();
        (0..n).for_each(|i| a[i * n + i] -= x);
        let mut negative = 0;
        for k in 0..n {
            let pivot = a[k * n + k];
            negative += usize::from(pivot < 0.0);
            for i in k + 1..n {
                let factor = a[i * n + k] / pivot;
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
            }
        }
        negative
    }

    #[test]
    fn a_second_method_agrees() {
        for (n, seed) in [(1, 0), (2, 1), (5, 2), (12, 3), (30, 4), (60, 5)] {
            let matrix = random(n, seed);
            let values = eigenvalues(&matrix).unwrap();
            // Bisection by inertia for each eigenvalue.
            for (index, eigenvalue) in values.iter().enumerate() {
                let (mut low, mut high) = (-(n as f64), n as f64);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if below(&matrix, middle) > index { high = middle } else { low = middle }
                }
                assert!((low - eigenvalue).abs() < 1e-9, "{n}, {index}: {low} {eigenvalue}");
            }
        }
    }

    #[test]
    fn known_matrices() {
        assert_eq!(eigenvalues(&[]).unwrap(), Vec::<f64>::new());
        assert_eq!(eigenvalues(&[0.0; 9]).unwrap(), [0.0; 3]);
        // The Laplacian of a complete graph: 0 once, n otherwise.
        let n = 6;
        let laplacian: Vec<f64> = (0..n * n).map(|at| if at % (n + 1) == 0 { n as f64 - 1.0 } else { -1.0 }).collect();
        let values = eigenvalues(&laplacian).unwrap();
        assert!(values[0].abs() < 1e-12 && values[1..].iter().all(|x| (x - n as f64).abs() < 1e-12));
        assert!(eigenvalues(&[1.0, 2.0]).is_err());
        assert!(eigenvalues(&[f64::NAN]).is_err());
    }
}
