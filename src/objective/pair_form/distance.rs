//! Weight `(a_i - a_j) (|b_i - b_j| + share delta_ij)`: a difference of gains times a function of the distance of
//! ranks.

use super::super::pairwise::{LaneForm, Node, PairTensors, Sides};
use super::Discounts;
use super::gap::{Gap, signed};
use crate::metric::discount;
use crate::numeric::modes::MODES;
use crate::simd::Simd;
use burn::tensor::Tensor;

/// `delta = 1/D_m - 1/D_(m+1)` for ranks at distance `m`; 0 for distance 0.
pub(in super::super) fn nearness(distance: usize) -> f64 {
    if distance == 0 { 0.0 } else { discount(distance - 1) - discount(distance) }
}

/// Rows are ranked above their columns.
pub(super) struct Distance;

impl LaneForm for Distance {
    const NEAR: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let discount = simd.add(simd.sub(sides.second, sides.seconds), sides.near);
        signed(simd, simd.mul(discount, simd.sub(sides.first, sides.firsts)))
    }
}

/// One sweep for the difference of discounts, and one for each of the exponentials that sum to `delta`.
pub(super) fn moments<const LOSS: bool, const HESSIAN: bool>(node: &mut Node<'_>, cut: u32, share: f64) -> f64 {
    let mut loss = node.sweep::<Discounts, 4, LOSS, HESSIAN>(Discounts, cut);
    for (rate, amplitude) in MODES {
        loss += node.sweep_mode::<Gap, 2, LOSS, HESSIAN>(Gap, cut, rate, share * amplitude);
    }
    loss
}

pub(super) fn tensors(pairs: &PairTensors, share: f64) -> Tensor<3> {
    pairs.gap() * (pairs.discounts() + near(pairs).mul_scalar(share))
}

/// `delta` of every pair.
pub(super) fn near(pairs: &PairTensors) -> Tensor<3> {
    // Avoid distance 0, which occurs only between a document and itself. This is not a pair.
    let distance = pairs.distance().clamp_min(1.0);
    discount_gap(distance.clone(), distance.ones_like())
}

/// `1/log2(1 + a) - 1/log2(1 + a + m)` without cancellation: in single precision, the terms differ by less than their
/// rounding errors if `a` is in the thousands and `m` is 1.
///
/// Computed as `ln 2 ln(1 + m / (1 + a)) / (ln(1 + a) ln(1 + a + m))`.
fn discount_gap(a: Tensor<3>, m: Tensor<3>) -> Tensor<3> {
    let first = a.add_scalar(1.0);
    let last = first.clone() + m.clone();
    (m / first.clone()).log1p().mul_scalar(std::f64::consts::LN_2) / (first.log() * last.log())
}
