//! Products with the matrix of all documents, and systems of linear equations, in f64. Sums have one order, whatever the threads.

use crate::data::Dataset;
use crate::error::Result;
use rayon::prelude::*;

/// Documents whose sum is one part of a sum over all.
const BLOCK: usize = 512;

/// The score of each document.
pub(super) fn scores(data: &Dataset, weights: &[f64]) -> Vec<f64> {
    let width = data.n_features().max(1);
    let row = |row: &[f32]| row.iter().zip(weights).map(|(&value, weight)| f64::from(value) * weight).sum();
    data.features().par_chunks_exact(width).with_min_len(BLOCK).map(row).collect()
}

/// The sum of all documents, each as often as `times` says: one number per feature.
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

/// The product of two vectors.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds a document, so many times.
pub(super) fn add(sum: &mut [f64], row: &[f32], times: f64) {
    sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += times * f64::from(value));
}

/// `y += a x`.
pub(super) fn step(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// Solves `A x = b` by conjugate gradients, for a symmetric `A` without negative eigenvalues, until what is left of `b` is
/// less than `tolerance` of it.
///
/// # Errors
/// Those of `multiply`, which gives `A x`.
pub(super) fn solve(
    b: &[f64],
    tolerance: f64,
    mut multiply: impl FnMut(&[f64]) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let mut x = vec![0.0; b.len()];
    let mut rest = b.to_vec();
    let mut direction = rest.clone();
    let mut left = dot(&rest, &rest);
    let enough = tolerance * tolerance * left;
    // Exact arithmetic would need as many steps as there are numbers.
    for _ in 0..4 * b.len() + 20 {
        if left <= enough {
            break;
        }
        let product = multiply(&direction)?;
        let curvature = dot(&direction, &product);
        if curvature <= 0.0 {
            break;
        }
        let length = left / curvature;
        step(&mut x, length, &direction);
        step(&mut rest, -length, &product);
        let now = dot(&rest, &rest);
        let keep = now / left;
        direction.iter_mut().zip(&rest).for_each(|(direction, rest)| *direction = rest + keep * *direction);
        left = now;
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved_also_with_an_unknown_that_nothing_is_said_about() {
        let matrix = [[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 0.0]];
        let multiply = |x: &[f64]| Ok(matrix.iter().map(|row| dot(row, x)).collect());
        let x = solve(&[1.0, 2.0, 0.0], 1e-12, multiply).unwrap();
        let expected = [1.0 / 11.0, 7.0 / 11.0, 0.0];
        assert!(x.iter().zip(&expected).all(|(x, expected)| (x - expected).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn products_by_their_formula() {
        let data = Dataset::new(2, vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
        assert_eq!(scores(&data, &[10.0, 1.0]), [12.0, 34.0]);
        assert_eq!(sum(&data, &[1.0, -2.0]), [1.0 - 6.0, 2.0 - 8.0]);
    }
}
