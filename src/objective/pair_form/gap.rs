//! Weight `a_i - a_j`.

use super::super::pairwise::{Document, LaneForm, Moments, Side, Sides};
use super::ordered;
use crate::simd::Simd;

/// The row is always preferred.
pub(super) struct Preferred;

impl LaneForm for Preferred {
    const SWAPS: bool = false;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        (simd.sub(sides.first, sides.firsts), simd.splat(0.0))
    }
}

/// `(|w|, max(-w, 0))`: if the weight is negative, the row should be below.
#[inline(always)]
pub(super) fn signed<const N: usize, S: Simd<N>>(simd: S, weight: S::V) -> (S::V, S::V) {
    let zero = simd.splat(0.0);
    (simd.abs(weight), simd.max(simd.sub(zero, weight), zero))
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Gap;

impl LaneForm for Gap {
    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        signed(simd, simd.sub(sides.first, sides.firsts))
    }
}

impl Moments<2> for Gap {
    #[inline(always)]
    fn source(self, document: &Document, _: bool, _: Side) -> [f64; 2] {
        [1.0, document.values[0]]
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let sign = if high { 1.0 } else { -1.0 };
        ordered([sign * document.values[0], -sign], high, side == Side::Above)
    }
}
