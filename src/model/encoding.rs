//! The piecewise linear encoding of features by the first layer of a net.
//!
//! A unit's sum over the inputs of a feature at position u = t + fraction is
//!
//! ```text
//! w_0 + ... + w_{t-1} + fraction w_t - (m_0 w_0 + ... + m_{n-1} w_{n-1})  =  (1 - fraction) P_t + fraction P_{t+1}
//! P_t = w_0 + ... + w_{t-1} - (m_0 w_0 + ... + m_{n-1} w_{n-1})
//! ```
//!
//! so that it takes two rows of the table P per feature, not n inputs. [`EncodedRows`] has the layout of weights, tables and
//! gradients: for each feature that is not constant a row for P_0, whose weight is always 0, and a row per bin.

use crate::data::Encoding;
use crate::data::scale::FeatureInputs;
use burn::tensor::{Int, Tensor, TensorData};
use std::ops::{AddAssign, Mul, Range, Sub};

/// The rows of features in weights, tables and gradients.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EncodedRows {
    features: Vec<FeatureRows>,
    /// Mean of each row's input.
    means: Vec<f32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct FeatureRows {
    inputs: FeatureInputs,
    /// Row of P_0.
    first: usize,
}

/// A feature of a document: `1 - fraction` times a row of the table plus `fraction` times the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub row: u32,
    pub fraction: f32,
}

impl FeatureRows {
    /// Number of rows of P: none for a feature without bins.
    fn bins(self) -> usize {
        if self.inputs.bins == 0 { 0 } else { self.inputs.bins + 1 }
    }
}

impl EncodedRows {
    pub fn new(encoding: &Encoding) -> Self {
        let (mut features, mut means) = (Vec::new(), Vec::new());
        for &inputs in encoding.features() {
            let rows = FeatureRows { inputs, first: means.len() };
            features.push(rows);
            let own = &encoding.means()[inputs.first..inputs.first + inputs.bins];
            if !own.is_empty() {
                means.push(0.0);
                means.extend_from_slice(own);
            }
        }
        EncodedRows { features, means }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Adjacent inputs of the net, and their rows.
    pub fn runs(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        self.features.iter().filter(|feature| feature.inputs.bins > 0).map(|FeatureRows { inputs, first }| {
            (inputs.first..inputs.first + inputs.bins, first + 1..first + 1 + inputs.bins)
        })
    }

    /// The entries of a document: none for constant features, and for NaN, whose inputs count as their means.
    #[inline(always)]
    pub fn entries<'a>(&'a self, positions: &'a [f32]) -> impl Iterator<Item = Entry> + 'a {
        let varying = self.features.iter().zip(positions).filter(|(feature, x)| feature.inputs.bins > 0 && !x.is_nan());
        varying.map(|(feature, position)| {
            // Positions of another scaling must not reach the rows of other features.
            let position = position.clamp(0.0, feature.inputs.bins as f32);
            let bin = (position as usize).min(feature.inputs.bins - 1);
            Entry { row: (feature.first + bin) as u32, fraction: position - bin as f32 }
        })
    }

    /// Computes the table from weights, both with rows of `stride` numbers.
    pub fn table<T: Number>(&self, weights: &[T], stride: usize, table: &mut [T]) {
        table.fill(T::default());
        for feature in &self.features {
            for row in feature.first..feature.first + feature.bins() {
                for unit in 0..stride {
                    let product = weights[row * stride + unit] * T::from(self.means[row]);
                    table[feature.first * stride + unit] = table[feature.first * stride + unit] - product;
                }
            }
            for row in (feature.first + 1..feature.first + feature.bins()).map(|row| row * stride) {
                for unit in row..row + stride {
                    table[unit] = table[unit - stride];
                    table[unit] += weights[unit];
                }
            }
        }
    }

    /// The table of `[inputs, units]` weights.
    pub fn exact_table(&self, weights: &[f64], units: usize) -> Vec<f64> {
        let (mut arranged, mut table) = (vec![0.0; self.len() * units], vec![0.0; self.len() * units]);
        for (input, row) in self.runs().flat_map(|(inputs, rows)| inputs.zip(rows)) {
            arranged[row * units..][..units].copy_from_slice(&weights[input * units..][..units]);
        }
        self.table(&arranged, units, &mut table);
        table
    }

    /// Of each feature the row of P_0 and the number of bins.
    pub fn places(&self) -> [Vec<i32>; 2] {
        let numbers = |number: fn(&FeatureRows) -> i32| self.features.iter().map(number).collect();
        [numbers(|feature| feature.first as i32), numbers(|feature| feature.inputs.bins as i32)]
    }

    /// Replaces the gradient by the table with that by the weights, in place.
    pub fn by_weights(&self, stride: usize, gradient: &mut [f32]) {
        let (mut all, mut above) = (vec![0.0; stride], vec![0.0; stride]);
        for feature in self.features.iter().filter(|feature| feature.inputs.bins > 0) {
            all.fill(0.0);
            above.fill(0.0);
            let rows = &mut gradient[feature.first * stride..][..feature.bins() * stride];
            for row in rows.chunks_exact(stride) {
                all.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
            }
            let means = &self.means[feature.first..];
            for (row, mean) in rows.chunks_exact_mut(stride).zip(means).skip(1).rev() {
                for ((number, above), all) in row.iter_mut().zip(&mut above).zip(&all) {
                    *above += *number;
                    *number = *above - mean * all;
                }
            }
            rows[..stride].fill(0.0);
        }
    }
}

/// Numbers of tables: f32 in training and scoring, f64 in exports.
pub(crate) trait Number:
    Copy + Default + From<f32> + Mul<Output = Self> + Sub<Output = Self> + AddAssign
{
}

impl Number for f32 {}
impl Number for f64 {}

/// The inputs of a net, with ordinary tensors.
///
/// # Shapes
/// - positions: `[documents, features]`
/// - output: `[documents, inputs]`
pub(super) fn inputs(encoding: &Encoding, positions: Tensor<2>) -> Tensor<2> {
    let plain = positions.device().without_autodiff();
    let count = encoding.n_inputs();
    let (mut features, mut bins) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (feature, inputs) in encoding.features().iter().enumerate() {
        features.extend(std::iter::repeat_n(feature as i32, inputs.bins));
        bins.extend((0..inputs.bins).map(|bin| bin as f32));
    }
    let row = |numbers: Vec<f32>| Tensor::<2>::from_data(TensorData::new(numbers, [1, count]), &plain);
    let features = Tensor::<1, Int>::from_data(TensorData::new(features, [count]), &plain);
    let positions = positions.select(1, features);
    let missing = positions.clone().without_autodiff().is_nan();
    ((positions - row(bins)).clamp(0.0, 1.0) - row(encoding.means().to_vec())).mask_fill(missing, 0.0)
}
