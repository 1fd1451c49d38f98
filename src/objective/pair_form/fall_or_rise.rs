//! Weight `a_i - a_j` where the wanted document is above, `b_j - b_i` where it is below: what binary measures lose when a
//! relevant document falls, and gain when it rises.

use super::super::pairwise::{Document, Moments, Side};
use super::ordered;

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct FallOrRise;

/// Which of the values a pair looks at.
#[inline(always)]
fn chosen(document: &Document, wanted_above: bool) -> f64 {
    document.values[usize::from(!wanted_above)]
}

impl Moments<2> for FallOrRise {
    #[inline(always)]
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; 2] {
        [1.0, chosen(document, high == (side == Side::Above))]
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let value = chosen(document, high != (side == Side::Above));
        let sign = if side == Side::Above { 1.0 } else { -1.0 };
        ordered([-sign * value, sign], high, side == Side::Above)
    }
}
