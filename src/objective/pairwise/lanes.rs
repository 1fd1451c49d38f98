//! The inner loops of the direct kernels, in f32 lanes.
//!
//! `sigma(s_j - s_i) = e_j / (e_i + e_j)` takes one exponential per document ([`Narrow`]), as long as the scores of a query
//! span less than [`NARROW`]; a wider query pays for one per pair ([`Wide`]).

use super::grid::{BLOCK, Grid, GridTask};
use crate::simd::{Simd, Vectorised, WIDEST};
use crate::stop::Stop;
use std::marker::PhantomData;
use std::ops::Range;

/// The widest range of `sigma s` whose exponentials f32 holds, with room for sums.
pub(super) const NARROW: f64 = 80.0;

/// `-ln(1 - q) / q` for `q` from 0 to 1/2, as a polynomial of relative error 1.5e-7 (Remez).
///
/// With `q = sigma(-|x|)`, `ln(1 + e^-|x|) = -ln(1 - q)`: no logarithm and no second exponential for the loss.
const LOG: [f32; 8] =
    [0.999_999_9, 0.500_036_54, 0.331_862_63, 0.272_250_53, 0.038_018_08, 0.785_430_97, -1.081_540_1, 1.184_931_4];

/// ColumnSums whose data stay in the first cache.
const TILE: usize = 1024;

/// The documents of one row and of a chunk of columns, as far as a weight sees them.
#[derive(Clone, Copy)]
pub(in super::super) struct Sides<V> {
    pub first: V,
    pub firsts: V,
    pub second: V,
    pub seconds: V,
    pub near: V,
    pub upper: V,
}

/// A form in lanes: what pulls the row up is `keep`, what pulls it down is `swap`.
pub(in super::super) trait LaneForm: Send + Sync {
    /// Whether the weight depends on the distance of ranks.
    const NEAR: bool = false;
    /// Whether the row, which is ranked above its columns, has a factor of its own.
    const UPPER: bool = false;
    /// Whether the row may be the one that is wanted below.
    const SWAPS: bool = true;

    /// The first value of a document that is not there, given the lowest of those that are.
    fn padding(lowest: f32) -> f32 {
        lowest - 1.0
    }

    /// `(keep + swap, swap)`; when the row is always wanted above, `swap` is not looked at.
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V);
}

/// How the sigmoid of a difference is found.
pub(super) trait Factor: Send + Sync {
    /// `sigma(x_j - x_i)`, and the same of `-|x_j - x_i|`, for `x = sigma s`.
    fn factors<const N: usize, S: Simd<N>>(simd: S, own: [S::V; 2], others: [S::V; 2], sigma: S::V) -> (S::V, S::V);
}

/// From exponentials of the documents.
pub(super) struct Narrow;

impl Factor for Narrow {
    #[inline(always)]
    fn factors<const N: usize, S: Simd<N>>(simd: S, own: [S::V; 2], others: [S::V; 2], _: S::V) -> (S::V, S::V) {
        let inverse = simd.div(simd.splat(1.0), simd.add(own[0], others[0]));
        (simd.mul(others[0], inverse), simd.mul(simd.min(own[0], others[0]), inverse))
    }
}

/// From the difference of scores: any range, one exponential per pair.
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

/// What one block of rows adds up to.
pub(super) struct BlockSums {
    /// What pulls each row up.
    pub rows: [f64; BLOCK],
    /// In nats.
    pub loss: f64,
}

/// What a block of rows adds to the columns, for those that follow to add to.
pub(super) struct ColumnSums<'a> {
    /// What pulls each column down.
    pub pulls: &'a mut [f32],
    /// Each column's second derivative, and behind those of all columns that of each row; empty unless wanted.
    pub curves: &'a mut [f32],
}

/// A block of rows against all their columns.
pub(super) struct Block<'a, L, F, const LOSS: bool, const SECOND: bool> {
    grid: &'a Grid,
    rows: Range<usize>,
    columns: ColumnSums<'a>,
    sigma: f32,
    stop: &'a Stop,
    kind: PhantomData<(L, F)>,
}

impl<'a, L, F, const LOSS: bool, const SECOND: bool> Block<'a, L, F, LOSS, SECOND> {
    pub fn new(grid: &'a Grid, rows: Range<usize>, columns: ColumnSums<'a>, task: GridTask<'a>) -> Self {
        Block { grid, rows, columns, sigma: task.sigma as f32, stop: task.stop, kind: PhantomData }
    }
}

impl<L: LaneForm, F: Factor, const LOSS: bool, const SECOND: bool> Vectorised for Block<'_, L, F, LOSS, SECOND> {
    type Output = BlockSums;

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) -> BlockSums {
        let mut sums = BlockSums { rows: [0.0; BLOCK], loss: 0.0 };
        let n = self.grid.place.len();
        let starts = &self.grid.starts[self.rows.clone()];
        let lowest = starts.iter().min().map_or(n, |&start| start as usize);
        for tile in (lowest..n).step_by(TILE) {
            // Once for some hundred thousand pairs.
            if self.stop.asked() {
                break;
            }
            let end = (tile + TILE).min(n);
            for (index, &start) in starts.iter().enumerate() {
                // Every row has its own grid of whole lanes: where the tile before ended, this one goes on.
                let start = start as usize;
                let whole = |to: usize| start + to.saturating_sub(start).next_multiple_of(N);
                let (from, to) = (whole(tile), whole(end));
                if from < to {
                    let row = self.rows.start + index;
                    let columns = ColumnSums {
                        pulls: &mut self.columns.pulls[from..to],
                        curves: if SECOND { &mut self.columns.curves[from..to] } else { &mut [] },
                    };
                    let found = pair_up::<N, S, L, F, LOSS, SECOND>(simd, self.grid, row, from, columns, self.sigma);
                    sums.rows[index] += f64::from(found.0);
                    sums.loss += f64::from(found.1);
                    if SECOND {
                        self.columns.curves[n + WIDEST + index] += found.2;
                    }
                }
            }
        }
        sums
    }
}

/// One row against consecutive columns, whose pulls are added to `columns`; returns the row's own pull, the loss and the row's
/// second derivative.
#[inline(always)]
fn pair_up<const N: usize, S: Simd<N>, L: LaneForm, F: Factor, const LOSS: bool, const SECOND: bool>(
    simd: S,
    grid: &Grid,
    row: usize,
    from: usize,
    columns: ColumnSums<'_>,
    sigma: f32,
) -> (f32, f32, f32) {
    let length = columns.pulls.len();
    let sigma = simd.splat(sigma);
    let own = [simd.splat(grid.e[row]), simd.splat(grid.score[row])];
    let (first, second) = (simd.splat(grid.first[row]), simd.splat(grid.second[row]));
    let upper = simd.splat(if L::UPPER { grid.upper[row] } else { 0.0 });
    // Weights that do not know distances read anything in their place: the compiler drops it.
    let near = if L::NEAR { chunks::<N>(&grid.near, from - row, length) } else { chunks(&grid.first, from, length) };
    let others = chunks::<N>(&grid.e, from, length).iter().zip(chunks::<N>(&grid.score, from, length));
    let firsts = chunks::<N>(&grid.first, from, length).iter();
    let weights = firsts.zip(chunks::<N>(&grid.second, from, length)).zip(near);
    let zero = simd.splat(0.0);
    let (mut pulls, mut losses, mut bends) = (zero, zero, zero);
    let curves = columns.curves.as_chunks_mut::<N>().0;
    let pairs = others.zip(weights).zip(columns.pulls.as_chunks_mut::<N>().0).enumerate();
    for (chunk, (((e, score), ((firsts, seconds), near)), column)) in pairs {
        let others = [simd.load(e), simd.load(score)];
        let (factor, small) = F::factors(simd, own, others, sigma);
        let (firsts, seconds, near) = (simd.load(firsts), simd.load(seconds), simd.load(near));
        let (total, swap) = L::weights(simd, Sides { first, firsts, second, seconds, near, upper });
        let pull = simd.mul(total, factor);
        let pull = if L::SWAPS { simd.sub(pull, swap) } else { pull };
        pulls = simd.add(pulls, pull);
        simd.store(column, simd.add(simd.load(column), pull));
        if SECOND {
            // p (1 - p) of the smaller of both probabilities: nothing cancels.
            let curve = simd.mul(total, simd.mul(small, simd.sub(simd.splat(1.0), small)));
            bends = simd.add(bends, curve);
            let to = &mut curves[chunk];
            simd.store(to, simd.add(simd.load(to), curve));
        }
        if LOSS {
            // Cut, so that the padding's difference times a weight of 0 is 0.
            let difference = simd.min(simd.mul(simd.sub(own[1], others[1]), sigma), simd.splat(1e37));
            losses = simd.fma(total, simd.mul(small, simd.polynomial(small, &LOG)), losses);
            // softplus(x) = max(x, 0) + ln(1 + e^-|x|); a row that may be wanted below has the higher score.
            let (weight, tail) =
                if L::SWAPS { (swap, difference) } else { (total, simd.sub(simd.max(difference, zero), difference)) };
            losses = simd.fma(weight, tail, losses);
        }
    }
    (simd.sum(pulls), simd.sum(losses), if SECOND { simd.sum(bends) } else { 0.0 })
}

#[inline(always)]
fn chunks<const N: usize>(values: &[f32], from: usize, length: usize) -> &[[f32; N]] {
    values[from..from + length].as_chunks::<N>().0
}
