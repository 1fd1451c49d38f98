//! Scores on the host: one document at a time as far as rounding is concerned, many at a time as far as the machine is.

use super::columns::{Columns, GROUP};
use super::units::activate;
use super::{Activation, Ranker};
use crate::error::{Error, Result};
use burn::tensor::Tensor;

/// Documents that go through all units before the next ones do, so that their features stay in a core's cache.
const BLOCK: usize = 250;
/// The most feature values of such a block.
const BLOCK_VALUES: usize = 1 << 16;

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
                HostRanker { columns: Columns::linear(weights.len(), &[&weights]), output: None }
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
        self.columns.features()
    }

    /// How many documents to score at once.
    pub fn block(&self) -> usize {
        (BLOCK_VALUES / self.features().max(1)).clamp(1, BLOCK)
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
