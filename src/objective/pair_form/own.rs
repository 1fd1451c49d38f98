//! Both directions of every pair: the first value of a document is the weight of ranking it above the other.

use super::super::pairwise::{Document, LaneForm, Moments, Side, Sides};
use crate::simd::Simd;

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Own;

impl LaneForm for Own {
    fn padding(_: f32) -> f32 {
        0.0
    }

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        (simd.add(sides.first, sides.firsts), sides.firsts)
    }
}

impl Moments<2> for Own {
    const ALL: bool = true;

    #[inline(always)]
    fn source(self, document: &Document, _: bool, _: Side) -> [f64; 2] {
        [1.0, document.values[0]]
    }

    #[inline(always)]
    fn target(self, document: &Document, _: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let own = document.values[0];
        // The document below is the one to move up.
        ([own, 1.0], if side == Side::Above { [own, 0.0] } else { [0.0, 1.0] })
    }
}
