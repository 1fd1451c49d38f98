//! Pairs as rows against columns: what the direct kernels fill in, and how it is cut into blocks.
//!
//! A [`Grid`] holds documents in some order. Its first documents are the rows; row `r` is paired with all documents from
//! `starts[r]` on. In the *preferred* layout rows are wanted above their columns (sorted by label: documents of equal
//! label never meet, and no pair needs a branch); in the *ranked* layout rows are ranked above their columns, whichever of
//! the two is wanted above.
//!
//! Columns are cut into tiles that stay in the first cache and rows into blocks, after which f32 sums are added to f64
//! ones: rounding errors do not grow with the length of a list, and blocks can be computed by any thread.

use super::lanes::{Block, BlockSums, Factor, Narrow, Pair, Wide};
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
pub(super) struct Grid {
    /// `exp(sigma (s - centre))`; unused when wide.
    pub e: Vec<f32>,
    /// `s - centre`.
    pub score: Vec<f32>,
    pub gain: Vec<f32>,
    pub discount: Vec<f32>,
    /// By distance in the grid, for weights that need it.
    pub near: Vec<f32>,
    /// The first column of each row.
    pub starts: Vec<u32>,
    /// Where each document's sum belongs, for the caller.
    pub place: Vec<u32>,
    /// The sum of each document: `dC/d(sigma s)` in nats.
    pub sums: Vec<f64>,
    columns: Vec<f32>,
}

/// Which arithmetic a sweep needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep<'a> {
    /// Whether the scores span too much for one exponential a document.
    pub wide: bool,
    pub sigma: f64,
    pub loss: bool,
    pub stop: &'a Stop,
}

impl Grid {
    /// Empties the grid, keeping its memory.
    pub fn clear(&mut self) {
        self.e.clear();
        self.score.clear();
        self.gain.clear();
        self.discount.clear();
        self.near.clear();
        self.starts.clear();
        self.place.clear();
    }

    /// Takes documents over by their ranks; the caller gives gains and discounts.
    pub fn take(&mut self, ranked: &Ranked, places: impl Iterator<Item = u32> + Clone) {
        self.e.extend(places.clone().map(|place| ranked.e[place as usize]));
        let score = |place: u32| (f64::from(ranked.scores[place as usize]) - ranked.centre) as f32;
        self.score.extend(places.clone().map(score));
        self.place.extend(places);
    }

    /// Takes one document over, likewise.
    pub fn push(&mut self, ranked: &Ranked, place: usize) {
        self.take(ranked, std::iter::once(place as u32));
    }

    /// Adds the sums to those in the order of the places.
    pub fn scatter(&self, sums: &mut [f64]) {
        self.place.iter().zip(&self.sums).for_each(|(&place, sum)| sums[place as usize] += sum);
    }

    /// Computes the sums of all pairs; returns the loss in nats when asked.
    pub fn run<P: Pair>(&mut self, sweep: Sweep<'_>) -> f64 {
        let n = self.place.len();
        // Padding that pulls at nothing: e = 0 and a score far below all others.
        let lowest = self.gain.iter().copied().fold(0.0, f32::min);
        self.e.resize(n + WIDEST, 0.0);
        self.score.resize(n + WIDEST, -1e38);
        self.gain.resize(n + WIDEST, P::padding(lowest));
        self.discount.resize(n + WIDEST, 0.0);
        self.near.resize(if P::NEAR { n + WIDEST } else { 0 }, 0.0);
        self.sums.clear();
        self.sums.resize(n, 0.0);
        match (sweep.wide, sweep.loss) {
            (false, false) => self.sweep::<P, Narrow, false>(sweep),
            (false, true) => self.sweep::<P, Narrow, true>(sweep),
            (true, false) => self.sweep::<P, Wide, false>(sweep),
            (true, true) => self.sweep::<P, Wide, true>(sweep),
        }
    }

    fn sweep<P: Pair, F: Factor, const LOSS: bool>(&mut self, sweep: Sweep<'_>) -> f64 {
        let n = self.place.len();
        let mut columns = std::mem::take(&mut self.columns);
        let mut sums = std::mem::take(&mut self.sums);
        let pairs: usize = self.starts.iter().map(|&start| n - start as usize).sum();
        let blocks = self.starts.len().div_ceil(BLOCK);
        let wave = if pairs < SHARED || blocks == 1 { 1 } else { WAVE };
        let length = n + WIDEST;
        columns.clear();
        columns.resize(wave * length, 0.0);
        let rows = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(self.starts.len());
        let block =
            |rows: Range<usize>, columns: &mut [f32]| dispatch(Block::<P, F, LOSS>::new(self, rows, columns, sweep));
        let mut loss = 0.0;
        for first in (0..blocks).step_by(wave) {
            if sweep.stop.asked() {
                break;
            }
            if wave == 1 {
                let part = block(rows(first), &mut columns);
                loss += self.collect(rows(first), &part, &mut columns, &mut sums);
                continue;
            }
            let here = wave.min(blocks - first);
            let each = columns.par_chunks_mut(length).take(here).enumerate();
            let parts: Vec<BlockSums> = each.map(|(index, columns)| block(rows(first + index), columns)).collect();
            // Added up in the order of the blocks, so that the number of threads never shows.
            for (index, (part, columns)) in parts.iter().zip(columns.chunks_mut(length)).enumerate() {
                loss += self.collect(rows(first + index), part, columns, &mut sums);
            }
        }
        (self.columns, self.sums) = (columns, sums);
        loss
    }

    /// Adds what a block found to the sums, and leaves its columns at 0.
    fn collect(&self, rows: Range<usize>, part: &BlockSums, columns: &mut [f32], sums: &mut [f64]) -> f64 {
        let from = self.starts[rows.clone()].iter().min().map_or(0, |&start| start as usize);
        for (sum, column) in sums[from..].iter_mut().zip(&columns[from..]) {
            *sum += f64::from(*column);
        }
        columns[from..].fill(0.0);
        sums[rows].iter_mut().zip(&part.rows).for_each(|(sum, row)| *sum -= row);
        part.loss
    }
}
