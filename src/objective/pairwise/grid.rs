//! Pairs as rows against columns: what the direct kernels fill in, and how it is cut into blocks.
//!
//! A [`Grid`] holds documents in some order. Its first documents are the rows; row `r` is paired with all documents from
//! `starts[r]` on. Laid out *by label*, rows are wanted above their columns: documents of equal label never meet, and no
//! pair needs a branch. Laid out *by rank*, rows are ranked above their columns, whichever of the two is wanted above.
//!
//! ColumnSums are cut into tiles that stay in the first cache and rows into blocks, after which f32 sums are added to f64
//! ones: rounding errors do not grow with the length of a list, and blocks can be computed by any thread.

use super::lanes::{Block, BlockSums, ColumnSums, Factor, LaneForm, Narrow, Wide};
use super::ranked::Ranked;
use crate::simd::{WIDEST, dispatch};
use crate::stop::Stop;
use rayon::prelude::*;
use std::ops::Range;

/// Rows before f32 sums are added to f64 sums.
pub(super) const BLOCK: usize = 256;
/// Blocks computed at a time when threads share a query, each with its own column sums.
const WAVE: usize = 8;
/// Pairs below which a query is not shared.
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
    /// By distance in the grid, for weights that need it.
    pub near: Vec<f32>,
    /// What a row multiplies its weights with, for forms that have such a factor.
    pub upper: Vec<f32>,
    /// The first column of each row.
    pub starts: Vec<u32>,
    /// Where each document's sum belongs.
    pub place: Vec<u32>,
    sums: Vec<f64>,
    curves: Vec<f64>,
    columns: Vec<f32>,
}

/// What is asked of a grid.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct GridTask<'a> {
    /// Whether the scores span too much for one exponential per document.
    pub wide: bool,
    pub sigma: f64,
    pub loss: bool,
    pub hessian: bool,
    pub stop: &'a Stop,
}

/// The sums of a query, in rank order.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// `dC/d(sigma s)` in nats.
    pub slopes: Vec<f64>,
    /// The second derivative by `sigma s` in nats; empty unless wanted.
    pub curves: Vec<f64>,
}

impl Sums {
    pub fn clear(&mut self, n: usize, hessian: bool) {
        self.slopes.clear();
        self.slopes.resize(n, 0.0);
        self.curves.clear();
        self.curves.resize(if hessian { n } else { 0 }, 0.0);
    }
}

impl Grid {
    /// Empties the grid, keeping its memory.
    pub fn clear(&mut self) {
        let Grid { e, score, first, second, near, upper, .. } = self;
        [e, score, first, second, near, upper].into_iter().for_each(Vec::clear);
        self.starts.clear();
        self.place.clear();
    }

    /// Takes documents over by their ranks; the caller gives their values.
    pub(super) fn take(&mut self, ranked: &Ranked, places: impl Iterator<Item = u32> + Clone) {
        self.e.extend(places.clone().map(|place| ranked.e[place as usize]));
        let score = |place: u32| (f64::from(ranked.scores[place as usize]) - ranked.centre) as f32;
        self.score.extend(places.clone().map(score));
        self.place.extend(places);
    }

    /// Adds the sums to those in the order of the places.
    pub(super) fn scatter(&self, sums: &mut Sums) {
        self.place.iter().zip(&self.sums).for_each(|(&place, sum)| sums.slopes[place as usize] += sum);
        if !sums.curves.is_empty() {
            self.place.iter().zip(&self.curves).for_each(|(&place, curve)| sums.curves[place as usize] += curve);
        }
    }

    /// Computes the sums of all pairs; returns the loss in nats when asked.
    pub fn run<L: LaneForm>(&mut self, task: GridTask<'_>) -> f64 {
        let n = self.place.len();
        // Padding that pulls at nothing: e = 0 and a score far below all others.
        let least = |values: &[f32]| values.iter().copied().fold(0.0, f32::min);
        let (lowest, last) = (least(&self.first), least(&self.second));
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
            // Seldom asked for: not worth compiling one loop more for every form and instruction set.
            (true, true) => {
                let loss = self.sweep::<L, F, true, false>(task);
                self.sweep::<L, F, false, true>(task);
                loss
            }
        }
    }

    fn sweep<L: LaneForm, F: Factor, const LOSS: bool, const SECOND: bool>(&mut self, task: GridTask<'_>) -> f64 {
        let n = self.place.len();
        let mut columns = std::mem::take(&mut self.columns);
        let (mut sums, mut curves) = (std::mem::take(&mut self.sums), std::mem::take(&mut self.curves));
        sums.clear();
        sums.resize(n, 0.0);
        curves.clear();
        curves.resize(if SECOND { n } else { 0 }, 0.0);
        let pairs: usize = self.starts.iter().map(|&start| n - start as usize).sum();
        let blocks = self.starts.len().div_ceil(BLOCK);
        let wave = if pairs < SHARED || blocks == 1 { 1 } else { WAVE };
        let length = n + WIDEST;
        // The columns' pulls, and behind them their second derivatives and those of the rows.
        let stride = if SECOND { 2 * length + BLOCK } else { length };
        columns.clear();
        columns.resize(wave * stride, 0.0);
        let rows = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(self.starts.len());
        let block = |rows: Range<usize>, columns: &mut [f32]| {
            let (pulls, curves) = columns.split_at_mut(length);
            dispatch(Block::<L, F, LOSS, SECOND>::new(self, rows, ColumnSums { pulls, curves }, task))
        };
        let mut loss = 0.0;
        for first in (0..blocks).step_by(wave) {
            if task.stop.asked() {
                break;
            }
            if wave == 1 {
                let part = block(rows(first), &mut columns);
                loss += self.collect(rows(first), &part, &mut columns, &mut sums, &mut curves);
                continue;
            }
            let here = wave.min(blocks - first);
            let each = columns.par_chunks_mut(stride).take(here).enumerate();
            let parts: Vec<BlockSums> = each.map(|(index, columns)| block(rows(first + index), columns)).collect();
            // Added up in the order of the blocks, so that the number of threads never shows.
            for (index, (part, columns)) in parts.iter().zip(columns.chunks_mut(stride)).enumerate() {
                loss += self.collect(rows(first + index), part, columns, &mut sums, &mut curves);
            }
        }
        (self.columns, self.sums, self.curves) = (columns, sums, curves);
        loss
    }

    /// Adds what a block found to the sums, and leaves its columns at 0.
    fn collect(
        &self,
        rows: Range<usize>,
        part: &BlockSums,
        columns: &mut [f32],
        sums: &mut [f64],
        curves: &mut [f64],
    ) -> f64 {
        let from = self.starts[rows.clone()].iter().min().map_or(0, |&start| start as usize);
        let (pulls, bends) = columns.split_at_mut(sums.len() + WIDEST);
        for (sum, column) in sums[from..].iter_mut().zip(&pulls[from..]) {
            *sum += f64::from(*column);
        }
        pulls[from..].fill(0.0);
        if !curves.is_empty() {
            curves[from..].iter_mut().zip(&bends[from..]).for_each(|(curve, bend)| *curve += f64::from(*bend));
            bends[from..sums.len() + WIDEST].fill(0.0);
            let of_rows = &mut bends[sums.len() + WIDEST..];
            curves[rows.clone()].iter_mut().zip(&*of_rows).for_each(|(curve, row)| *curve += f64::from(*row));
            of_rows.fill(0.0);
        }
        sums[rows].iter_mut().zip(&part.rows).for_each(|(sum, row)| *sum -= row);
        part.loss
    }
}
