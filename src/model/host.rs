//! Scores on the host: one document at a time as far as rounding is concerned, many at a time as far as the machine is.
//!
//! Every number is found by the same operations in the same order, whatever row its document is in, whatever is scored with
//! it and by how many threads. Products and sums are rounded one by one, never fused, so that every instruction set finds
//! the same bytes too. A library's matrix product promises neither: it cuts a matrix by its size, and picks its
//! instructions by the machine.

use super::units::activate;
use super::{Activation, Ranker};
use crate::error::{Error, Result};
use crate::simd::{Simd, Vectorised, WIDEST, dispatch};
use burn::tensor::Tensor;

/// Units that are computed together: the widest lanes.
pub(crate) const GROUP: usize = WIDEST;
/// Documents whose sums are in registers together: with two vectors of units each, as many as 16 registers hold.
const ROWS: usize = 5;
/// Numbers in a line of a cache.
const LINE: usize = 16;
/// Documents that go through all units before the next ones do, so that their features stay in a core's cache.
const BLOCK: usize = 250;
/// The most feature values of such a block.
const BLOCK_VALUES: usize = 1 << 16;

/// What leads from features to units: weights and biases, unit by unit.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    features: usize,
    /// Group by group, feature by feature, the weights of the units of a group; 0 for units that are not there.
    weights: Vec<[f32; GROUP]>,
    /// One a unit.
    bias: Vec<f32>,
}

impl Columns {
    /// From the weight of a feature and a unit, and one bias a unit.
    pub fn new(features: usize, bias: Vec<f32>, weight: impl Fn(usize, usize) -> f32) -> Self {
        let units = bias.len();
        let of = |unit: usize, feature: usize| if unit < units { weight(feature, unit) } else { 0.0 };
        let group = |first: usize| (0..features).map(move |feature| (first, feature));
        let weights = (0..units).step_by(GROUP).flat_map(group);
        let weights = weights.map(|(first, feature)| std::array::from_fn(|lane| of(first + lane, feature)));
        Columns { features, weights: weights.collect(), bias }
    }

    /// The number of units.
    pub fn len(&self) -> usize {
        self.bias.len()
    }

    /// How many groups of [`GROUP`] units there are; the last may have fewer.
    pub fn groups(&self) -> usize {
        self.bias.len().div_ceil(GROUP)
    }

    /// The units of a group.
    pub fn units(&self, group: usize) -> std::ops::Range<usize> {
        group * GROUP..((group + 1) * GROUP).min(self.bias.len())
    }

    /// `x W + b` of the units of a group for row-major documents, into `[units, documents]`.
    pub fn receive(&self, group: usize, rows: &[f32], received: &mut [f32]) {
        dispatch(Receive { columns: self, group, rows, received });
    }
}

/// One group of units for some documents.
struct Receive<'a> {
    columns: &'a Columns,
    group: usize,
    rows: &'a [f32],
    received: &'a mut [f32],
}

impl Vectorised for Receive<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Receive { columns, group, rows, received } = self;
        let features = columns.features;
        let documents = rows.len() / features.max(1);
        let weights = &columns.weights[group * features..][..features];
        let bias = &columns.bias[columns.units(group)];
        let mut start = 0;
        while start < documents {
            // The last rows are fewer: the last of them stands in for those that are not there, and is not stored again.
            let count = (documents - start).min(ROWS);
            let row = |index: usize| &rows[(start + index.min(count - 1)) * features..][..features];
            let tile = [row(0), row(1), row(2), row(3), row(4)];
            let ahead = rows.as_ptr().wrapping_add((start + ROWS) * features);
            let sums = if bias.len() <= N {
                products::<N, S, 1>(simd, tile, ahead, weights)
            } else {
                products::<N, S, 2>(simd, tile, ahead, weights)
            };
            for (index, sums) in sums.iter().take(count).enumerate() {
                for (unit, (sum, bias)) in sums.iter().zip(bias).enumerate() {
                    received[unit * documents + start + index] = sum + bias;
                }
            }
            start += count;
        }
    }
}

/// The products of documents and a group of units, by `P` vectors of `N` units, feature after feature.
///
/// The documents from `ahead` on come next: without a hint, memory would be waited for at the start of every row.
#[inline(always)]
fn products<const N: usize, S: Simd<N>, const P: usize>(
    simd: S,
    tile: [&[f32]; ROWS],
    ahead: *const f32,
    weights: &[[f32; GROUP]],
) -> [[f32; GROUP]; ROWS] {
    let mut sums = [[simd.splat(0.0); P]; ROWS];
    let features = weights.len();
    let tile = tile.map(|row| &row[..features]);
    for start in (0..features).step_by(LINE) {
        for row in 0..ROWS {
            simd.prefetch(ahead.wrapping_add(row * features + start));
        }
        for feature in start..(start + LINE).min(features) {
            let lanes = weights[feature].as_chunks::<N>().0;
            let mut units = [simd.splat(0.0); P];
            for (unit, lanes) in units.iter_mut().zip(lanes) {
                *unit = simd.load(lanes);
            }
            for (row, sums) in tile.iter().zip(&mut sums) {
                let x = simd.splat(row[feature]);
                for (unit, sum) in units.iter().zip(sums) {
                    *sum = simd.add(*sum, simd.mul(x, *unit));
                }
            }
        }
    }
    let mut found = [[0.0; GROUP]; ROWS];
    for (sums, found) in sums.iter().zip(&mut found) {
        for (sum, lanes) in sums.iter().zip(found.as_chunks_mut::<N>().0) {
            simd.store(lanes, *sum);
        }
    }
    found
}

/// A ranker on the host.
#[derive(Debug, Clone)]
pub(crate) struct HostRanker {
    columns: Columns,
    /// The hidden units' function and the weight of each; nothing for a linear net, whose score is its only unit.
    output: Option<(Activation, Vec<f32>)>,
}

impl HostRanker {
    /// # Errors
    /// When the weights cannot be copied from their device.
    pub fn of(ranker: &Ranker) -> Result<Self> {
        Ok(match ranker {
            Ranker::Linear(net) => {
                let weights = to_host(net.weight.val())?;
                HostRanker {
                    columns: Columns::new(weights.len(), vec![0.0], |feature, _| weights[feature]),
                    output: None,
                }
            }
            Ranker::Mlp(net) => {
                let (weights, bias) = (to_host(net.hidden_weight.val())?, to_host(net.hidden_bias.val())?);
                let units = bias.len();
                HostRanker {
                    columns: Columns::new(weights.len() / units.max(1), bias, |feature, unit| {
                        weights[feature * units + unit]
                    }),
                    output: Some((net.activation, to_host(net.output_weight.val())?)),
                }
            }
        })
    }

    /// The number of features of a document.
    pub fn features(&self) -> usize {
        self.columns.features
    }

    /// How many documents to score at once.
    pub fn block(&self) -> usize {
        (BLOCK_VALUES / self.columns.features.max(1)).clamp(ROWS, BLOCK)
    }

    /// The scores of row-major documents.
    pub fn score(&self, rows: &[f32], scores: &mut [f32]) {
        let Some((function, weights)) = &self.output else {
            return self.columns.receive(0, rows, scores);
        };
        let documents = scores.len();
        let mut received = vec![0.0; documents * GROUP.min(weights.len())];
        scores.fill(0.0);
        for group in 0..self.columns.groups() {
            let units = self.columns.units(group);
            let received = &mut received[..units.len() * documents];
            self.columns.receive(group, rows, received);
            activate(*function, received);
            for (values, weight) in received.chunks_exact(documents.max(1)).zip(&weights[units]) {
                scores.iter_mut().zip(values).for_each(|(score, value)| *score += weight * value);
            }
        }
    }
}

/// Copies weights from a device, row-major.
pub(crate) fn to_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    tensor.without_autodiff().try_into_vec_as().map_err(|error| Error::Device(format!("the device failed: {error}")))
}
