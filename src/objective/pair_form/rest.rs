//! Weight `(a_i - a_j) |b_i - b_j| / (1 - a)`, where `a` is the first value of the upper document: the swaps of ERR.

use super::super::pairwise::{Document, LaneForm, Moments, Side, Sides};
use super::discounts::Discounts;
use super::gap::signed;
use crate::simd::Simd;

#[derive(Debug, Clone, Copy)]
pub(super) struct Rest;

impl LaneForm for Rest {
    const UPPER: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let discount = simd.mul(sides.upper, simd.sub(sides.second, sides.seconds));
        signed(simd, simd.mul(discount, simd.sub(sides.first, sides.firsts)))
    }
}

/// Factor of the upper document.
#[inline(always)]
fn factor(document: &Document, is_above: bool) -> f64 {
    if is_above { 1.0 / (1.0 - document.values[0]) } else { 1.0 }
}

impl Moments<4> for Rest {
    #[inline(always)]
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; 4] {
        let factor = factor(document, side == Side::Above);
        Discounts.source(document, high, side).map(|value| value * factor)
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 4], [f64; 4]) {
        let factor = factor(document, side == Side::Below);
        let (total, swap) = Discounts.target(document, high, side);
        (total.map(|value| value * factor), swap.map(|value| value * factor))
    }
}
