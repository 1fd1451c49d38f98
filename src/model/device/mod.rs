//! Narrow nets on a GPU: forward and backward pass by custom kernels.
//!
//! Library matrix products use tiles for large matrices; a net with ten hidden units fills only a small part of one. Here
//! one device unit computes the sums of several hidden units for one document ([`products`]). Each score is summed in
//! the order of the inputs, so that it does not depend on the batch.
//!
//! ```text
//! forward:    a_l = g(a_{l-1} W_l + b_l)             s = a . v
//! backward:   d_l = d_{l+1} W_{l+1}^T * g'(a_l)      dW_l = a_{l-1}^T d_l      db_l = column sums of d_l
//! ```

// Kernels take one buffer per input and output.
#![allow(clippy::too_many_arguments)]

mod products;

use super::{Activation, Ranker, RankerConfig};
use crate::device::cube::{self, Buffer, Cube};
use burn::module::ParamId;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn_cubecl::cubecl::prelude::{CubeCount, CubeDim};
use products::{End, add_chunks, outer, product};

/// Maximum number of units per layer for these kernels.
const NARROW: usize = 64;
/// Number of sums per device unit.
const TILE: usize = 16;
/// Number of device units per group.
const GROUP: usize = 64;
/// Minimum number of documents whose gradients one device unit sums.
const CHUNK: usize = 256;

/// Whether these kernels support a net.
fn is_narrow(shape: &RankerConfig) -> bool {
    shape.features > 0
        && !shape.skip
        && shape.encoding.is_none()
        && shape.architecture.hidden().iter().all(|&units| units <= NARROW)
}

/// A net with narrow layers and its current weights.
pub(crate) struct NarrowNet<'a> {
    cube: &'a Cube,
    activation: Option<Activation>,
    layers: Vec<DeviceLayer>,
}

struct DeviceLayer {
    inputs: usize,
    units: usize,
    weight: (ParamId, Buffer),
    bias: Option<(ParamId, Buffer)>,
}

impl<'a> NarrowNet<'a> {
    /// Returns `None` if a layer is too wide, or the weights are on another device.
    pub fn of(ranker: &Ranker, cube: &'a Cube) -> Option<Self> {
        if !is_narrow(&ranker.config()) || !ranker.device().is_some_and(|device| cube.is_on(&device)) {
            return None;
        }
        let layers = ranker.layers.iter().map(|layer| {
            let [inputs, units] = layer.weight.lazy_shape().dims::<2>();
            DeviceLayer {
                inputs,
                units,
                weight: (layer.weight.id, cube::buffer(layer.weight.val())),
                bias: layer.bias.as_ref().map(|bias| (bias.id, cube::buffer(bias.val()))),
            }
        });
        Some(NarrowNet { cube, activation: ranker.activation, layers: layers.collect() })
    }

    /// Whether the values of this many documents can be indexed with 32 bits.
    pub fn takes(&self, documents: usize) -> bool {
        let widest = self.layers.iter().map(|layer| layer.inputs).max().unwrap_or(1);
        documents.checked_mul(widest).is_some_and(|values| values <= u32::MAX as usize)
    }

    /// Scores documents.
    ///
    /// # Shapes
    /// - features: `[documents, features]`
    /// - output: `[documents]`
    pub fn score(&self, features: Tensor<2>) -> Tensor<1> {
        self.forward(features).scores()
    }

    /// Scores documents and keeps the values needed by the backward pass.
    ///
    /// # Shapes
    /// - features: `[documents, features]`
    pub fn forward(&self, features: Tensor<2>) -> Values {
        let [documents, width] = features.dims();
        // Kernels do not check bounds.
        assert_eq!(Some(width), self.layers.first().map(|layer| layer.inputs), "features of a document");
        let mut layers = Vec::with_capacity(self.layers.len() + 1);
        let mut input = cube::buffer(features);
        for layer in &self.layers {
            let (bias, end) = match (&layer.bias, self.activation) {
                (Some((_, bias)), Some(activation)) => (bias, End::Function(activation)),
                _ => (self.cube.nothing(), End::Plain),
            };
            let shape = [layer.inputs, layer.units];
            let output = self.product(documents, shape, &input, &layer.weight.1, bias, end, false);
            layers.push(std::mem::replace(&mut input, output));
        }
        Values { documents, inputs: layers, scores: input }
    }

    /// Computes the gradients of all weights from those of the scores.
    ///
    /// # Shapes
    /// - gradient: `[documents]`
    pub fn gradients(&self, values: Values, gradient: Tensor<1>) -> GradientsParams {
        let mut gradients = GradientsParams::new();
        let mut gradient = cube::buffer(gradient);
        for (place, (layer, input)) in self.layers.iter().zip(&values.inputs).enumerate().rev() {
            let [weight, bias] = self.outer(values.documents, layer, input, &gradient);
            gradients.register(layer.weight.0, cube::tensor(weight).reshape([layer.inputs, layer.units]));
            if let Some((id, _)) = layer.bias {
                gradients.register(id, cube::tensor(bias));
            }
            if let (1.., Some(activation)) = (place, self.activation) {
                let (weight, end) = (&layer.weight.1, End::Derivative(activation));
                let shape = [layer.units, layer.inputs];
                gradient = self.product(values.documents, shape, &gradient, weight, input, end, true);
            }
        }
        gradients
    }

    /// `input` times the weights, optionally transposed, with `end` applied to each sum.
    fn product(
        &self,
        documents: usize,
        [inputs, units]: [usize; 2],
        input: &Buffer,
        weight: &Buffer,
        more: &Buffer,
        end: End,
        transposed: bool,
    ) -> Buffer {
        let output = self.cube.new_floats(documents * units);
        let (tile, lend) = (units.min(TILE), |buffer: &Buffer| buffer.clone().into_buffer_arg());
        let groups = documents.div_ceil(GROUP).max(1);
        // Groups beyond the maximum go into further rows.
        let rows = groups.div_ceil(MAX_GROUPS);
        let count = CubeCount::Static(groups.div_ceil(rows) as u32, units.div_ceil(tile) as u32, rows as u32);
        // SAFETY: units beyond the last document return, all others write distinct sums, and positions read are below
        // documents x inputs, inputs x units, and units or documents x units.
        unsafe {
            product::launch_unchecked(
                self.cube.client(),
                count,
                CubeDim::new_1d(GROUP as u32),
                lend(input),
                lend(weight),
                lend(more),
                lend(&output),
                documents as u32,
                inputs as u32,
                units as u32,
                end,
                transposed,
                tile,
                units.is_multiple_of(tile),
            );
        }
        output
    }

    /// The gradients of a layer's weights and biases: sums over documents, in chunks if there are many.
    fn outer(&self, documents: usize, layer: &DeviceLayer, input: &Buffer, gradient: &Buffer) -> [Buffer; 2] {
        let (inputs, units) = (layer.inputs, layer.units);
        let chunk = CHUNK.max(documents.div_ceil(CHUNK));
        let chunks = documents.div_ceil(chunk).max(1);
        let (tile, has_bias) = (units.min(TILE), layer.bias.is_some());
        let lend = |buffer: &Buffer| buffer.clone().into_buffer_arg();
        let lengths = [inputs * units, if has_bias { units } else { 0 }];
        let parts = lengths.map(|length| self.cube.new_floats(chunks * length));
        let rows = inputs + usize::from(has_bias);
        let group = GROUP.min(rows.next_multiple_of(8));
        let count = CubeCount::Static(rows.div_ceil(group) as u32, units.div_ceil(tile) as u32, chunks as u32);
        // SAFETY: as in `product`; each unit writes the sums of one input, tile and chunk.
        unsafe {
            outer::launch_unchecked(
                self.cube.client(),
                count,
                CubeDim::new_1d(group as u32),
                lend(input),
                lend(gradient),
                lend(&parts[0]),
                lend(&parts[1]),
                documents as u32,
                inputs as u32,
                units as u32,
                chunk as u32,
                tile,
                units.is_multiple_of(tile),
                has_bias,
            );
        }
        if chunks == 1 {
            return parts;
        }
        let added = |parts: Buffer, length: usize| {
            if length == 0 {
                return parts;
            }
            let (sums, (count, size)) = (self.cube.new_floats(length), self.cube.units(length));
            // SAFETY: each unit sums the chunks of one number.
            unsafe {
                let (from, to) = (lend(&parts), lend(&sums));
                add_chunks::launch_unchecked(self.cube.client(), count, size, from, to, length as u32, chunks as u32);
            }
            sums
        };
        let [weights, biases] = parts;
        [added(weights, lengths[0]), added(biases, lengths[1])]
    }
}

/// Maximum number of groups per row on every device.
const MAX_GROUPS: usize = 65_535;

/// The values of a forward pass.
pub(crate) struct Values {
    documents: usize,
    /// Input of each layer.
    inputs: Vec<Buffer>,
    scores: Buffer,
}

impl Values {
    /// # Shapes
    /// - output: `[documents]`
    pub fn scores(&self) -> Tensor<1> {
        // A slice of the whole tensor does not copy.
        cube::tensor(self.scores.clone()).slice(0..self.documents)
    }
}
