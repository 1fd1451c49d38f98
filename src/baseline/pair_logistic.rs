//! RankNet's loss over all pairs in f64, with Hessian-vector products.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::numeric::{sigmoid, softplus};
use crate::stop::Stop;
use rayon::prelude::*;

/// Σ ln(1 + e^-(s_a - s_b)) over all pairs of a query in which a has the higher label.
#[derive(Debug)]
pub(super) struct PairLogistic {
    /// Rows of the data that are in a pair.
    rows: Vec<usize>,
    /// Labels of these rows.
    labels: Vec<f32>,
    /// Start of each query with pairs among these rows, and the number of rows.
    offsets: Vec<usize>,
}

impl PairLogistic {
    /// Collects all pairs of the data.
    ///
    /// # Errors
    /// If there are none; `system` is the name of the system for the error.
    pub(super) fn new(data: &Dataset, system: &str) -> Result<Self> {
        let (mut rows, mut labels, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
        for query in data.queries() {
            if query.labels.iter().any(|label| *label != query.labels[0]) {
                rows.extend(query.rows);
                labels.extend_from_slice(query.labels);
                offsets.push(rows.len());
            }
        }
        if rows.is_empty() {
            return Err(Error::Data(format!("{system}: no training query has documents with different labels")));
        }
        Ok(PairLogistic { rows, labels, offsets })
    }

    /// The rows of the data that are in a pair, in order. Scores and gradients refer to these rows.
    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The loss and its gradient with respect to the scores.
    ///
    /// # Errors
    /// If the run is stopped.
    pub(super) fn loss(&self, scores: &[f64], stop: &Stop) -> Result<(f64, Vec<f64>)> {
        let queries: Vec<(f64, Vec<f64>)> = self
            .offsets
            .par_windows(2)
            .map(|at| {
                let scores = &scores[at[0]..at[1]];
                let (mut loss, mut gradient) = (0.0, vec![0.0; scores.len()]);
                self.pairs(at, stop, |a, b| {
                    let wrong = scores[b] - scores[a];
                    loss += softplus(wrong);
                    gradient[a] -= sigmoid(wrong);
                    gradient[b] += sigmoid(wrong);
                })?;
                Ok((loss, gradient))
            })
            .collect::<Result<_>>()?;
        let loss = queries.iter().map(|(loss, _)| loss).sum();
        Ok((loss, queries.into_iter().flat_map(|(_, gradient)| gradient).collect()))
    }

    /// The Hessian at `scores`, multiplied by a vector.
    ///
    /// # Errors
    /// If the run is stopped.
    pub(super) fn hessian_times(&self, scores: &[f64], vector: &[f64], stop: &Stop) -> Result<Vec<f64>> {
        let queries: Vec<Vec<f64>> = self
            .offsets
            .par_windows(2)
            .map(|at| {
                let (scores, vector) = (&scores[at[0]..at[1]], &vector[at[0]..at[1]]);
                let mut product = vec![0.0; scores.len()];
                self.pairs(at, stop, |a, b| {
                    let right = sigmoid(scores[a] - scores[b]);
                    let change = right * (1.0 - right) * (vector[a] - vector[b]);
                    product[a] += change;
                    product[b] -= change;
                })?;
                Ok(product)
            })
            .collect::<Result<_>>()?;
        Ok(queries.into_iter().flatten().collect())
    }

    /// Calls `pair` with each pair of the query between two offsets, the higher label first, counted from the query's first row.
    fn pairs(&self, at: &[usize], stop: &Stop, mut pair: impl FnMut(usize, usize)) -> Result<()> {
        let labels = &self.labels[at[0]..at[1]];
        for (a, high) in labels.iter().enumerate() {
            stop.check()?;
            for (b, _) in labels.iter().enumerate().filter(|(_, low)| *low < high) {
                pair(a, b);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradient_and_hessian_match_finite_differences() {
        let labels = vec![2.0, 0.0, 1.0, 1.0, 5.0, 5.0, 0.0, 1.0];
        let queries = vec![("a".into(), 4), ("b".into(), 2), ("c".into(), 2)];
        let pairs = PairLogistic::new(&Dataset::new(1, vec![0.0; 8], labels, queries).unwrap(), "test").unwrap();
        assert_eq!(pairs.rows(), [0, 1, 2, 3, 6, 7]);
        let scores = [0.3, 0.5, -0.2, 1.0, 0.0, 0.4];
        let stop = Stop::new();
        let (loss, gradient) = pairs.loss(&scores, &stop).unwrap();
        let expected = softplus(0.2) + softplus(-0.5) + softplus(0.7) + softplus(0.7) + softplus(-0.5) + softplus(-0.4);
        assert!((loss - expected).abs() < 1e-12);
        let vector = [0.1, -0.7, 0.4, 0.0, 1.0, 0.5];
        let moved = |step: f64| -> Vec<f64> { scores.iter().zip(vector).map(|(s, v)| s + step * v).collect() };
        let [up, down] = [1e-5, -1e-5].map(|step| pairs.loss(&moved(step), &stop).unwrap());
        let slope: f64 = gradient.iter().zip(vector).map(|(g, v)| g * v).sum();
        assert!(((up.0 - down.0) / 2e-5 - slope).abs() < 1e-9);
        for (at, product) in pairs.hessian_times(&scores, &vector, &stop).unwrap().iter().enumerate() {
            assert!(((up.1[at] - down.1[at]) / 2e-5 - product).abs() < 1e-9);
        }
    }

    #[test]
    fn data_without_pairs_is_rejected() {
        let data = Dataset::new(1, vec![0.0; 2], vec![1.0, 0.0], vec![("a".into(), 1), ("b".into(), 1)]).unwrap();
        let error = PairLogistic::new(&data, "kernel-ranknet").unwrap_err().to_string();
        assert_eq!(error, "kernel-ranknet: no training query has documents with different labels");
    }
}
