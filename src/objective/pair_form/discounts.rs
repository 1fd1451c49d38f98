//! Weight `(a_i - a_j) |b_i - b_j|`: a difference of gains times a difference of discounts.

use super::super::pairwise::{Document, LaneForm, Moments, Side, Sides};
use super::gap::signed;
use super::ordered;
use crate::simd::Simd;

/// The row is always preferred.
pub(super) struct Preferred;

impl LaneForm for Preferred {
    const SWAPS: bool = false;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let discount = simd.abs(simd.sub(sides.second, sides.seconds));
        (simd.mul(discount, simd.sub(sides.first, sides.firsts)), simd.splat(0.0))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Discounts;

impl LaneForm for Discounts {
    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let discount = simd.sub(sides.second, sides.seconds);
        signed(simd, simd.mul(discount, simd.sub(sides.first, sides.firsts)))
    }
}

impl Moments<4> for Discounts {
    #[inline(always)]
    fn source(self, document: &Document, _: bool, _: Side) -> [f64; 4] {
        let [gain, discount] = document.values;
        [1.0, discount, gain, gain * discount]
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 4], [f64; 4]) {
        let [gain, discount] = document.values;
        // (b_j - b_i)(a_i - a_j) for a source above and a higher target; the other cases change the sign of one
        // difference.
        let sign = if high == (side == Side::Above) { 1.0 } else { -1.0 };
        ordered([-sign * gain * discount, sign * gain, sign * discount, -sign], high, side == Side::Above)
    }
}
