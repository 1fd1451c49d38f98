//! Forward and backward pass of a net of any depth on the host, without a graph, for a part of a batch.
//!
//! All weights are in one array ([`NetShape::pack`]), padded to whole vectors. Documents are processed in blocks that fit into
//! a core's cache. The order of every sum depends on the data alone.

mod encoded;
mod kernels;
#[cfg(feature = "flex")]
mod op;
#[cfg(test)]
mod tests;

use super::{Activation, EncodedRows, RankerConfig};
use encoded::Entries;
use kernels::{BLOCK, padded, panels};
#[cfg(feature = "flex")]
pub(super) use op::fused_scores;
use std::ops::Range;

/// The layers of a net, and the places of their weights in one padded array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NetShape {
    features: usize,
    /// The rows of the first layer and the skip connection, if features are encoded.
    encoded: Option<EncodedRows>,
    hidden: Vec<HiddenShape>,
    activation: Activation,
    /// Places of the output's weights.
    output: Range<usize>,
    /// Places of the skip connection's weights; empty without one.
    skip: Range<usize>,
    /// Number of inputs of the output.
    last: usize,
    /// Inputs of the net.
    inputs: usize,
    /// The table of the first layer among the derived numbers; empty if features are not encoded.
    table: Range<usize>,
    /// The table of the skip connection.
    skip_table: Range<usize>,
    /// Number of derived numbers: transposed weights, which the backward pass needs, and tables.
    derived: usize,
}

/// A hidden layer.
#[derive(Debug, Clone, PartialEq)]
struct HiddenShape {
    inputs: usize,
    units: usize,
    padded: usize,
    /// `[inputs, padded]` in panels; `[rows, padded]` if features are encoded.
    weights: Range<usize>,
    /// `[padded]`
    bias: Range<usize>,
    /// `[units, padded inputs]` in panels, among the derived numbers; empty for the first layer.
    transposed: Range<usize>,
}

/// Documents of a part: the features, and where each row starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentRows<'a> {
    pub features: &'a [f32],
    pub starts: &'a [usize],
    /// Number of features.
    pub width: usize,
}

/// Values of a part of a batch between its forward and its backward pass. The memory is reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct PartValues {
    /// For each hidden layer, the values of its units for all documents, then their derivatives.
    values: Vec<f32>,
    /// The gradient with respect to the inputs of a layer, for one block.
    back: Vec<f32>,
    /// The encoded features of one block.
    entries: Entries,
}

impl NetShape {
    pub fn new(config: &RankerConfig) -> Self {
        let (mut hidden, mut start, mut derived) = (Vec::new(), 0, 0);
        let encoded = config.encoding.as_deref().map(EncodedRows::new);
        let inputs = config.n_inputs();
        let mut last = inputs;
        for &units in config.architecture.hidden() {
            let padded_units = padded(units);
            let rows = encoded.as_ref().filter(|_| hidden.is_empty()).map_or(last, EncodedRows::len);
            let weights = start..start + rows * padded_units;
            let bias = weights.end..weights.end + padded_units;
            start = bias.end;
            // Features need no gradient.
            let back = if hidden.is_empty() { 0 } else { units * padded(last) };
            hidden.push(HiddenShape {
                inputs: last,
                units,
                padded: padded_units,
                weights,
                bias,
                transposed: derived..derived + back,
            });
            derived += back;
            last = units;
        }
        // One number per row if features are encoded.
        let linear = |start: usize| start..start + encoded.as_ref().map_or(padded(inputs), EncodedRows::len);
        let output = if hidden.is_empty() { linear(start) } else { start..start + padded(last) };
        let skip = if config.skip { linear(output.end) } else { output.end..output.end };
        let rows = encoded.as_ref().map_or(0, EncodedRows::len);
        let table = derived..derived + rows * hidden.first().map_or(1, |first: &HiddenShape| first.padded);
        let skip_table = table.end..table.end + if config.skip { rows } else { 0 };
        NetShape {
            features: config.features,
            encoded,
            hidden,
            activation: config.architecture.activation().unwrap_or(Activation::Relu),
            output,
            skip,
            last,
            inputs,
            table,
            derived: skip_table.end,
            skip_table,
        }
    }

    /// Number of weights, padding included.
    pub fn len(&self) -> usize {
        self.skip.end
    }

    /// Number of features of a document.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Whether features are encoded, so that gradients must be completed by [`NetShape::by_weights`].
    pub fn is_encoded(&self) -> bool {
        self.encoded.is_some()
    }

    /// Number of values that a document has between its forward and its backward pass.
    pub fn values_per_document(&self) -> usize {
        self.hidden.iter().map(|layer| 2 * layer.padded).sum()
    }

    /// Number of hidden units.
    pub fn units(&self) -> usize {
        self.hidden.iter().map(|layer| layer.units).sum()
    }

    /// The places of each parameter of the net, in the order in which Burn visits them.
    pub fn parameters(&self) -> Vec<Range<usize>> {
        let of_layer = |layer: &HiddenShape| [layer.weights.clone(), layer.bias.clone()];
        let skip = Some(self.skip.clone()).filter(|skip| !skip.is_empty());
        self.hidden.iter().flat_map(of_layer).chain([self.output.clone()]).chain(skip).collect()
    }

    /// Copies weights in the order of [`RankerConfig::shapes`] into padded panels.
    pub fn pack(&self, weights: &[f32], packed: &mut Vec<f32>) {
        packed.clear();
        packed.resize(self.len(), 0.0);
        self.each_run(|plain, padded| packed[padded].copy_from_slice(&weights[plain]));
    }

    /// The reverse of [`NetShape::pack`].
    pub fn unpack(&self, packed: &[f32], weights: &mut Vec<f32>) {
        weights.clear();
        let hidden = self.hidden.iter().map(|layer| (layer.inputs + 1) * layer.units);
        let skip = if self.skip.is_empty() { 0 } else { self.inputs };
        weights.resize(hidden.sum::<usize>() + self.last + skip, 0.0);
        self.each_run(|plain, padded| weights[plain].copy_from_slice(&packed[padded]));
    }

    /// Visits all runs of weights that are contiguous in both orders, with their places without and with padding.
    fn each_run(&self, mut visit: impl FnMut(Range<usize>, Range<usize>)) {
        let mut plain = 0;
        for (place, layer) in self.hidden.iter().enumerate() {
            let mut start = layer.weights.start;
            let encoded = self.encoded.as_ref().filter(|_| place == 0);
            for (input, row) in encoded.iter().flat_map(|encoded| encoded.runs()).flat_map(|(a, b)| a.zip(b)) {
                let (from, to) = (plain + input * layer.units, start + row * layer.padded);
                visit(from..from + layer.units, to..to + layer.units);
            }
            for (first, width) in panels(layer.padded).filter(|_| encoded.is_none()) {
                let units = width.min(layer.units - first);
                for input in 0..layer.inputs {
                    let (from, to) = (plain + input * layer.units + first, start + input * width);
                    visit(from..from + units, to..to + units);
                }
                start += layer.inputs * width;
            }
            plain += layer.inputs * layer.units;
            visit(plain..plain + layer.units, layer.bias.start..layer.bias.start + layer.units);
            plain += layer.units;
        }
        if self.hidden.is_empty() {
            return self.each_linear_run(plain, self.output.start, &mut visit);
        }
        visit(plain..plain + self.last, self.output.start..self.output.start + self.last);
        if !self.skip.is_empty() {
            self.each_linear_run(plain + self.last, self.skip.start, &mut visit);
        }
    }

    /// Visits the runs of weights from the inputs to the score.
    fn each_linear_run(&self, plain: usize, start: usize, visit: &mut impl FnMut(Range<usize>, Range<usize>)) {
        match &self.encoded {
            None => visit(plain..plain + self.inputs, start..start + self.inputs),
            Some(encoded) => encoded.runs().for_each(|(inputs, rows)| {
                visit(plain + inputs.start..plain + inputs.end, start + rows.start..start + rows.end);
            }),
        }
    }

    /// Numbers derived from the weights: those that the backward pass of deep nets needs transposed, and the tables of encoded
    /// features.
    pub fn derive(&self, weights: &[f32], derived: &mut Vec<f32>) {
        derived.resize(self.derived, 0.0);
        for layer in self.hidden.iter().filter(|layer| !layer.transposed.is_empty()) {
            transpose(layer, &weights[layer.weights.clone()], &mut derived[layer.transposed.clone()]);
        }
        let Some(encoded) = &self.encoded else { return };
        let (first, stride) = match self.hidden.first() {
            Some(first) => (&first.weights, first.padded),
            None => (&self.output, 1),
        };
        encoded.table(&weights[first.clone()], stride, &mut derived[self.table.clone()]);
        if !self.skip.is_empty() {
            encoded.table(&weights[self.skip.clone()], 1, &mut derived[self.skip_table.clone()]);
        }
    }

    /// Scores the documents of a part. `weights` are followed by the numbers of [`NetShape::derive`].
    pub fn forward(&self, weights: [&[f32]; 2], rows: DocumentRows<'_>, part: &mut PartValues, scores: &mut [f32]) {
        let documents = scores.len();
        part.reserve(documents * self.values_per_document());
        for start in (0..documents).step_by(BLOCK) {
            let block = start..documents.min(start + BLOCK);
            let features = Table::of(rows, block.clone());
            let ahead = Table::of(rows, block.end..documents.min(block.end + AHEAD));
            // The kernels prefetch only if this is not empty; the last block prefetches its own first row.
            let ahead = if ahead.rows().is_empty() { &features.rows()[..1] } else { ahead.rows() };
            self.forward_block(weights, [features.rows(), ahead], block, documents, part, scores);
        }
    }

    fn forward_block(
        &self,
        [weights, derived]: [&[f32]; 2],
        [features, ahead]: [&[&[f32]]; 2],
        block: Range<usize>,
        documents: usize,
        PartValues { values, entries, .. }: &mut PartValues,
        scores: &mut [f32],
    ) {
        let output = &weights[self.output.clone()];
        let scores = &mut scores[block.clone()];
        if let Some(encoded) = &self.encoded {
            entries.decode(encoded, features);
        }
        if self.hidden.is_empty() {
            if self.encoded.is_none() {
                return kernels::dots(features, ahead, output, scores);
            }
            scores.fill(0.0);
            return encoded::add_dots(entries, &derived[self.table.clone()], scores);
        }
        let mut rest = &mut values[..];
        let mut before: &[f32] = &[];
        for (place, layer) in self.hidden.iter().enumerate() {
            let (own, others) = rest.split_at_mut(documents * layer.padded);
            let (derivatives, others) = others.split_at_mut(documents * layer.padded);
            let places = block.start * layer.padded..block.end * layer.padded;
            let (own, derivatives) = (&mut own[places.clone()], &mut derivatives[places]);
            let (matrix, bias) = (&weights[layer.weights.clone()], &weights[layer.bias.clone()]);
            if place == 0 && self.encoded.is_some() {
                encoded::sums(entries, &derived[self.table.clone()], bias, own);
            } else if place == 0 {
                kernels::affine([features, ahead], matrix, bias, layer.padded, own);
            } else {
                let inputs = Table::cut(before, padded(layer.inputs), layer.inputs);
                kernels::affine([inputs.rows(), &[]], matrix, bias, layer.padded, own);
            }
            kernels::activate(self.activation, layer.units, own, derivatives);
            (before, rest) = (own, others);
        }
        kernels::dots(Table::cut(before, output.len(), output.len()).rows(), &[], output, scores);
        if self.skip.is_empty() {
            return;
        }
        if self.encoded.is_some() {
            return encoded::add_dots(entries, &derived[self.skip_table.clone()], scores);
        }
        let mut linear = [0.0; BLOCK];
        let linear = &mut linear[..scores.len()];
        kernels::dots(features, &[], &weights[self.skip.clone()], linear);
        scores.iter_mut().zip(linear).for_each(|(score, linear)| *score += *linear);
    }

    /// Adds the gradient with respect to all weights to `gradient`, or replaces it if `fresh`, given the gradient with respect to
    /// the scores. Overwrites the values of the part. [`NetShape::by_weights`] completes the gradient.
    pub fn backward(
        &self,
        weights: [&[f32]; 2],
        rows: DocumentRows<'_>,
        part: &mut PartValues,
        by_scores: &[f32],
        fresh: bool,
        gradient: &mut [f32],
    ) {
        let documents = by_scores.len();
        if fresh && documents == 0 {
            gradient.fill(0.0);
        } else if fresh && self.encoded.is_some() {
            self.encoded_places().for_each(|(places, _)| gradient[places].fill(0.0));
        }
        for start in (0..documents).step_by(BLOCK) {
            let block = start..documents.min(start + BLOCK);
            let features = Table::of(rows, block.clone());
            self.backward_block(weights, features.rows(), block, part, by_scores, fresh && start == 0, gradient);
        }
    }

    /// The weights of encoded features: their places and the numbers per row.
    fn encoded_places(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let first = match self.hidden.first() {
            Some(first) => (first.weights.clone(), first.padded),
            None => (self.output.clone(), 1),
        };
        [first, (self.skip.clone(), 1)].into_iter().filter(|(places, _)| !places.is_empty())
    }

    /// Completes a gradient that [`NetShape::backward`] has added up: that of encoded features is by the rows of tables.
    pub fn by_weights(&self, gradient: &mut [f32]) {
        let Some(encoded) = &self.encoded else { return };
        self.encoded_places().for_each(|(places, stride)| encoded.by_weights(stride, &mut gradient[places]));
    }

    /// Adds the gradient by the weights of a path from the inputs to the score.
    fn add_linear(&self, features: &[&[f32]], entries: &Entries, by_scores: &[f32], fresh: bool, gradient: &mut [f32]) {
        match &self.encoded {
            None => kernels::add_weighted(features, by_scores, fresh, gradient),
            Some(_) => encoded::add_scores(entries, by_scores, gradient),
        }
    }

    #[allow(clippy::too_many_arguments)] // the arguments of `backward`, for one block
    fn backward_block(
        &self,
        [weights, transposed]: [&[f32]; 2],
        features: &[&[f32]],
        block: Range<usize>,
        part: &mut PartValues,
        by_scores: &[f32],
        fresh: bool,
        gradient: &mut [f32],
    ) {
        let documents = by_scores.len();
        let by_scores = &by_scores[block.clone()];
        let PartValues { values, back, entries } = part;
        if let Some(encoded) = &self.encoded {
            entries.decode(encoded, features);
        }
        let Some(last) = self.hidden.last() else {
            return self.add_linear(features, entries, by_scores, fresh, &mut gradient[self.output.clone()]);
        };
        if !self.skip.is_empty() {
            self.add_linear(features, entries, by_scores, fresh, &mut gradient[self.skip.clone()]);
        }
        let of_output = &mut gradient[self.output.clone()];
        let mut end = documents * self.values_per_document();
        let LayerValues { own, derivatives, .. } = LayerValues::of(values, end, documents, last, &block);
        kernels::add_weighted(Table::cut(own, last.padded, last.padded).rows(), by_scores, fresh, of_output);
        kernels::output_deltas(by_scores, &weights[self.output.clone()], derivatives);
        for (place, layer) in self.hidden.iter().enumerate().rev() {
            let LayerValues { below, derivatives: deltas, .. } = LayerValues::of(values, end, documents, layer, &block);
            let deltas = &*deltas;
            let rows = Table::cut(deltas, layer.padded, layer.padded);
            kernels::add_weighted(rows.rows(), &ONES[..block.len()], fresh, &mut gradient[layer.bias.clone()]);
            let of_weights = &mut gradient[layer.weights.clone()];
            if place == 0 && self.encoded.is_some() {
                encoded::add_rows(entries, deltas, layer.padded, of_weights);
                return;
            }
            if place == 0 {
                kernels::add_products(features, deltas, layer.padded, fresh, of_weights);
                return;
            }
            let before = &self.hidden[place - 1];
            end -= 2 * documents * layer.padded;
            let LayerValues { own, derivatives, .. } = LayerValues::of(below, end, documents, before, &block);
            let inputs = Table::cut(own, before.padded, layer.inputs);
            kernels::add_products(inputs.rows(), deltas, layer.padded, fresh, of_weights);
            back.resize(BLOCK * before.padded, 0.0);
            let back = &mut back[..block.len() * before.padded];
            let rows = Table::cut(deltas, layer.padded, layer.units);
            let matrix = &transposed[layer.transposed.clone()];
            kernels::affine([rows.rows(), &[]], matrix, &[], before.padded, back);
            kernels::hidden_deltas(back, derivatives);
        }
    }

    /// The gradient with respect to the features of a part, after [`NetShape::backward`] of the same part.
    #[cfg(feature = "flex")]
    pub fn by_features(&self, weights: &[f32], part: &PartValues, by_scores: &[f32], gradient: &mut [f32]) {
        let (width, documents) = (self.features.max(1), by_scores.len());
        let Some(first) = self.hidden.first() else {
            for (row, by_score) in gradient.chunks_exact_mut(width).zip(by_scores) {
                for (number, weight) in row.iter_mut().zip(&weights[self.output.clone()]) {
                    *number = by_score * weight;
                }
            }
            return;
        };
        let inputs = padded(width);
        let mut transposed = vec![0.0; first.units * inputs];
        transpose(first, &weights[first.weights.clone()], &mut transposed);
        let deltas = &part.values[documents * first.padded..2 * documents * first.padded];
        let mut block = vec![0.0; BLOCK * inputs];
        for (to, deltas) in gradient.chunks_mut(BLOCK * width).zip(deltas.chunks(BLOCK * first.padded)) {
            let rows = Table::cut(deltas, first.padded, first.units);
            kernels::affine([rows.rows(), &[]], &transposed, &[], inputs, &mut block[..rows.count * inputs]);
            for (to, row) in to.chunks_exact_mut(width).zip(block.chunks_exact(inputs)) {
                to.copy_from_slice(&row[..width]);
            }
        }
    }
}

/// Number of rows of the next block that are prefetched.
const AHEAD: usize = 16;

/// The factors of a plain sum of rows.
const ONES: [f32; BLOCK] = [1.0; BLOCK];

impl PartValues {
    fn reserve(&mut self, count: usize) {
        if self.values.len() < count {
            self.values.resize(count, 0.0);
        }
    }
}

/// The values of one layer for a block, and all values of the layers below.
struct LayerValues<'a> {
    below: &'a mut [f32],
    own: &'a [f32],
    derivatives: &'a mut [f32],
}

impl<'a> LayerValues<'a> {
    /// The values of the layer that end at `end`.
    fn of(values: &'a mut [f32], end: usize, documents: usize, layer: &HiddenShape, block: &Range<usize>) -> Self {
        let count = documents * layer.padded;
        let (below, own) = values[..end].split_at_mut(end - 2 * count);
        let (own, derivatives) = own.split_at_mut(count);
        let places = block.start * layer.padded..block.end * layer.padded;
        LayerValues { below, own: &own[places.clone()], derivatives: &mut derivatives[places] }
    }
}

/// Writes a layer's transposed weights in panels.
fn transpose(layer: &HiddenShape, weights: &[f32], transposed: &mut [f32]) {
    let mut start = 0;
    for (first, width) in panels(layer.padded) {
        let units = width.min(layer.units - first);
        let mut to = 0;
        for (input, inputs) in panels(padded(layer.inputs)) {
            let count = inputs.min(layer.inputs - input);
            for unit in 0..units {
                let row = &mut transposed[to + (first + unit) * inputs..][..count];
                for (place, number) in row.iter_mut().enumerate() {
                    *number = weights[start + (input + place) * width + unit];
                }
            }
            to += layer.units * inputs;
        }
        start += layer.inputs * width;
    }
}

/// The rows of a block, in the form that kernels expect.
struct Table<'a> {
    rows: [&'a [f32]; BLOCK],
    count: usize,
}

impl<'a> Table<'a> {
    /// Rows of documents.
    fn of(rows: DocumentRows<'a>, block: Range<usize>) -> Self {
        let mut table = Table { rows: [&[]; BLOCK], count: block.len() };
        for (to, &start) in table.rows.iter_mut().zip(&rows.starts[block]) {
            *to = &rows.features[start..start + rows.width];
        }
        table
    }

    /// The first `width` numbers of each row of a matrix.
    fn cut(matrix: &'a [f32], stride: usize, width: usize) -> Self {
        let mut table = Table { rows: [&[]; BLOCK], count: matrix.len() / stride };
        for (to, row) in table.rows.iter_mut().zip(matrix.chunks_exact(stride)) {
            *to = &row[..width];
        }
        table
    }

    fn rows(&self) -> &[&'a [f32]] {
        &self.rows[..self.count]
    }
}
