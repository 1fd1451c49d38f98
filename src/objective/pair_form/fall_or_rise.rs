//! Weight `a_i - a_j` if the preferred document is above, `b_j - b_i` if it is below: what binary metrics lose when a
//! relevant document falls and gain when it rises.

use super::super::pairwise::{Document, Moments, Side};
use super::ordered;

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct FallOrRise;

/// The value that a pair uses.
#[inline(always)]
fn pair_value(document: &Document, preferred_above: bool) -> f64 {
    document.values[usize::from(!preferred_above)]
}

impl Moments<2> for FallOrRise {
    #[inline(always)]
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; 2] {
        [1.0, pair_value(document, high == (side == Side::Above))]
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let value = pair_value(document, high != (side == Side::Above));
        let sign = if side == Side::Above { 1.0 } else { -1.0 };
        ordered([-sign * value, sign], high, side == Side::Above)
    }
}
