//! The gradient with respect to the weights of a layer.

use super::panel::{Panel, PanelKernel, each_panel};
use crate::simd::{Simd, Vectorised};

/// See [`super::add_products`].
pub(super) struct Products<'a> {
    pub rows: &'a [&'a [f32]],
    pub deltas: &'a [f32],
    pub padded: usize,
    pub fresh: bool,
    pub gradient: &'a mut [f32],
}

impl Vectorised for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        match self.rows.first() {
            Some(row) => each_panel(simd, row.len(), self.padded, self),
            None if self.fresh => self.gradient.fill(0.0),
            None => {}
        }
    }
}

impl PanelKernel for Products<'_> {
    #[inline(always)]
    fn tiles<const N: usize, S: Simd<N>, const W: usize, const P: usize, const F: usize, const LANE: usize>(
        &mut self,
        simd: S,
        panel: &Panel,
    ) {
        let Products { rows, deltas, padded, fresh, gradient } = self;
        let deltas = (*deltas, panel.first, *padded);
        let (panel, _) = gradient[panel.places.clone()].as_chunks_mut::<W>();
        let inputs = panel.len();
        let mut start = 0;
        while start < inputs {
            if inputs >= F {
                // The last tile may overlap the one before, whose sums are not stored again.
                let first = start.min(inputs - F);
                let stored = start - first;
                products_tile::<N, S, W, P, F, LANE>(simd, rows, deltas, *fresh, (first, stored), panel);
                start = first + F;
            } else {
                products_tile::<N, S, W, P, 1, LANE>(simd, rows, deltas, *fresh, (start, 0), panel);
                start += 1;
            }
        }
    }
}

#[inline(always)]
fn products_tile<const N: usize, S: Simd<N>, const W: usize, const P: usize, const F: usize, const LANE: usize>(
    simd: S,
    rows: &[&[f32]],
    (deltas, first, padded): (&[f32], usize, usize),
    fresh: bool,
    (input, stored): (usize, usize),
    panel: &mut [[f32; W]],
) {
    let mut sums = [[simd.splat(0.0); P]; F];
    for (row, deltas) in rows.iter().zip(deltas.chunks_exact(padded)) {
        let (lanes, _) = deltas[first + LANE..][..P * N].as_chunks::<N>();
        let mut units = [simd.splat(0.0); P];
        for (unit, lanes) in units.iter_mut().zip(lanes) {
            *unit = simd.load(lanes);
        }
        let Some(row) = row[input..].first_chunk::<F>() else { return };
        for (x, sums) in row.iter().zip(&mut sums) {
            let x = simd.splat(*x);
            for (unit, sum) in units.iter().zip(sums) {
                *sum = simd.fma(x, *unit, *sum);
            }
        }
    }
    let Some(panel) = panel[input..].first_chunk_mut::<F>() else { return };
    // Places known to the compiler keep the sums in registers.
    for (place, (sums, to)) in sums.iter().zip(panel).enumerate() {
        if place < stored {
            continue;
        }
        let (to, _) = to[LANE..][..P * N].as_chunks_mut::<N>();
        for (sum, to) in sums.iter().zip(to) {
            let before = if fresh { simd.splat(0.0) } else { simd.load(to) };
            simd.store(to, simd.add(before, *sum));
        }
    }
}
