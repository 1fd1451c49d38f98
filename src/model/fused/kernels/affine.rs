//! The inputs of a layer's units.

use super::panel::{Panel, PanelKernel, each_panel};
use crate::simd::{Simd, Vectorised, WIDEST};

/// See [`super::affine`].
pub(super) struct Affine<'a> {
    pub rows: &'a [&'a [f32]],
    pub ahead: &'a [&'a [f32]],
    pub weights: &'a [f32],
    pub bias: &'a [f32],
    pub padded: usize,
    pub out: &'a mut [f32],
}

impl Vectorised for Affine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Some(first) = self.rows.first() else { return };
        each_panel(simd, first.len(), self.padded, self);
    }
}

impl PanelKernel for Affine<'_> {
    #[inline(always)]
    fn tiles<const N: usize, S: Simd<N>, const W: usize, const P: usize, const R: usize, const LANE: usize>(
        &mut self,
        simd: S,
        panel: &Panel,
    ) {
        let Affine { rows, ahead, weights, bias, padded, out } = self;
        let (weights, _) = weights[panel.places.clone()].as_chunks::<W>();
        let bias = bias.get(panel.first..panel.first + W).unwrap_or_default();
        // The rows are read from memory once, with the first panel.
        let ahead = if panel.first + LANE == 0 { *ahead } else { &[] };
        let mut start = 0;
        while start < rows.len() {
            let to = (&mut **out, panel.first, *padded);
            if rows.len() - start > 4 {
                affine_tile::<N, S, W, P, R, LANE>(simd, (rows, ahead), start, weights, bias, to);
                start += R;
            } else {
                affine_tile::<N, S, W, P, 4, LANE>(simd, (rows, ahead), start, weights, bias, to);
                start += 4;
            }
        }
    }
}

#[inline(always)]
fn affine_tile<const N: usize, S: Simd<N>, const W: usize, const P: usize, const R: usize, const LANE: usize>(
    simd: S,
    (rows, ahead): (&[&[f32]], &[&[f32]]),
    start: usize,
    weights: &[[f32; W]],
    bias: &[f32],
    (out, first, stride): (&mut [f32], usize, usize),
) {
    // The last tile may have fewer rows: the last row stands in for those missing, and is not stored again.
    let count = (rows.len() - start).min(R);
    let inputs = rows[start].len();
    let weights = &weights[..inputs];
    let mut tile: [&[f32]; R] = [&[]; R];
    for (place, row) in tile.iter_mut().enumerate() {
        *row = &rows[start + place.min(count - 1)][..inputs];
    }
    let mut start_sums = [simd.splat(0.0); P];
    if let Some(bias) = bias.get(LANE..LANE + P * N) {
        let (bias, _) = bias.as_chunks::<N>();
        for (place, sum) in start_sums.iter_mut().enumerate() {
            *sum = simd.load(&bias[place]);
        }
    }
    let mut sums = [start_sums; R];
    if ahead.is_empty() {
        affine_products::<N, S, W, P, R, LANE>(simd, &tile, weights, 0..inputs, &mut sums);
    } else {
        let mut next: [*const f32; R] = [std::ptr::null(); R];
        for (place, next) in next.iter_mut().enumerate() {
            let place = start + R + place;
            *next = rows.get(place).or_else(|| ahead.get(place - rows.len())).unwrap_or(&rows[0]).as_ptr();
        }
        for first in (0..inputs).step_by(WIDEST) {
            for next in next {
                simd.prefetch(next.wrapping_add(first));
            }
            affine_products::<N, S, W, P, R, LANE>(simd, &tile, weights, first..inputs.min(first + WIDEST), &mut sums);
        }
    }
    let column = first + LANE;
    // Places known to the compiler keep the sums in registers.
    for (place, sums) in sums.iter().enumerate() {
        if place >= count {
            continue;
        }
        let (to, _) = out[(start + place) * stride + column..][..P * N].as_chunks_mut::<N>();
        for (to, sum) in to.iter_mut().zip(sums) {
            simd.store(to, *sum);
        }
    }
}

#[inline(always)]
fn affine_products<const N: usize, S: Simd<N>, const W: usize, const P: usize, const R: usize, const LANE: usize>(
    simd: S,
    tile: &[&[f32]; R],
    weights: &[[f32; W]],
    inputs: std::ops::Range<usize>,
    sums: &mut [[S::V; P]; R],
) {
    for input in inputs {
        let (lanes, _) = weights[input].as_chunks::<N>();
        let mut units = [simd.splat(0.0); P];
        for (place, unit) in units.iter_mut().enumerate() {
            *unit = simd.load(&lanes[LANE / N + place]);
        }
        for (row, sums) in tile.iter().zip(&mut *sums) {
            let x = simd.splat(row[input]);
            for (unit, sum) in units.iter().zip(sums) {
                *sum = simd.fma(x, *unit, *sum);
            }
        }
    }
}
