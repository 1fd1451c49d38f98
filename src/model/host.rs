//! Scoring on the host in blocks of documents; rounding does not depend on the block.

use super::columns::{Columns, GROUP};
use super::encoded_columns::EncodedColumns;
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
    before: Vec<Layer>,
    /// The last hidden layer, or a linear net.
    last: Layer,
    /// Activation function and output weights, one per unit of the last layer; `None` for a linear net, whose only unit
    /// is the score.
    output: Option<(Activation, Vec<f32>)>,
    /// The skip connection: one unit without activation function.
    skip: Option<Layer>,
}

/// The units of a layer.
#[derive(Debug, Clone)]
enum Layer {
    Plain(Columns),
    Encoded(EncodedColumns),
}

impl Layer {
    fn features(&self) -> usize {
        match self {
            Layer::Plain(columns) => columns.features(),
            Layer::Encoded(columns) => columns.features(),
        }
    }

    /// Number of units.
    fn len(&self) -> usize {
        match self {
            Layer::Plain(columns) => columns.len(),
            Layer::Encoded(columns) => columns.len(),
        }
    }

    fn groups(&self) -> usize {
        self.len().div_ceil(GROUP)
    }

    fn units(&self, group: usize) -> std::ops::Range<usize> {
        match self {
            Layer::Plain(columns) => columns.units(group),
            Layer::Encoded(columns) => columns.units(group),
        }
    }

    fn receive(&self, group: usize, rows: &[f32], received: &mut [f32]) {
        match self {
            Layer::Plain(columns) => columns.receive(group, rows, received),
            Layer::Encoded(columns) => columns.receive(group, rows, received),
        }
    }
}

impl HostRanker {
    /// # Errors
    /// If the weights cannot be copied from their device.
    pub fn of(ranker: &Ranker) -> Result<Self> {
        Ok(HostRanker::new(&HostNet::of(ranker)?))
    }

    pub fn new(net: &HostNet) -> Self {
        let layer = |(place, layer): (usize, &Dense)| match &net.encoding {
            Some(encoding) if place == 0 => {
                Layer::Encoded(EncodedColumns::new(encoding, &layer.weights, layer.bias.clone()))
            }
            _ => Layer::Plain(Columns::new(layer.inputs, layer.bias.clone(), |input, unit| {
                layer.weights[input * layer.units + unit]
            })),
        };
        let linear = |weights: &[f32]| match &net.encoding {
            Some(encoding) => Layer::Encoded(EncodedColumns::new(encoding, weights, vec![0.0])),
            None => Layer::Plain(Columns::linear(weights.len(), &[weights])),
        };
        let mut before: Vec<Layer> = net.hidden().iter().enumerate().map(layer).collect();
        let output = net.activation.map(|activation| (activation, net.output().to_vec()));
        let last = before.pop().unwrap_or_else(|| linear(net.output()));
        let skip = Some(&net.skip[..]).filter(|skip| !skip.is_empty()).map(linear);
        HostRanker { before, last, output, skip }
    }

    /// Number of features per document.
    pub fn features(&self) -> usize {
        self.before.first().unwrap_or(&self.last).features()
    }

    /// Number of documents per block.
    pub fn block(&self) -> usize {
        let widest = self.before.iter().map(Layer::len).fold(self.features(), usize::max);
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
        self.score_with(scores, room, |layer, group, sums| layer.receive(group, rows, sums));
        if let Some(skip) = &self.skip {
            room.received.clear();
            room.received.resize(scores.len(), 0.0);
            skip.receive(0, rows, &mut room.received);
            scores.iter_mut().zip(&room.received).for_each(|(score, linear)| *score += linear);
        }
    }

    /// Whether a change of a feature by some amount changes the sums of the first layer in proportion, and nothing else.
    pub fn has_first_sums(&self) -> bool {
        self.skip.is_none() && matches!(self.before.first().unwrap_or(&self.last), Layer::Plain(_))
    }

    /// Number of units of the first layer; 1 for a linear net.
    pub fn first_units(&self) -> usize {
        self.before.first().unwrap_or(&self.last).len()
    }

    /// Input sums of the first layer for row-major documents, `[units, documents]`: `x W + b`.
    pub fn first_sums(&self, rows: &[f32]) -> Vec<f32> {
        let first = self.before.first().unwrap_or(&self.last);
        let documents = rows.len() / first.features().max(1);
        let mut sums = vec![0.0; first.len() * documents];
        for (group, sums) in sums.chunks_mut((GROUP * documents).max(1)).enumerate() {
            first.receive(group, rows, sums);
        }
        sums
    }

    /// Scores of documents with the given first sums, after adding `change[document]` to one feature of each document.
    ///
    /// Takes one product per unit instead of one per unit and feature. Requires [`HostRanker::has_first_sums`].
    pub fn score_changed(&self, sums: &[f32], feature: usize, change: &[f32], scores: &mut [f32], room: &mut HostRoom) {
        let documents = change.len();
        self.score_with(scores, room, |layer, group, changed| {
            let units = layer.units(group);
            let rows = sums[units.start * documents..units.end * documents].chunks_exact(documents.max(1));
            for ((unit, sums), changed) in units.zip(rows).zip(changed.chunks_exact_mut(documents.max(1))) {
                let Layer::Plain(columns) = layer else { continue };
                let weight = columns.weight(feature, unit);
                for ((changed, sum), change) in changed.iter_mut().zip(sums).zip(change) {
                    *changed = sum + change * weight;
                }
            }
        });
    }

    /// Scores documents; `first` writes the input sums of a group of units of the first layer.
    fn score_with(&self, scores: &mut [f32], room: &mut HostRoom, first: impl Fn(&Layer, usize, &mut [f32])) {
        let Some((function, weights)) = &self.output else {
            return first(&self.last, 0, scores);
        };
        let documents = scores.len();
        let HostRoom { input, hidden, received } = room;
        for (place, layer) in self.before.iter().enumerate() {
            // The output of the previous layer is the input of this one.
            std::mem::swap(input, hidden);
            let input = &input[..];
            hidden_rows(layer, *function, documents, received, hidden, |group, sums| match place {
                0 => first(layer, group, sums),
                _ => layer.receive(group, input, sums),
            });
        }
        let hidden = &hidden[..];
        scores.fill(0.0);
        let fill = |group, sums: &mut [f32]| match self.before.is_empty() {
            true => first(&self.last, group, sums),
            false => self.last.receive(group, hidden, sums),
        };
        each_group(&self.last, *function, documents, received, fill, |units, values| {
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
    layer: &Layer,
    function: Activation,
    documents: usize,
    received: &mut Vec<f32>,
    hidden: &mut Vec<f32>,
    fill: impl Fn(usize, &mut [f32]),
) {
    hidden.clear();
    hidden.resize(layer.len() * documents, 0.0);
    each_group(layer, function, documents, received, fill, |units, values| {
        for (values, unit) in values.chunks_exact(documents.max(1)).zip(units) {
            hidden.iter_mut().skip(unit).step_by(layer.len()).zip(values).for_each(|(to, value)| *to = *value);
        }
    });
}

/// Visits the units of a hidden layer with their values, `[units, documents]`, a group of units at a time.
fn each_group(
    layer: &Layer,
    function: Activation,
    documents: usize,
    received: &mut Vec<f32>,
    fill: impl Fn(usize, &mut [f32]),
    mut visit: impl FnMut(std::ops::Range<usize>, &[f32]),
) {
    received.clear();
    received.resize(documents * GROUP.min(layer.len()), 0.0);
    for group in 0..layer.groups() {
        let units = layer.units(group);
        let received = &mut received[..units.len() * documents];
        fill(group, received);
        activate(function, received);
        visit(units, received);
    }
}

/// Copies weights from a device, row-major.
pub(crate) fn to_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    tensor.without_autodiff().try_into_vec_as().map_err(|error| Error::Device(format!("the device failed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(place: usize) -> f32 {
        ((place * 7919 + 13) % 1009) as f32 / 504.5 - 1.0
    }

    fn dense(inputs: usize, units: usize, start: usize) -> Dense {
        let weights = (0..inputs * units).map(|place| 0.4 * number(start + place)).collect();
        Dense { inputs, units, weights, bias: (0..units).map(|unit| number(start + unit + 1)).collect() }
    }

    fn net(widths: &[usize]) -> HostNet {
        let layers = widths.windows(2).enumerate().map(|(place, ends)| dense(ends[0], ends[1], 31 * place));
        let activation = (widths.len() > 2).then_some(Activation::Tanh);
        HostNet { layers: layers.collect(), activation, skip: Vec::new(), encoding: None }
    }

    #[test]
    fn a_changed_feature_scores_as_the_changed_documents() {
        for widths in [&[7, 1][..], &[7, 20, 1], &[7, 33, 18, 1]] {
            let mut net = net(widths);
            if let [linear] = &mut net.layers[..] {
                linear.bias[0] = 0.0;
            }
            let ranker = HostRanker::new(&net);
            let mut rows: Vec<f32> = (0..7 * 41).map(number).collect();
            let (sums, mut room) = (ranker.first_sums(&rows), HostRoom::default());
            let (mut scores, mut expected) = (vec![0.0; 41], vec![0.0; 41]);
            ranker.score_changed(&sums, 3, &[0.0; 41], &mut scores, &mut room);
            ranker.score(&rows, &mut expected);
            assert_eq!(scores, expected, "{widths:?}");
            let change: Vec<f32> = (0..41).map(|row| number(500 + row)).collect();
            ranker.score_changed(&sums, 3, &change, &mut scores, &mut room);
            rows.chunks_exact_mut(7).zip(&change).for_each(|(row, change)| row[3] += change);
            ranker.score(&rows, &mut expected);
            let is_close = |(one, other): (&f32, &f32)| (one - other).abs() < 1e-5;
            assert!(scores.iter().zip(&expected).all(is_close), "{widths:?}: {scores:?} {expected:?}");
        }
    }

    #[test]
    fn zeros_at_the_ends_of_a_layer_change_no_bit() {
        // Units 0 to 15 use inputs 5 to 8 of 40, units 16 to 31 none, the rest all.
        let (inputs, units) = (40, 37);
        let weight = |input: usize, unit: usize| match unit {
            0..16 if !(5..9).contains(&input) => 0.0,
            16..32 => 0.0,
            _ => number(input * units + unit),
        };
        let columns = Columns::new(inputs, vec![0.25; units], weight);
        let rows: Vec<f32> = (0..inputs * 12).map(number).collect();
        for group in 0..columns.groups() {
            let units = columns.units(group);
            let mut sums = vec![0.0; units.len() * 12];
            columns.receive(group, &rows, &mut sums);
            for (place, unit) in units.enumerate() {
                for (row, sum) in rows.chunks_exact(inputs).zip(&sums[place * 12..]) {
                    let products = row.iter().enumerate().map(|(input, x)| x * weight(input, unit));
                    assert_eq!(*sum, products.fold(0.0, |sum, product| sum + product) + 0.25, "{unit}");
                }
            }
        }
    }
}
