//! Pairs as rows against columns: the direct kernels' inner loops, in f32 lanes.
//!
//! A [`Grid`] holds documents in some order. Its first documents are the rows; row `r` is paired with all documents from
//! `starts[r]` on. In the *preferred* layout rows are wanted above their columns (sorted by label: documents of equal
//! label never meet, and no pair needs a branch); in the *ranked* layout rows are ranked above their columns, whichever of
//! the two is wanted above.
//!
//! `sigma(s_j - s_i) = e_j / (e_i + e_j)` takes one exponential a document ([`Narrow`]), as long as the scores of a query
//! span less than [`NARROW`]; a wider query pays for one a pair ([`Wide`]).
//!
//! Columns are cut into tiles that stay in the first cache and rows into blocks, after which f32 sums are added to f64
//! ones: rounding errors do not grow with the length of a list, and blocks can be computed by any thread.

use super::simd::{Simd, Vectorised, WIDEST, dispatch};
use rayon::prelude::*;

/// The widest range of `sigma s` whose exponentials f32 holds, with room for sums.
pub(super) const NARROW: f64 = 80.0;

/// Documents whose data stay in the first cache.
const TILE: usize = 1024;
/// Rows before f32 sums are added to f64 sums.
const BLOCK: usize = 256;
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

impl Grid {
    /// Empties the grid, keeping its memory.
    pub fn clear(&mut self) {
        self.e.clear();
        self.score.clear();
        self.gain.clear();
        self.discount.clear();
        self.starts.clear();
        self.place.clear();
    }

    pub fn len(&self) -> usize {
        self.place.len()
    }

    /// Computes the sums of all pairs; returns the loss in nats when asked.
    pub fn run<P: Pair>(&mut self, wide: bool, sigma: f64, loss: bool) -> f64 {
        let n = self.len();
        // Padding that pulls at nothing: e = 0 and the lowest of scores and gains.
        let lowest = self.gain.iter().copied().fold(0.0, f32::min);
        self.e.resize(n + WIDEST, 0.0);
        self.score.resize(n + WIDEST, -1e38);
        self.gain.resize(n + WIDEST, lowest);
        self.discount.resize(n + WIDEST, 0.0);
        if P::NEAR {
            self.near.resize(n + WIDEST, 0.0);
        }
        self.sums.clear();
        self.sums.resize(n, 0.0);
        match (wide, loss) {
            (false, false) => self.sweep::<P, Narrow, false>(sigma),
            (false, true) => self.sweep::<P, Narrow, true>(sigma),
            (true, false) => self.sweep::<P, Wide, false>(sigma),
            (true, true) => self.sweep::<P, Wide, true>(sigma),
        }
    }

    fn sweep<P: Pair, F: Factor, const LOSS: bool>(&mut self, sigma: f64) -> f64 {
        let n = self.len();
        let mut columns = std::mem::take(&mut self.columns);
        let mut sums = std::mem::take(&mut self.sums);
        let pairs: usize = self.starts.iter().map(|&start| n - start as usize).sum();
        let blocks = self.starts.len().div_ceil(BLOCK);
        let wave = if pairs < SHARED || blocks == 1 { 1 } else { WAVE };
        let length = n + WIDEST;
        columns.clear();
        columns.resize(wave * length, 0.0);
        let mut loss = 0.0;
        for first in (0..blocks).step_by(wave) {
            let one = |(index, columns): (usize, &mut [f32])| {
                let rows = (first + index) * BLOCK;
                let rows = rows..(rows + BLOCK).min(self.starts.len());
                dispatch(Block::<P, F, LOSS> { grid: self, rows, columns, sigma: sigma as f32, kind: Default::default() })
            };
            let here = wave.min(blocks - first);
            let parts: Vec<BlockSums> = if wave == 1 {
                columns.chunks_mut(length).take(here).enumerate().map(one).collect()
            } else {
                columns.par_chunks_mut(length).take(here).enumerate().map(one).collect()
            };
            // Added up in the order of the blocks, so that the number of threads never shows.
            for (index, (part, columns)) in parts.iter().zip(columns.chunks_mut(length)).enumerate() {
                let rows = (first + index) * BLOCK;
                let from = self.starts[rows..].iter().take(BLOCK).min().map_or(n, |&start| start as usize);
                for (sum, column) in sums[from..].iter_mut().zip(&mut columns[from..]) {
                    *sum += f64::from(std::mem::take(column));
                }
                columns[n..].fill(0.0);
                sums[rows..].iter_mut().zip(&part.rows).for_each(|(sum, row)| *sum -= row);
                loss += part.loss;
            }
        }
        self.columns = columns;
        self.sums = sums;
        loss
    }
}
