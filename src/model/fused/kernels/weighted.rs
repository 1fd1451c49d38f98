//! Weighted sums of rows: gradients of output weights and biases.

use crate::simd::{Simd, Vectorised};

/// See [`super::add_weighted`].
pub(super) struct Weighted<'a> {
    pub rows: &'a [&'a [f32]],
    pub factors: &'a [f32],
    pub fresh: bool,
    pub sums: &'a mut [f32],
}

impl Vectorised for Weighted<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Weighted { rows, factors, fresh, sums } = self;
        if fresh {
            sums.fill(0.0);
        }
        let Some(row) = rows.first() else { return };
        let width = row.len();
        let whole = width - width % N;
        let mut start = 0;
        while start < whole {
            let left = (whole - start) / N;
            if left >= 8 {
                weighted_tile::<N, S, 8>(simd, rows, factors, start, 0, sums);
                start += 8 * N;
            } else if left >= 3 {
                weighted_tile::<N, S, 3>(simd, rows, factors, start, 0, sums);
                start += 3 * N;
            } else {
                weighted_tile::<N, S, 1>(simd, rows, factors, start, 0, sums);
                start += N;
            }
        }
        if whole < width && whole > 0 {
            // The last vector overlaps the one before, whose sums are not added again.
            weighted_tile::<N, S, 1>(simd, rows, factors, width - N, N - width % N, sums);
        } else if whole < width {
            for (row, factor) in rows.iter().zip(factors) {
                for (sum, x) in sums.iter_mut().zip(*row) {
                    *sum += factor * x;
                }
            }
        }
    }
}

#[inline(always)]
fn weighted_tile<const N: usize, S: Simd<N>, const C: usize>(
    simd: S,
    rows: &[&[f32]],
    factors: &[f32],
    start: usize,
    stored: usize,
    to: &mut [f32],
) {
    let mut sums = [simd.splat(0.0); C];
    for (row, factor) in rows.iter().zip(factors) {
        let factor = simd.splat(*factor);
        let (chunks, _) = row[start..][..C * N].as_chunks::<N>();
        for (chunk, sum) in chunks.iter().zip(&mut sums) {
            *sum = simd.fma(simd.load(chunk), factor, *sum);
        }
    }
    if stored > 0 {
        let mut last = [0.0; N];
        simd.store(&mut last, sums[0]);
        for (sum, to) in last.iter().zip(&mut to[start..]).skip(stored) {
            *to += sum;
        }
        return;
    }
    let (to, _) = to[start..][..C * N].as_chunks_mut::<N>();
    for (sum, to) in sums.iter().zip(to) {
        simd.store(to, simd.add(simd.load(to), *sum));
    }
}
