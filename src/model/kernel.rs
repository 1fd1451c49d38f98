//! Sums of kernels: the result of kernel methods, and any polynomial of the features.

use super::{Architecture, RankerConfig};
use crate::error::{Error, Result};
use crate::numeric::exp::exponentials;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kernel function of a document and a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum KernelKind {
    /// `exp(-gamma |x - p|^2)`.
    Gaussian {
        /// Inverse width of the kernel; greater than 0.
        gamma: f64,
    },
    /// `(x . p + c)^degree`, where each point `p` has its own `c`.
    Polynomial {
        /// 1 or more.
        degree: u32,
    },
}

impl fmt::Display for KernelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelKind::Gaussian { gamma } => write!(f, "Gaussian kernels of gamma {gamma}"),
            KernelKind::Polynomial { degree } => write!(f, "polynomial kernels of degree {degree}"),
        }
    }
}

/// A sum of kernels: the score of a document `x` is the sum over points `p` of `weight * K(x, p)`, computed in f64.
///
/// ```
/// use burnrank::model::{KernelKind, KernelRanker};
/// // (x + 1)^2 - (x - 1)^2 is 4 x.
/// let kernel = KernelKind::Polynomial { degree: 2 };
/// let ranker = KernelRanker::new(1, kernel, vec![1.0, 1.0], vec![1.0, -1.0], vec![1.0, -1.0])?;
/// assert_eq!(ranker.score_rows(&[0.5, 3.0], 1)?, [2.0, 12.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelRanker {
    features: usize,
    kernel: KernelKind,
    /// `[points, features]`, row-major.
    points: Vec<f32>,
    /// One per point for a polynomial kernel, else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    offsets: Vec<f32>,
    /// One per point.
    weights: Vec<f32>,
}

/// Number of documents per block; each point is read once per block.
const BLOCK: usize = 32;
/// One feature of a block of documents.
pub(super) type KernelColumn = [f64; BLOCK];
/// Maximum degree of a polynomial, more than any kernel method has used.
const MAX_DEGREE: u32 = 100;

impl KernelRanker {
    /// Creates a sum of kernels from row-major points; `offsets` has one number per point for a polynomial kernel, else
    /// is empty.
    ///
    /// # Errors
    /// If lengths do not match, a number is not finite, or the kernel is invalid.
    pub fn new(
        features: usize,
        kernel: KernelKind,
        points: Vec<f32>,
        offsets: Vec<f32>,
        weights: Vec<f32>,
    ) -> Result<Self> {
        let ranker = KernelRanker { features, kernel, points, offsets, weights };
        ranker.check()?;
        Ok(ranker)
    }

    /// Architecture and number of features.
    pub fn config(&self) -> RankerConfig {
        let architecture = Architecture::Kernel { points: self.weights.len() };
        RankerConfig::new(self.features, architecture)
    }

    /// The kernel.
    pub fn kernel(&self) -> KernelKind {
        self.kernel
    }

    /// The points, `[points, features]`, row-major.
    pub fn points(&self) -> &[f32] {
        &self.points
    }

    /// The offset of each point of a polynomial; empty for other kernels.
    pub fn offsets(&self) -> &[f32] {
        &self.offsets
    }

    /// The weight of each point.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Scores rows of `width` features. A score depends only on its row, not on its position or on threads.
    ///
    /// # Errors
    /// If `width` is not the number of features.
    pub fn score_rows(&self, features: &[f32], width: usize) -> Result<Vec<f32>> {
        if width != self.features {
            return Err(Error::Mismatch(format!("the model expects {} features, the data has {width}", self.features)));
        }
        let mut scores = vec![0.0; features.len() / width.max(1)];
        let blocks = scores.par_chunks_mut(BLOCK).zip(features.par_chunks(BLOCK * width.max(1)));
        blocks.for_each_init(|| vec![[0.0; BLOCK]; width], |columns, (scores, rows)| self.score(rows, columns, scores));
        Ok(scores)
    }

    /// Like [`KernelRanker::score_rows`], on one thread with buffers passed in; `scores` must have one place per row.
    pub(super) fn score_rows_in(&self, features: &[f32], scores: &mut [f32], columns: &mut Vec<KernelColumn>) {
        columns.resize(self.features, [0.0; BLOCK]);
        for (scores, rows) in scores.chunks_mut(BLOCK).zip(features.chunks(BLOCK * self.features.max(1))) {
            self.score(rows, columns, scores);
        }
    }

    /// Scores at most [`BLOCK`] rows; `columns` is a buffer for their features in f64.
    fn score(&self, rows: &[f32], columns: &mut [[f64; BLOCK]], scores: &mut [f32]) {
        for (place, row) in rows.chunks_exact(self.features.max(1)).enumerate() {
            columns.iter_mut().zip(row).for_each(|(column, &value)| column[place] = f64::from(value));
        }
        let mut sums = [0.0; BLOCK];
        for (point, &weight) in self.weights.iter().enumerate() {
            let values = self.values(point, columns);
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += f64::from(weight) * value);
        }
        scores.iter_mut().zip(sums).for_each(|(score, sum)| *score = sum as f32);
    }

    /// The kernel values of a point with each document of a block.
    fn values(&self, point: usize, columns: &[[f64; BLOCK]]) -> [f64; BLOCK] {
        let numbers = &self.points[point * self.features..(point + 1) * self.features];
        let mut values = [self.offsets.get(point).copied().map_or(0.0, f64::from); BLOCK];
        match self.kernel {
            KernelKind::Gaussian { gamma } => {
                for (column, &number) in columns.iter().zip(numbers) {
                    let number = f64::from(number);
                    values.iter_mut().zip(column).for_each(|(sum, x)| *sum += (x - number) * (x - number));
                }
                values.iter_mut().for_each(|value| *value *= -gamma);
                exponentials(&mut values);
            }
            KernelKind::Polynomial { degree } => {
                for (column, &number) in columns.iter().zip(numbers) {
                    let number = f64::from(number);
                    values.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * number);
                }
                values.iter_mut().for_each(|value| *value = (1..degree).fold(*value, |power, _| power * *value));
            }
        }
        values
    }

    /// Whether all numbers are finite.
    pub(crate) fn is_finite(&self) -> bool {
        [&self.points, &self.offsets, &self.weights].iter().all(|list| list.iter().all(|number| number.is_finite()))
    }

    /// The contents of its file: JSON, in which all numbers round-trip exactly.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|error| Error::Record(error.to_string()))
    }

    /// Parses the contents of the file of a kernel sum of this shape.
    pub(crate) fn from_bytes(shape: &RankerConfig, bytes: &[u8]) -> Result<Self> {
        let wrong = |error: &dyn std::fmt::Display| Error::Record(format!("not the kernels of this model: {error}"));
        let ranker: KernelRanker = serde_json::from_slice(bytes).map_err(|error| wrong(&error))?;
        ranker.check().map_err(|error| wrong(&error))?;
        if ranker.config() != *shape {
            let (architecture, features) = (&ranker.config().architecture, ranker.features);
            return Err(wrong(&format!("{architecture} over {features} features")));
        }
        Ok(ranker)
    }

    fn check(&self) -> Result<()> {
        let points = self.weights.len();
        let offsets = match self.kernel {
            KernelKind::Gaussian { gamma } if gamma.is_finite() && gamma > 0.0 => 0,
            KernelKind::Polynomial { degree } if (1..=MAX_DEGREE).contains(&degree) => points,
            kernel => return Err(Error::Config(format!("{kernel:?}: not a valid kernel"))),
        };
        if Some(self.points.len()) != points.checked_mul(self.features) || self.offsets.len() != offsets {
            return Err(Error::Mismatch(format!(
                "{points} weights, {} offsets and {} numbers for points of {} features",
                self.offsets.len(),
                self.points.len(),
                self.features
            )));
        }
        if !self.is_finite() {
            return Err(Error::Record("a number is infinite or not a number".into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u64) -> Vec<f32> {
        let random = |i: u64| ((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32;
        (1..=count as u64).map(|i| 2.0 * random(i) - 1.0).collect()
    }

    fn rankers() -> [KernelRanker; 2] {
        let polynomial = KernelKind::Polynomial { degree: 3 };
        [
            KernelRanker::new(5, KernelKind::Gaussian { gamma: 0.7 }, numbers(35, 1), vec![], numbers(7, 2)).unwrap(),
            KernelRanker::new(5, polynomial, numbers(35, 3), numbers(7, 4), numbers(7, 5)).unwrap(),
        ]
    }

    #[test]
    fn scores_match_the_formula_and_do_not_depend_on_other_rows() {
        let rows = numbers(5 * 101, 9);
        for ranker in rankers() {
            let scores = ranker.score_rows(&rows, 5).unwrap();
            for (row, &score) in rows.chunks(5).zip(&scores) {
                let sum: f64 = (0..7)
                    .map(|point| {
                        let pairs = || row.iter().zip(&ranker.points[point * 5..]).map(|(&x, &p)| (x as f64, p as f64));
                        let kernel = match ranker.kernel {
                            KernelKind::Gaussian { gamma } => {
                                (-gamma * pairs().map(|(x, p)| (x - p).powi(2)).sum::<f64>()).exp()
                            }
                            KernelKind::Polynomial { degree } => {
                                let dot: f64 = pairs().map(|(x, p)| x * p).sum();
                                (dot + f64::from(ranker.offsets[point])).powi(degree as i32)
                            }
                        };
                        f64::from(ranker.weights[point]) * kernel
                    })
                    .sum();
                assert!((f64::from(score) - sum).abs() < 1e-6, "{score}, not {sum}");
                assert_eq!(ranker.score_rows(row, 5).unwrap(), [score]);
            }
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| ranker.score_rows(&rows, 5).unwrap()), scores);
            }
            assert!(ranker.score_rows(&rows, 4).is_err());
            assert!(ranker.score_rows(&[], 5).unwrap().is_empty());
        }
    }

    #[test]
    fn bytes_round_trip_and_damage_is_refused() {
        for ranker in rankers() {
            let bytes = ranker.to_bytes().unwrap();
            let shape = ranker.config();
            assert_eq!(KernelRanker::from_bytes(&shape, &bytes).unwrap(), ranker);
            let other = RankerConfig { features: 4, ..shape.clone() };
            assert!(KernelRanker::from_bytes(&other, &bytes).is_err());
            let text = String::from_utf8(bytes).unwrap();
            for (old, new) in [("\"features\":5", "\"features\":6"), ("weights\":[", "weights\":[1e99,"), ("[", "[1,")]
            {
                assert!(KernelRanker::from_bytes(&shape, text.replacen(old, new, 1).as_bytes()).is_err(), "{new}");
            }
        }
        for kernel in [
            KernelKind::Gaussian { gamma: f64::NAN },
            KernelKind::Gaussian { gamma: 0.0 },
            KernelKind::Polynomial { degree: 0 },
        ] {
            assert!(KernelRanker::new(1, kernel, vec![], vec![], vec![]).is_err());
        }
        let kernel = KernelKind::Polynomial { degree: 1 };
        assert!(KernelRanker::new(1, kernel, vec![f32::INFINITY], vec![0.0], vec![1.0]).is_err());
        assert!(KernelRanker::new(usize::MAX, kernel, vec![1.0], vec![0.0; 2], vec![1.0; 2]).is_err());
    }
}
