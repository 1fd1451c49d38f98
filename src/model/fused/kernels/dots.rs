//! Scores of a linear net, and of the last hidden layer.

use crate::simd::{Simd, Vectorised, WIDEST};

/// See [`super::dots`].
pub(super) struct Dots<'a> {
    pub rows: &'a [&'a [f32]],
    pub ahead: &'a [&'a [f32]],
    pub weights: &'a [f32],
    pub scores: &'a mut [f32],
}

/// Rows of a product with one column that are computed together.
const DOTS: usize = 8;

impl Vectorised for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Dots { rows, ahead, weights, scores } = self;
        let Some(row) = rows.first() else { return };
        let width = row.len();
        let (whole, rest) = (width / N, width % N);
        // The weights beyond the last whole vector, as the end of a vector that overlaps it.
        let mut last = [0.0; N];
        if rest > 0 && whole > 0 {
            last[N - rest..].copy_from_slice(&weights[width - rest..width]);
        }
        let (chunks, _) = weights.as_chunks::<N>();
        let chunks = &chunks[..whole];
        let mut start = 0;
        while start < rows.len() {
            let count = (rows.len() - start).min(DOTS);
            let mut tile: [&[f32]; DOTS] = [&[]; DOTS];
            for (place, row) in tile.iter_mut().enumerate() {
                *row = &rows[start + place.min(count - 1)][..width];
            }
            let mut sums = [simd.splat(0.0); DOTS];
            if !ahead.is_empty() {
                for place in start + DOTS..start + 2 * DOTS {
                    let next = rows.get(place).or_else(|| ahead.get(place - rows.len())).unwrap_or(row);
                    for first in (0..width).step_by(WIDEST) {
                        simd.prefetch(next.as_ptr().wrapping_add(first));
                    }
                }
            }
            for (place, weights) in chunks.iter().enumerate() {
                let weights = simd.load(weights);
                for (row, sum) in tile.iter().zip(&mut sums) {
                    *sum = simd.fma(simd.load(&row.as_chunks::<N>().0[place]), weights, *sum);
                }
            }
            if rest > 0 && whole > 0 {
                let weights = simd.load(&last);
                for (row, sum) in tile.iter().zip(&mut sums) {
                    let Some(end) = row.last_chunk::<N>() else { return };
                    *sum = simd.fma(simd.load(end), weights, *sum);
                }
            }
            let mut found = [0.0; DOTS];
            for (sum, found) in sums.iter().zip(&mut found) {
                *found = simd.sum(*sum);
            }
            if whole == 0 {
                for (row, found) in tile.iter().zip(&mut found) {
                    for (x, weight) in row.iter().zip(weights) {
                        *found += x * weight;
                    }
                }
            }
            scores[start..start + count].copy_from_slice(&found[..count]);
            start += count;
        }
    }
}
