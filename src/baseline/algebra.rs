//! Products with the feature matrix and systems of linear equations, in f64. Sums do not depend on the number of threads.

use crate::data::Dataset;
use crate::error::Result;
use rayon::prelude::*;

/// Number of documents per partial sum.
const BLOCK: usize = 512;

/// The score of each document.
pub(super) fn scores(data: &Dataset, weights: &[f64]) -> Vec<f64> {
    let width = data.n_features().max(1);
    let row = |row: &[f32]| row.iter().zip(weights).map(|(&value, weight)| f64::from(value) * weight).sum();
    data.features().par_chunks_exact(width).with_min_len(BLOCK).map(row).collect()
}

/// The sum of all documents weighted by `times`: one value per feature.
pub(super) fn sum(data: &Dataset, times: &[f64]) -> Vec<f64> {
    let width = data.n_features().max(1);
    let blocks = data.features().par_chunks(BLOCK * width).zip(times.par_chunks(BLOCK));
    let parts: Vec<Vec<f64>> = blocks
        .map(|(rows, times)| {
            let mut sum = vec![0.0; data.n_features()];
            for (row, &times) in rows.chunks_exact(width).zip(times).filter(|(_, times)| **times != 0.0) {
                add(&mut sum, row, times);
            }
            sum
        })
        .collect();
    let mut sum = vec![0.0; data.n_features()];
    parts.iter().for_each(|part| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    sum
}

/// Dot product.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds a document, multiplied by `times`.
pub(super) fn add(sum: &mut [f64], row: &[f32], times: f64) {
    sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += times * f64::from(value));
}

/// `y += a x`.
pub(super) fn step(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// Solves `A x = b` for a symmetric positive semidefinite `A` by conjugate gradients, until the norm of the residual is at most
/// `tolerance` times that of `b`.
///
/// # Errors
/// Errors of `multiply`, which returns `A x`.
pub(super) fn solve(
    b: &[f64],
    tolerance: f64,
    mut multiply: impl FnMut(&[f64]) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let mut x = vec![0.0; b.len()];
    let mut residual = b.to_vec();
    let mut direction = residual.clone();
    let mut square = dot(&residual, &residual);
    let target = tolerance * tolerance * square;
    // In exact arithmetic the number of unknowns would be enough.
    for _ in 0..4 * b.len() + 20 {
        if square <= target {
            break;
        }
        let product = multiply(&direction)?;
        let curvature = dot(&direction, &product);
        if curvature <= 0.0 {
            break;
        }
        let length = square / curvature;
        step(&mut x, length, &direction);
        step(&mut residual, -length, &product);
        let next = dot(&residual, &residual);
        let keep = next / square;
        direction.iter_mut().zip(&residual).for_each(|(direction, residual)| *direction = residual + keep * *direction);
        square = next;
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_singular_system() {
        let matrix = [[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 0.0]];
        let multiply = |x: &[f64]| Ok(matrix.iter().map(|row| dot(row, x)).collect());
        let x = solve(&[1.0, 2.0, 0.0], 1e-12, multiply).unwrap();
        let expected = [1.0 / 11.0, 7.0 / 11.0, 0.0];
        assert!(x.iter().zip(&expected).all(|(x, expected)| (x - expected).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn products_match_their_formula() {
        let data = Dataset::new(2, vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
        assert_eq!(scores(&data, &[10.0, 1.0]), [12.0, 34.0]);
        assert_eq!(sum(&data, &[1.0, -2.0]), [1.0 - 6.0, 2.0 - 8.0]);
    }
}
