//! Scoring on the host in blocks of documents; rounding does not depend on the block.

use super::columns::{Columns, GROUP};
use super::units::activate;
use super::{Activation, Dense, HostNet, Ranker};
use crate::error::{Error, Result};
use burn::tensor::Tensor;

/// Maximum number of documents per block; a block goes through all units while its features are in a core's cache.
const BLOCK: usize = 250;
/// Maximum number of feature values, or of hidden values of a layer, per block.
const BLOCK_VALUES: usize = 1 << 16;

/// A ranker on the host.
#[derive(Debug, Clone)]
pub(crate) struct HostRanker {
    /// All hidden layers except the last.
    before: Vec<Columns>,
    /// The last hidden layer, or a linear net.
    last: Columns,
    /// Activation function and output weights, one per unit of the last layer; `None` for a linear net, whose only unit
    /// is the score.
    output: Option<(Activation, Vec<f32>)>,
}

impl HostRanker {
    /// # Errors
    /// If the weights cannot be copied from their device.
    pub fn of(ranker: &Ranker) -> Result<Self> {
        Ok(HostRanker::new(&HostNet::of(ranker)?))
    }

    pub fn new(net: &HostNet) -> Self {
        let columns = |layer: &Dense| {
            Columns::new(layer.inputs, layer.bias.clone(), |input, unit| layer.weights[input * layer.units + unit])
        };
        let mut before: Vec<Columns> = net.hidden().iter().map(columns).collect();
        let output = net.activation.map(|activation| (activation, net.output().to_vec()));
        let last = before.pop().unwrap_or_else(|| Columns::linear(net.output().len(), &[net.output()]));
        HostRanker { before, last, output }
    }

    /// Number of features per document.
    pub fn features(&self) -> usize {
        self.before.first().unwrap_or(&self.last).features()
    }

    /// Number of documents per block.
    pub fn block(&self) -> usize {
        let widest = self.before.iter().map(Columns::len).fold(self.features(), usize::max);
        (BLOCK_VALUES / widest.max(1)).clamp(1, BLOCK)
    }

    /// Scores row-major documents, a block at a time.
    pub fn score_blocks(&self, rows: &[f32], scores: &mut [f32]) {
        let block = self.block();
        let blocks = scores.chunks_mut(block).zip(rows.chunks(block * self.features().max(1)));
        blocks.for_each(|(scores, rows)| self.score(rows, scores));
    }

    /// Like [`HostRanker::score_blocks`], with buffers passed in.
    pub fn score_blocks_in(&self, rows: &[f32], scores: &mut [f32], room: &mut HostRoom) {
        let block = self.block();
        let blocks = scores.chunks_mut(block).zip(rows.chunks(block * self.features().max(1)));
        blocks.for_each(|(scores, rows)| self.score_in(rows, scores, room));
    }

    /// Scores row-major documents as one block.
    pub fn score(&self, rows: &[f32], scores: &mut [f32]) {
        self.score_in(rows, scores, &mut HostRoom::default());
    }

    fn score_in(&self, rows: &[f32], scores: &mut [f32], room: &mut HostRoom) {
        let Some((function, weights)) = &self.output else {
            return self.last.receive(0, rows, scores);
        };
        let documents = scores.len();
        let HostRoom { input, hidden, received } = room;
        for (place, layer) in self.before.iter().enumerate() {
            // The output of the previous layer is the input of this one.
            std::mem::swap(input, hidden);
            let rows = if place == 0 { rows } else { &input[..] };
            hidden_rows(layer, *function, rows, documents, received, hidden);
        }
        let rows = if self.before.is_empty() { rows } else { &hidden[..] };
        scores.fill(0.0);
        each_group(&self.last, *function, rows, documents, received, |units, values| {
            for (values, weight) in values.chunks_exact(documents.max(1)).zip(&weights[units]) {
                scores.iter_mut().zip(values).for_each(|(score, value)| *score += weight * value);
            }
        });
    }
}

/// Buffers for the values of units.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostRoom {
    input: Vec<f32>,
    hidden: Vec<f32>,
    received: Vec<f32>,
}

/// Computes the values of a hidden layer, `[documents, units]`.
fn hidden_rows(
    layer: &Columns,
    function: Activation,
    rows: &[f32],
    documents: usize,
    received: &mut Vec<f32>,
    hidden: &mut Vec<f32>,
) {
    hidden.clear();
    hidden.resize(layer.len() * documents, 0.0);
    each_group(layer, function, rows, documents, received, |units, values| {
        for (values, unit) in values.chunks_exact(documents.max(1)).zip(units) {
            hidden.iter_mut().skip(unit).step_by(layer.len()).zip(values).for_each(|(to, value)| *to = *value);
        }
    });
}

/// Visits the units of a hidden layer with their values, `[units, documents]`, a group of units at a time.
fn each_group(
    layer: &Columns,
    function: Activation,
    rows: &[f32],
    documents: usize,
    received: &mut Vec<f32>,
    mut visit: impl FnMut(std::ops::Range<usize>, &[f32]),
) {
    received.clear();
    received.resize(documents * GROUP.min(layer.len()), 0.0);
    for group in 0..layer.groups() {
        let units = layer.units(group);
        let received = &mut received[..units.len() * documents];
        layer.receive(group, rows, received);
        activate(function, received);
        visit(units, received);
    }
}

/// Copies weights from a device, row-major.
pub(crate) fn to_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    tensor.without_autodiff().try_into_vec_as().map_err(|error| Error::Device(format!("the device failed: {error}")))
}
