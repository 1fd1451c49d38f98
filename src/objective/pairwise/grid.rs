//! Pairs as rows against columns: the input of the direct kernels, and its division into blocks.
//!
//! A [`Grid`] holds documents in some order. Its first documents are the rows; row `r` is paired with all documents
//! from `starts[r]` on. In the layout *by label*, rows are preferred to their columns: documents with equal labels
//! never meet, and no pair needs a branch. In the layout *by rank*, rows are ranked above their columns, whichever of
//! the two is preferred.
//!
//! Columns are divided into tiles that fit in the L1 cache. Rows are divided into blocks, after which f32 sums are
//! added to f64 sums. This bounds rounding errors in long lists and allows any thread to compute any block.

use super::lanes::{Block, BlockSums, ColumnSums, Factor, LaneForm, Narrow, Wide};
use super::ranked::Ranked;
use crate::simd::{WIDEST, dispatch};
use crate::stop::Stop;
use rayon::prelude::*;
use std::ops::Range;

/// Number of rows before f32 sums are added to f64 sums.
pub(super) const BLOCK: usize = 256;
/// Number of blocks computed at a time when threads share a query, each with separate column sums.
const WAVE: usize = 8;
/// Queries with at least this many pairs are shared between threads.
const SHARED: usize = 1 << 20;

/// Documents in the order of rows and columns.
#[derive(Debug, Default)]
pub(in super::super) struct Grid {
    /// `exp(sigma (s - centre))`; unused when wide.
    pub e: Vec<f32>,
    /// `s - centre`.
    pub score: Vec<f32>,
    pub first: Vec<f32>,
    pub second: Vec<f32>,
    /// Nearness by distance in the grid, for weights that need it.
    pub near: Vec<f32>,
    /// Factor of each row's weights, for forms that have one.
    pub upper: Vec<f32>,
    /// First column of each row.
    pub starts: Vec<u32>,
    /// Rank of each document, to which its sums belong.
    pub place: Vec<u32>,
    sums: Vec<f64>,
    hessian: Vec<f64>,
    columns: Vec<f32>,
}

/// Parameters of a computation on a grid.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct GridTask<'a> {
    /// Whether the scores span too large a range for one exponential per document.
    pub wide: bool,
    pub sigma: f64,
    pub loss: bool,
    pub hessian: bool,
    pub stop: &'a Stop,
}

/// Sums of a query, in rank order.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// `dC/d(sigma s)` in nats.
    pub gradient: Vec<f64>,
    /// Second derivative with respect to `sigma s` in nats; empty unless requested.
    pub hessian: Vec<f64>,
}

impl Sums {
    pub fn clear(&mut self, n: usize, hessian: bool) {
        self.gradient.clear();
        self.gradient.resize(n, 0.0);
        self.hessian.clear();
        self.hessian.resize(if hessian { n } else { 0 }, 0.0);
    }
}

impl Grid {
    /// Clears the grid, keeping its memory.
    pub fn clear(&mut self) {
        let Grid { e, score, first, second, near, upper, .. } = self;
        [e, score, first, second, near, upper].into_iter().for_each(Vec::clear);
        self.starts.clear();
        self.place.clear();
    }

    /// Appends documents by rank; the caller adds their values.
    pub(super) fn append(&mut self, ranked: &Ranked, places: impl Iterator<Item = u32> + Clone) {
        self.e.extend(places.clone().map(|place| ranked.e[place as usize]));
        let score = |place: u32| (f64::from(ranked.scores[place as usize]) - ranked.centre) as f32;
        self.score.extend(places.clone().map(score));
        self.place.extend(places);
    }

    /// Adds the sums to those in rank order.
    pub(super) fn scatter(&self, sums: &mut Sums) {
        self.place.iter().zip(&self.sums).for_each(|(&place, sum)| sums.gradient[place as usize] += sum);
        if !sums.hessian.is_empty() {
            self.place.iter().zip(&self.hessian).for_each(|(&place, second)| sums.hessian[place as usize] += second);
        }
    }

    /// Computes the sums of all pairs; returns the loss in nats if requested.
    pub fn run<L: LaneForm>(&mut self, task: GridTask<'_>) -> f64 {
        let n = self.place.len();
        // Padding without effect: e = 0 and a score far below all others.
        let min = |values: &[f32]| values.iter().copied().fold(0.0, f32::min);
        let (lowest, last) = (min(&self.first), min(&self.second));
        self.e.resize(n + WIDEST, 0.0);
        self.score.resize(n + WIDEST, -1e38);
        self.first.resize(n + WIDEST, L::padding(lowest));
        self.second.resize(n + WIDEST, last);
        self.near.resize(if L::NEAR { n + WIDEST } else { 0 }, 0.0);
        if task.wide { self.with::<L, Wide>(task) } else { self.with::<L, Narrow>(task) }
    }

    fn with<L: LaneForm, F: Factor>(&mut self, task: GridTask<'_>) -> f64 {
        match (task.loss, task.hessian) {
            (false, false) => self.sweep::<L, F, false, false>(task),
            (true, false) => self.sweep::<L, F, true, false>(task),
            (false, true) => self.sweep::<L, F, false, true>(task),
            // Rarely requested: two passes avoid compiling another loop for every form and instruction set.
            (true, true) => {
                let loss = self.sweep::<L, F, true, false>(task);
                self.sweep::<L, F, false, true>(task);
                loss
            }
        }
    }

    fn sweep<L: LaneForm, F: Factor, const LOSS: bool, const HESSIAN: bool>(&mut self, task: GridTask<'_>) -> f64 {
        let n = self.place.len();
        let mut columns = std::mem::take(&mut self.columns);
        let (mut sums, mut hessian) = (std::mem::take(&mut self.sums), std::mem::take(&mut self.hessian));
        sums.clear();
        sums.resize(n, 0.0);
        hessian.clear();
        hessian.resize(if HESSIAN { n } else { 0 }, 0.0);
        let pairs: usize = self.starts.iter().map(|&start| n - start as usize).sum();
        let blocks = self.starts.len().div_ceil(BLOCK);
        let wave = if pairs < SHARED || blocks == 1 { 1 } else { WAVE };
        let length = n + WIDEST;
        // The gradients of the columns, followed by the second derivatives of the columns and of the rows.
        let stride = if HESSIAN { 2 * length + BLOCK } else { length };
        columns.clear();
        columns.resize(wave * stride, 0.0);
        let rows = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(self.starts.len());
        let block = |rows: Range<usize>, columns: &mut [f32]| {
            let (gradient, hessian) = columns.split_at_mut(length);
            dispatch(Block::<L, F, LOSS, HESSIAN>::new(self, rows, ColumnSums { gradient, hessian }, task))
        };
        let mut loss = 0.0;
        for first in (0..blocks).step_by(wave) {
            if task.stop.asked() {
                break;
            }
            if wave == 1 {
                let part = block(rows(first), &mut columns);
                loss += self.collect(rows(first), &part, &mut columns, &mut sums, &mut hessian);
                continue;
            }
            let here = wave.min(blocks - first);
            let each = columns.par_chunks_mut(stride).take(here).enumerate();
            let parts: Vec<BlockSums> = each.map(|(index, columns)| block(rows(first + index), columns)).collect();
            // Summed in the order of the blocks, so results do not depend on the number of threads.
            for (index, (part, columns)) in parts.iter().zip(columns.chunks_mut(stride)).enumerate() {
                loss += self.collect(rows(first + index), part, columns, &mut sums, &mut hessian);
            }
        }
        (self.columns, self.sums, self.hessian) = (columns, sums, hessian);
        loss
    }

    /// Adds the sums of a block, and resets its columns to 0.
    fn collect(
        &self,
        rows: Range<usize>,
        part: &BlockSums,
        columns: &mut [f32],
        sums: &mut [f64],
        hessian: &mut [f64],
    ) -> f64 {
        let from = self.starts[rows.clone()].iter().min().map_or(0, |&start| start as usize);
        let (gradient, column_hessian) = columns.split_at_mut(sums.len() + WIDEST);
        for (sum, column) in sums[from..].iter_mut().zip(&gradient[from..]) {
            *sum += f64::from(*column);
        }
        gradient[from..].fill(0.0);
        if !hessian.is_empty() {
            hessian[from..]
                .iter_mut()
                .zip(&column_hessian[from..])
                .for_each(|(sum, column)| *sum += f64::from(*column));
            column_hessian[from..sums.len() + WIDEST].fill(0.0);
            let of_rows = &mut column_hessian[sums.len() + WIDEST..];
            hessian[rows.clone()].iter_mut().zip(&*of_rows).for_each(|(sum, row)| *sum += f64::from(*row));
            of_rows.fill(0.0);
        }
        sums[rows].iter_mut().zip(&part.rows).for_each(|(sum, row)| *sum -= row);
        part.loss
    }
}
