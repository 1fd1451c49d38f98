//! Products of documents and weights in lanes: what the layers of a net compute forward and backward for a block of rows.
//!
//! Weights are stored in [panels](panel), so that the weights of a tile are neighbours. Every sum is computed in an order
//! that depends on the data alone.

mod activate;
mod affine;
mod deltas;
mod dots;
mod panel;
mod products;
mod weighted;

use crate::model::Activation;
use crate::simd::{WIDEST, dispatch};
pub(super) use panel::panels;

/// Maximum number of rows that a kernel takes at once: their features stay in a core's cache.
pub(super) const BLOCK: usize = 128;

/// Units rounded up to whole vectors of the widest lanes.
pub(super) fn padded(units: usize) -> usize {
    units.next_multiple_of(WIDEST)
}

/// Computes `x W + b` for a block of rows, into `[rows, padded]`; without a bias if that is empty. The rows in `ahead` are
/// prefetched.
pub(super) fn affine([rows, ahead]: [&[&[f32]]; 2], weights: &[f32], bias: &[f32], padded: usize, out: &mut [f32]) {
    dispatch(affine::Affine { rows, ahead, weights, bias, padded, out });
}

/// Replaces the inputs of units by their values, and fills in their derivatives; both are 0 beyond the last unit.
pub(super) fn activate(function: Activation, units: usize, values: &mut [f32], derivatives: &mut [f32]) {
    dispatch(activate::Activate { function, units, values, derivatives });
}

/// Adds `x^T d` to the gradient of a layer's weights, or replaces it if `fresh`.
pub(super) fn add_products(rows: &[&[f32]], deltas: &[f32], padded: usize, fresh: bool, gradient: &mut [f32]) {
    dispatch(products::Products { rows, deltas, padded, fresh, gradient });
}

/// Computes the dot product of each row and the weights. The rows in `ahead` are prefetched.
pub(super) fn dots(rows: &[&[f32]], ahead: &[&[f32]], weights: &[f32], scores: &mut [f32]) {
    dispatch(dots::Dots { rows, ahead, weights, scores });
}

/// Adds the sum of all rows, each times its factor, to `sums`, or replaces them if `fresh`.
pub(super) fn add_weighted(rows: &[&[f32]], factors: &[f32], fresh: bool, sums: &mut [f32]) {
    dispatch(weighted::Weighted { rows, factors, fresh, sums });
}

/// Replaces derivatives of the last hidden layer by gradients: each times the gradient of the score and the weight of the unit.
pub(super) fn output_deltas(gradient: &[f32], weights: &[f32], derivatives: &mut [f32]) {
    dispatch(deltas::OutputDeltas { gradient, weights, derivatives });
}

/// Replaces derivatives of a hidden layer by gradients: each times the gradient from the next layer.
pub(super) fn hidden_deltas(back: &[f32], derivatives: &mut [f32]) {
    dispatch(deltas::HiddenDeltas { back, derivatives });
}
