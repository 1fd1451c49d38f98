//! Linear regression on all documents.

use crate::data::Dataset;
use crate::error::Result;
use crate::memory;
use crate::stop::Stop;
use rayon::prelude::*;

/// Ridge penalty, relative to the mean square of a feature: makes the solution unique for constant and duplicate features.
const RIDGE: f64 = 1e-6;
/// Number of documents per partial sum.
const ROWS: usize = 4096;

/// Returns the weights w, one per feature, that minimise Σ (w x + b - target)² over all documents; b is not returned.
///
/// # Errors
/// If there is not enough memory, or the run is stopped.
pub(super) fn least_squares(data: &Dataset, targets: &[f64], stop: &Stop) -> Result<Vec<f64>> {
    let width = data.n_features();
    let (rows, count) = (data.features(), data.n_documents() as f64);
    let squares =
        (width as u64).saturating_mul(width as u64).saturating_mul(1 + data.n_documents().div_ceil(ROWS) as u64);
    memory::ask(memory::bytes_of::<f64>(squares), "the products of all pairs of features", "use fewer features")?;
    let mut means = vec![0.0; width];
    for row in rows.chunks_exact(width.max(1)) {
        means.iter_mut().zip(row).for_each(|(mean, &x)| *mean += f64::from(x) / count);
    }
    let target_mean = targets.iter().sum::<f64>() / count;
    let parts: Vec<(Vec<f64>, Vec<f64>)> = rows
        .par_chunks(ROWS * width.max(1))
        .zip(targets.par_chunks(ROWS))
        .map(|(rows, targets)| {
            stop.check()?;
            Ok(products(rows, targets, &means, target_mean))
        })
        .collect::<Result<_>>()?;
    let (mut matrix, mut right) = (vec![0.0; width * width], vec![0.0; width]);
    for (part, right_part) in parts {
        matrix.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        right.iter_mut().zip(right_part).for_each(|(sum, x)| *sum += x);
    }
    let trace: f64 = (0..width).map(|at| matrix[at * width + at]).sum();
    if trace == 0.0 {
        return Ok(vec![0.0; width]);
    }
    (0..width).for_each(|at| matrix[at * width + at] += RIDGE * trace / width as f64);
    solve(&mut matrix, &mut right, stop)?;
    Ok(right)
}

/// The lower half of Σ x xᵀ, and Σ x target, both centred.
fn products(rows: &[f32], targets: &[f64], means: &[f64], target_mean: f64) -> (Vec<f64>, Vec<f64>) {
    let width = means.len();
    let (mut matrix, mut right) = (vec![0.0; width * width], vec![0.0; width]);
    let mut centred = vec![0.0; width];
    for (row, target) in rows.chunks_exact(width.max(1)).zip(targets) {
        centred.iter_mut().zip(row).zip(means).for_each(|((at, &x), mean)| *at = f64::from(x) - mean);
        for (at, &x) in centred.iter().enumerate() {
            right[at] += x * (target - target_mean);
            matrix[at * width..=at * width + at].iter_mut().zip(&centred).for_each(|(sum, y)| *sum += x * y);
        }
    }
    (matrix, right)
}

/// Solves a positive definite system by Cholesky decomposition of its lower half, in place.
fn solve(matrix: &mut [f64], right: &mut [f64], stop: &Stop) -> Result<()> {
    let width = right.len();
    for i in 0..width {
        stop.check()?;
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i * width + k] * matrix[j * width + k]).sum();
            let pivot = matrix[i * width + j] - sum;
            // Rounding may leave nothing of a duplicate feature; its weight is then close to 0.
            matrix[i * width + j] =
                if i == j { pivot.max(f64::MIN_POSITIVE).sqrt() } else { pivot / matrix[j * width + j] };
        }
        let sum: f64 = (0..i).map(|k| matrix[i * width + k] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i * width + i];
    }
    for i in (0..width).rev() {
        let sum: f64 = (i + 1..width).map(|k| matrix[k * width + i] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i * width + i];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_a_linear_target_with_constant_and_duplicate_features() {
        let documents = 5000;
        let mut features = Vec::new();
        let mut targets = Vec::new();
        for at in 0..documents {
            let (x, y) = ((at * 37 % 101) as f32 / 100.0, (at * 61 % 97) as f32 / 50.0);
            features.extend([x, y, 7.0, x]);
            targets.push(2.0 * f64::from(x) - 0.5 * f64::from(y) + 3.0);
        }
        let data = Dataset::new(4, features, vec![0.0; documents], vec![("a".into(), documents)]).unwrap();
        let weights = least_squares(&data, &targets, &Stop::new()).unwrap();
        // The duplicate feature shares its weight with the first.
        for (weight, expected) in weights.iter().zip([1.0, -0.5, 0.0, 1.0]) {
            assert!((weight - expected).abs() < 1e-3, "{weights:?}");
        }
        let constant = Dataset::new(2, vec![1.0; 6], vec![0.0; 3], vec![("a".into(), 3)]).unwrap();
        assert_eq!(least_squares(&constant, &[1.0, 2.0, 3.0], &Stop::new()).unwrap(), [0.0, 0.0]);
    }
}
