//! The kernel matrix of a set of documents.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::stop::Stop;
use rayon::prelude::*;

/// A symmetric matrix in f32, stored in full so that products read memory sequentially.
#[derive(Debug)]
pub(super) struct KernelMatrix {
    size: usize,
    values: Vec<f32>,
}

/// Number of rows per task.
const ROWS: usize = 64;
/// Number of sums accumulated in parallel, so that an addition does not wait for the previous one.
const LANES: usize = 8;

impl KernelMatrix {
    /// Computes the kernel of the documents in `rows`.
    ///
    /// # Errors
    /// If there is not enough memory, or the run is stopped.
    pub(super) fn new(
        data: &Dataset,
        rows: &[usize],
        stop: &Stop,
        kernel: impl Fn(&[f32], &[f32]) -> f64 + Sync,
    ) -> Result<Self> {
        let (size, width) = (rows.len(), data.n_features());
        let what = format!("the kernel matrix of {size} documents");
        let count = size.saturating_mul(size);
        let mut values = memory::zeros(count, &what, "train on fewer queries")?;
        let features = |row: usize| &data.features()[row * width..(row + 1) * width];
        values.par_chunks_mut(ROWS * size.max(1)).enumerate().try_for_each(|(chunk, values)| {
            for (at, values) in values.chunks_mut(size).enumerate() {
                stop.check()?;
                let document = features(rows[chunk * ROWS + at]);
                values.iter_mut().zip(rows).for_each(|(value, &row)| *value = kernel(document, features(row)) as f32);
            }
            Ok::<(), Error>(())
        })?;
        Ok(KernelMatrix { size, values })
    }

    /// The product with a vector.
    ///
    /// # Errors
    /// If the run is stopped.
    pub(super) fn times(&self, vector: &[f64], stop: &Stop) -> Result<Vec<f64>> {
        let mut product = vec![0.0; self.size];
        let rows = self.values.par_chunks(ROWS * self.size.max(1));
        product.par_chunks_mut(ROWS).zip(rows).try_for_each(|(product, rows)| {
            stop.check()?;
            product.iter_mut().zip(rows.chunks(self.size)).for_each(|(sum, row)| *sum = row_times(row, vector));
            Ok::<(), Error>(())
        })?;
        Ok(product)
    }
}

fn row_times(row: &[f32], vector: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (blocks, numbers) = (row.chunks_exact(LANES), vector.chunks_exact(LANES));
    let last: f64 = blocks.remainder().iter().zip(numbers.remainder()).map(|(&x, y)| f64::from(x) * y).sum();
    for (block, numbers) in blocks.zip(numbers) {
        for lane in 0..LANES {
            sums[lane] += f64::from(block[lane]) * numbers[lane];
        }
    }
    sums.iter().sum::<f64>() + last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_match_the_definition_and_large_matrices_are_rejected() {
        let documents = 150;
        let features: Vec<f32> = (0..documents).map(|at| (at * 37 % 101) as f32 / 50.0).collect();
        let data = Dataset::new(1, features.clone(), vec![0.0; documents], vec![("a".into(), documents)]).unwrap();
        let rows: Vec<usize> = (0..documents).filter(|row| row % 7 != 0).collect();
        let matrix = KernelMatrix::new(&data, &rows, &Stop::new(), |x, z| f64::from(x[0] * z[0])).unwrap();
        let vector: Vec<f64> = rows.iter().map(|&row| 1.0 - row as f64 / 70.0).collect();
        let product = matrix.times(&vector, &Stop::new()).unwrap();
        let sum: f64 = rows.iter().zip(&vector).map(|(&row, v)| f64::from(features[row]) * v).sum();
        for (&row, value) in rows.iter().zip(&product) {
            assert!((value - f64::from(features[row]) * sum).abs() < 1e-4);
        }
        let huge = vec![0; 1 << 24];
        let error = KernelMatrix::new(&data, &huge, &Stop::new(), |_, _| 1.0).unwrap_err().to_string();
        assert!(
            error.contains("the kernel matrix of 16777216 documents") && error.contains("fewer queries"),
            "{error}"
        );
    }
}
