//! Weight 1.

use super::super::pairwise::{Document, LaneForm, Moments, Side, Sides};
use super::ordered;
use crate::simd::Simd;

/// The row is always preferred.
pub(super) struct Preferred;

impl LaneForm for Preferred {
    const SWAPS: bool = false;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, _: Sides<S::V>) -> (S::V, S::V) {
        (simd.splat(1.0), simd.splat(0.0))
    }
}

/// Pairs of different labels; the labels are the first values.
pub(super) struct Ordered;

impl LaneForm for Ordered {
    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
        let swap = simd.if_less(sides.first, sides.firsts, one, zero);
        (simd.if_less(sides.firsts, sides.first, one, swap), swap)
    }
}

/// Like [`Ordered`], but with half of the weight in each direction for equal labels.
pub(super) struct OrderedOrTied;

impl LaneForm for OrderedOrTied {
    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let (zero, half, one) = (simd.splat(0.0), simd.splat(0.5), simd.splat(1.0));
        let swap = simd.if_less(sides.firsts, sides.first, zero, half);
        (one, simd.if_less(sides.first, sides.firsts, one, swap))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Constant;

impl Moments<1> for Constant {
    #[inline(always)]
    fn source(self, _: &Document, _: bool, _: Side) -> [f64; 1] {
        [1.0]
    }

    #[inline(always)]
    fn target(self, _: &Document, high: bool, side: Side) -> ([f64; 1], [f64; 1]) {
        ordered([1.0], high, side == Side::Above)
    }
}
