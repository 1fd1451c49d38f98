//! The panels of a matrix of weights: at most [`PANEL`] units, stored input by input.

use crate::simd::{Simd, WIDEST};
use std::ops::Range;

/// Maximum number of units of a panel: four vectors of the widest lanes.
const PANEL: usize = 4 * WIDEST;

/// The panels of a matrix `[inputs, padded]`: first unit and width of each.
pub(in crate::model::fused) fn panels(padded: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..padded).step_by(PANEL).map(move |first| (first, PANEL.min(padded - first)))
}

/// One panel of a matrix.
pub(super) struct Panel {
    /// First unit.
    pub first: usize,
    /// Places of its weights.
    pub places: Range<usize>,
}

/// A computation on one panel after the other.
pub(super) trait PanelKernel {
    /// Computes `P` vectors of a panel of `W` units, from unit `LANE` on, for `T` rows or inputs at a time.
    fn tiles<const N: usize, S: Simd<N>, const W: usize, const P: usize, const T: usize, const LANE: usize>(
        &mut self,
        simd: S,
        panel: &Panel,
    );
}

/// Runs a kernel on all panels of a matrix `[inputs, padded]`.
#[inline(always)]
pub(super) fn each_panel<const N: usize, S: Simd<N>>(
    simd: S,
    inputs: usize,
    padded: usize,
    mut kernel: impl PanelKernel,
) {
    let mut start = 0;
    for (first, width) in panels(padded) {
        let panel = Panel { first, places: start..start + inputs * width };
        start = panel.places.end;
        match width / WIDEST {
            1 => one_panel::<N, S, 16>(simd, &panel, &mut kernel),
            2 => one_panel::<N, S, 32>(simd, &panel, &mut kernel),
            3 => one_panel::<N, S, 48>(simd, &panel, &mut kernel),
            _ => one_panel::<N, S, 64>(simd, &panel, &mut kernel),
        }
    }
}

#[inline(always)]
fn one_panel<const N: usize, S: Simd<N>, const W: usize>(simd: S, panel: &Panel, kernel: &mut impl PanelKernel) {
    // Tiles are as large as the registers of the instruction set allow.
    if N == WIDEST {
        match W / WIDEST {
            1 => kernel.tiles::<N, S, W, 1, 12, 0>(simd, panel),
            2 => kernel.tiles::<N, S, W, 2, 12, 0>(simd, panel),
            3 => kernel.tiles::<N, S, W, 3, 8, 0>(simd, panel),
            _ => kernel.tiles::<N, S, W, 4, 6, 0>(simd, panel),
        }
        return;
    }
    kernel.tiles::<N, S, W, 2, 6, 0>(simd, panel);
    if W > 16 {
        kernel.tiles::<N, S, W, 2, 6, 16>(simd, panel);
    }
    if W > 32 {
        kernel.tiles::<N, S, W, 2, 6, 32>(simd, panel);
    }
    if W > 48 {
        kernel.tiles::<N, S, W, 2, 6, 48>(simd, panel);
    }
}
