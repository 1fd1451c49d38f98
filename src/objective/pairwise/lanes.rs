//! The inner loops of the direct kernels, in f32 lanes.
//!
//! `sigma(s_j - s_i) = e_j / (e_i + e_j)` takes one exponential per document ([`Narrow`]) if the scores of a query span
//! less than [`NARROW`]; otherwise it takes one per pair ([`Wide`]).

use super::grid::{BLOCK, Grid, GridTask};
use crate::simd::{Simd, Vectorised, WIDEST};
use crate::stop::Stop;
use std::marker::PhantomData;
use std::ops::Range;

/// Maximum range of `sigma s` whose exponentials fit in f32, with room for sums.
pub(super) const NARROW: f64 = 80.0;

/// `-ln(1 - q) / q` for `q` in 0..1/2, as a polynomial with relative error 1.5e-7 (Remez).
///
/// With `q = sigma(-|x|)`, `ln(1 + e^-|x|) = -ln(1 - q)`: the loss needs no logarithm and no second exponential.
const LOG: [f32; 8] =
    [0.999_999_9, 0.500_036_54, 0.331_862_63, 0.272_250_53, 0.038_018_08, 0.785_430_97, -1.081_540_1, 1.184_931_4];

/// Number of columns whose data fit in the L1 cache.
const TILE: usize = 1024;

/// The inputs of a weight: the document of one row, and those of a chunk of columns.
#[derive(Clone, Copy)]
pub(in super::super) struct Sides<V> {
    pub first: V,
    pub firsts: V,
    pub second: V,
    pub seconds: V,
    pub near: V,
    pub upper: V,
}

/// A form in lanes: `keep` is the weight with the row preferred, `swap` with the column preferred.
pub(in super::super) trait LaneForm: Send + Sync {
    /// Whether the weight depends on the distance of ranks.
    const NEAR: bool = false;
    /// Whether the document of the row, which is ranked above those of its columns, has a factor.
    const UPPER: bool = false;
    /// Whether the document of the column may be the preferred one.
    const SWAPS: bool = true;

    /// First value of padding, given the lowest first value of the documents.
    fn padding(lowest: f32) -> f32 {
        lowest - 1.0
    }

    /// `(keep + swap, swap)`; `swap` is ignored if the row is always preferred.
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V);
}

/// Computes the sigmoid of a difference.
pub(super) trait Factor: Send + Sync {
    /// `sigma(x_j - x_i)` and `sigma(-|x_j - x_i|)`, for `x = sigma s`.
    fn factors<const N: usize, S: Simd<N>>(simd: S, own: [S::V; 2], others: [S::V; 2], sigma: S::V) -> (S::V, S::V);
}

/// Computes the sigmoid from one exponential per document.
pub(super) struct Narrow;

impl Factor for Narrow {
    #[inline(always)]
    fn factors<const N: usize, S: Simd<N>>(simd: S, own: [S::V; 2], others: [S::V; 2], _: S::V) -> (S::V, S::V) {
        let inverse = simd.div(simd.splat(1.0), simd.add(own[0], others[0]));
        (simd.mul(others[0], inverse), simd.mul(simd.min(own[0], others[0]), inverse))
    }
}

/// Computes the sigmoid from the difference of scores, with one exponential per pair. Works for any range of scores.
pub(super) struct Wide;

impl Factor for Wide {
    #[inline(always)]
    fn factors<const N: usize, S: Simd<N>>(simd: S, own: [S::V; 2], others: [S::V; 2], sigma: S::V) -> (S::V, S::V) {
        let difference = simd.mul(simd.sub(own[1], others[1]), sigma);
        let small = simd.exp_minus(simd.abs(difference));
        let large = simd.div(simd.splat(1.0), simd.add(simd.splat(1.0), small));
        let small = simd.mul(small, large);
        (simd.if_less(difference, simd.splat(0.0), large, small), small)
    }
}

/// Sums of one block of rows.
pub(super) struct BlockSums {
    /// Negative gradient of each row.
    pub rows: [f64; BLOCK],
    /// Loss in nats.
    pub loss: f64,
}

/// Sums of one block of rows for its columns.
pub(super) struct ColumnSums<'a> {
    /// Gradient of each column.
    pub gradient: &'a mut [f32],
    /// Second derivative of each column, followed by those of the rows; empty unless requested.
    pub hessian: &'a mut [f32],
}

/// A block of rows against all its columns.
pub(super) struct Block<'a, L, F, const LOSS: bool, const HESSIAN: bool> {
    grid: &'a Grid,
    rows: Range<usize>,
    columns: ColumnSums<'a>,
    sigma: f32,
    stop: &'a Stop,
    kind: PhantomData<(L, F)>,
}

impl<'a, L, F, const LOSS: bool, const HESSIAN: bool> Block<'a, L, F, LOSS, HESSIAN> {
    pub fn new(grid: &'a Grid, rows: Range<usize>, columns: ColumnSums<'a>, task: GridTask<'a>) -> Self {
        Block { grid, rows, columns, sigma: task.sigma as f32, stop: task.stop, kind: PhantomData }
    }
}

impl<L: LaneForm, F: Factor, const LOSS: bool, const HESSIAN: bool> Vectorised for Block<'_, L, F, LOSS, HESSIAN> {
    type Output = BlockSums;

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) -> BlockSums {
        let mut sums = BlockSums { rows: [0.0; BLOCK], loss: 0.0 };
        let n = self.grid.place.len();
        let starts = &self.grid.starts[self.rows.clone()];
        let lowest = starts.iter().min().map_or(n, |&start| start as usize);
        for tile in (lowest..n).step_by(TILE) {
            // Checked once per some hundred thousand pairs.
            if self.stop.asked() {
                break;
            }
            let end = (tile + TILE).min(n);
            for (index, &start) in starts.iter().enumerate() {
                // Every row has its own alignment of whole lanes, which continues from the previous tile.
                let start = start as usize;
                let whole = |to: usize| start + to.saturating_sub(start).next_multiple_of(N);
                let (from, to) = (whole(tile), whole(end));
                if from < to {
                    let row = self.rows.start + index;
                    let columns = ColumnSums {
                        gradient: &mut self.columns.gradient[from..to],
                        hessian: if HESSIAN { &mut self.columns.hessian[from..to] } else { &mut [] },
                    };
                    let part = pair_up::<N, S, L, F, LOSS, HESSIAN>(simd, self.grid, row, from, columns, self.sigma);
                    sums.rows[index] += f64::from(part.0);
                    sums.loss += f64::from(part.1);
                    if HESSIAN {
                        self.columns.hessian[n + WIDEST + index] += part.2;
                    }
                }
            }
        }
        sums
    }
}

/// Pairs one row with consecutive columns, whose gradients are added to `columns`; returns the row's negative gradient,
/// the loss and the row's second derivative.
#[inline(always)]
fn pair_up<const N: usize, S: Simd<N>, L: LaneForm, F: Factor, const LOSS: bool, const HESSIAN: bool>(
    simd: S,
    grid: &Grid,
    row: usize,
    from: usize,
    columns: ColumnSums<'_>,
    sigma: f32,
) -> (f32, f32, f32) {
    let length = columns.gradient.len();
    let sigma = simd.splat(sigma);
    let own = [simd.splat(grid.e[row]), simd.splat(grid.score[row])];
    let (first, second) = (simd.splat(grid.first[row]), simd.splat(grid.second[row]));
    let upper = simd.splat(if L::UPPER { grid.upper[row] } else { 0.0 });
    // Weights without NEAR get any values, which the compiler removes.
    let near = if L::NEAR { chunks::<N>(&grid.near, from - row, length) } else { chunks(&grid.first, from, length) };
    let others = chunks::<N>(&grid.e, from, length).iter().zip(chunks::<N>(&grid.score, from, length));
    let firsts = chunks::<N>(&grid.first, from, length).iter();
    let weights = firsts.zip(chunks::<N>(&grid.second, from, length)).zip(near);
    let zero = simd.splat(0.0);
    let (mut row_gradient, mut losses, mut row_hessian) = (zero, zero, zero);
    let hessian = columns.hessian.as_chunks_mut::<N>().0;
    let pairs = others.zip(weights).zip(columns.gradient.as_chunks_mut::<N>().0).enumerate();
    for (chunk, (((e, score), ((firsts, seconds), near)), column)) in pairs {
        let others = [simd.load(e), simd.load(score)];
        let (factor, small) = F::factors(simd, own, others, sigma);
        let (firsts, seconds, near) = (simd.load(firsts), simd.load(seconds), simd.load(near));
        let (total, swap) = L::weights(simd, Sides { first, firsts, second, seconds, near, upper });
        let gradient = simd.mul(total, factor);
        let gradient = if L::SWAPS { simd.sub(gradient, swap) } else { gradient };
        row_gradient = simd.add(row_gradient, gradient);
        simd.store(column, simd.add(simd.load(column), gradient));
        if HESSIAN {
            // p (1 - p) from the smaller probability, to avoid cancellation.
            let second_derivative = simd.mul(total, simd.mul(small, simd.sub(simd.splat(1.0), small)));
            row_hessian = simd.add(row_hessian, second_derivative);
            let to = &mut hessian[chunk];
            simd.store(to, simd.add(simd.load(to), second_derivative));
        }
        if LOSS {
            // Clamped, so that the padding's difference times weight 0 is 0.
            let difference = simd.min(simd.mul(simd.sub(own[1], others[1]), sigma), simd.splat(1e37));
            losses = simd.fma(total, simd.mul(small, simd.polynomial(small, &LOG)), losses);
            // softplus(x) = max(x, 0) + ln(1 + e^-|x|); if the column may be preferred, the row has the higher score.
            let (weight, tail) =
                if L::SWAPS { (swap, difference) } else { (total, simd.sub(simd.max(difference, zero), difference)) };
            losses = simd.fma(weight, tail, losses);
        }
    }
    (simd.sum(row_gradient), simd.sum(losses), if HESSIAN { simd.sum(row_hessian) } else { 0.0 })
}

#[inline(always)]
fn chunks<const N: usize>(values: &[f32], from: usize, length: usize) -> &[[f32; N]] {
    values[from..from + length].as_chunks::<N>().0
}
