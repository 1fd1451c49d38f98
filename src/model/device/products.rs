//! Kernels for products of documents and weights. All device units of a group read the same weights or gradients at a
//! time.

use super::super::Activation;
use burn_cubecl::cubecl::{self, prelude::*};

/// Operation applied to a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum End {
    /// None.
    Plain,
    /// Add the bias and apply the activation function.
    Function(Activation),
    /// Multiply by the derivative of the activation function.
    Derivative(Activation),
}

#[cube]
fn value(x: f32, #[comptime] function: Activation) -> f32 {
    match function {
        Activation::Sigmoid => 1.0f32 / (1.0f32 + (-x).exp()),
        Activation::Tanh => x.tanh(),
        // NaN stays NaN.
        Activation::Relu => select(x <= 0.0f32, 0.0f32, x),
    }
}

/// The derivative of an activation function, given its value.
#[cube]
fn derivative(value: f32, #[comptime] function: Activation) -> f32 {
    match function {
        Activation::Sigmoid => value * (1.0f32 - value),
        Activation::Tanh => 1.0f32 - value * value,
        Activation::Relu => select(value <= 0.0f32, 0.0f32, 1.0f32),
    }
}

/// Each device unit computes `tile` sums of one document: `input W`, or `input W^T` for a weight of `[units, inputs]`.
///
/// `more` holds the biases, or the values of the hidden units for the derivative; it is not read for [`End::Plain`].
/// `even`: the number of units is a multiple of `tile`.
#[cube(launch_unchecked)]
pub(super) fn product(
    input: &[f32],
    weight: &[f32],
    more: &[f32],
    output: &mut [f32],
    documents: u32,
    inputs: u32,
    units: u32,
    #[comptime] end: End,
    #[comptime] transposed: bool,
    #[comptime] tile: usize,
    #[comptime] even: bool,
) {
    let document = (CUBE_POS_Z * CUBE_COUNT_X + CUBE_POS_X) * CUBE_DIM_X + UNIT_POS_X;
    if document >= documents {
        terminate!();
    }
    let first = CUBE_POS_Y * (tile as u32);
    let mut sums = Array::<f32>::new(tile);
    #[unroll]
    for u in 0..tile {
        sums[u] = 0.0f32;
    }
    for i in 0..inputs {
        let x = input[(document * inputs + i) as usize];
        #[unroll]
        for u in 0..tile {
            let to = if comptime!(even) { first + u as u32 } else { min(first + u as u32, units - 1u32) };
            let at = if comptime!(transposed) { to * inputs + i } else { i * units + to };
            sums[u] += x * weight[at as usize];
        }
    }
    #[unroll]
    for u in 0..tile {
        let to = first + u as u32;
        if to < units {
            let at = (document * units + to) as usize;
            output[at] = match end {
                End::Plain => sums[u],
                End::Function(function) => value(sums[u] + more[to as usize], function),
                End::Derivative(function) => sums[u] * derivative(more[at], function),
            };
        }
    }
}

/// Each device unit computes `tile` gradients of one input's weights over the documents of one chunk; the unit after
/// the last input computes those of the biases.
#[cube(launch_unchecked)]
pub(super) fn outer(
    input: &[f32],
    gradient: &[f32],
    weights: &mut [f32],
    biases: &mut [f32],
    documents: u32,
    inputs: u32,
    units: u32,
    chunk: u32,
    #[comptime] tile: usize,
    #[comptime] even: bool,
    #[comptime] has_bias: bool,
) {
    let i = CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X;
    let rows = if comptime!(has_bias) { inputs + 1u32 } else { inputs };
    if i >= rows {
        terminate!();
    }
    let first = CUBE_POS_Y * (tile as u32);
    let from = CUBE_POS_Z * chunk;
    let mut sums = Array::<f32>::new(tile);
    #[unroll]
    for u in 0..tile {
        sums[u] = 0.0f32;
    }
    let column = min(i, inputs - 1u32);
    for document in from..min(from + chunk, documents) {
        let feature = input[(document * inputs + column) as usize];
        let x = if comptime!(has_bias) { select(i < inputs, feature, 1.0f32) } else { feature };
        #[unroll]
        for u in 0..tile {
            let to = if comptime!(even) { first + u as u32 } else { min(first + u as u32, units - 1u32) };
            sums[u] += x * gradient[(document * units + to) as usize];
        }
    }
    #[unroll]
    for u in 0..tile {
        let to = first + u as u32;
        if to < units {
            if i < inputs {
                weights[((CUBE_POS_Z * inputs + i) * units + to) as usize] = sums[u];
            } else if comptime!(has_bias) {
                biases[(CUBE_POS_Z * units + to) as usize] = sums[u];
            }
        }
    }
}

/// Device unit `u` sums the `u`-th number of all chunks.
#[cube(launch_unchecked)]
pub(super) fn add_chunks(parts: &[f32], sums: &mut [f32], length: u32, chunks: u32) {
    let unit = ABSOLUTE_POS as u32;
    if unit >= length {
        terminate!();
    }
    let mut sum = 0.0f32;
    for chunk in 0..chunks {
        sum += parts[(chunk * length + unit) as usize];
    }
    sums[unit as usize] = sum;
}
