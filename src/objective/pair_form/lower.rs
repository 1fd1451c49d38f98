//! Weight `(a_i - a_j) b delta_ij`, where `b` is the second value of the lower document.

use super::super::pairwise::{Document, LaneForm, Moments, Node, PairTensors, Side, Sides};
use super::distance;
use super::gap::{Gap, signed};
use crate::numeric::modes::MODES;
use crate::simd::Simd;
use burn::tensor::Tensor;

#[derive(Debug, Clone, Copy)]
pub(super) struct Lower;

/// Rows are ranked above their columns.
impl LaneForm for Lower {
    const NEAR: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        signed(simd, simd.mul(simd.mul(sides.seconds, sides.near), simd.sub(sides.first, sides.firsts)))
    }
}

/// Factor of the lower document.
#[inline(always)]
fn factor(document: &Document, is_below: bool) -> f64 {
    if is_below { document.values[1] } else { 1.0 }
}

impl Moments<2> for Lower {
    #[inline(always)]
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; 2] {
        let factor = factor(document, side == Side::Below);
        Gap.source(document, high, side).map(|value| value * factor)
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let factor = factor(document, side == Side::Above);
        let (total, swap) = Gap.target(document, high, side);
        (total.map(|value| value * factor), swap.map(|value| value * factor))
    }
}

/// One sweep for each of the exponentials that sum to `delta`.
pub(super) fn moments<const LOSS: bool, const HESSIAN: bool>(node: &mut Node<'_>, cut: u32) -> f64 {
    node.clear_sums();
    let sweep = |(rate, amplitude)| node.sweep_mode::<Lower, 2, LOSS, HESSIAN>(Lower, cut, rate, amplitude);
    MODES.into_iter().map(sweep).sum()
}

pub(super) fn tensors(pairs: &PairTensors) -> Tensor<3> {
    pairs.gap() * pairs.second_of_lower() * distance::near(pairs)
}
