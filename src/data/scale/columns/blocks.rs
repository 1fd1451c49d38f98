//! Statistics of columns in f64, computed in parallel blocks of rows.

use super::{Column, Statistic};
use crate::data::scale::step::{Affine, Step};
use rayon::prelude::*;
use std::ops::Range;

/// Number of rows per block; fixed, so that sums do not depend on the number of threads.
pub(in crate::data::scale) const BLOCK: usize = 1024;

/// Number of blocks whose statistics are in memory at a time.
const GROUP: usize = 64;

/// Rows of features, in memory or in a file, with random access.
pub(crate) trait Rows: Sync {
    /// Returns the number of rows.
    fn count(&self) -> usize;

    /// Calls `work` with a range of rows, row-major.
    fn with<O>(&self, rows: Range<usize>, work: impl FnOnce(&[f32]) -> O) -> O;

    /// Whether rows may have to be read from disk, so that few passes over many features are faster than many over few.
    fn are_mapped(&self) -> bool {
        false
    }

    /// Advises that these rows will be read soon.
    fn will_need(&self, _rows: Range<usize>) {}
}

/// Rows in memory.
pub(in crate::data::scale) struct Slice<'a> {
    pub values: &'a [f32],
    pub width: usize,
}

impl Rows for Slice<'_> {
    fn count(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    fn with<O>(&self, rows: Range<usize>, work: impl FnOnce(&[f32]) -> O) -> O {
        work(&self.values[rows.start * self.width..rows.end * self.width])
    }
}

/// Computes several statistics of the columns of `rows`, each after some steps, in one pass. `after_read` is called with each
/// range of rows that was read.
pub(in crate::data::scale) fn columns<const K: usize>(
    statistics: [(Statistic, &[Step]); K],
    rows: &impl Rows,
    width: usize,
    mut after_read: impl FnMut(Range<usize>),
) -> [Vec<Column>; K] {
    let count = rows.count();
    if width == 0 {
        after_read(0..count);
        return statistics.map(|_| Vec::new());
    }
    let block = |range: Range<usize>| {
        rows.with(range, |rows| statistics.map(|(statistic, before)| columns_of(statistic, before, rows, width)))
    };
    if count <= BLOCK {
        let columns = block(0..count);
        after_read(0..count);
        return columns;
    }
    let mut all = statistics.map(|_| vec![Column::EMPTY; width]);
    for first in (0..count).step_by(GROUP * BLOCK) {
        let end = count.min(first + GROUP * BLOCK);
        rows.will_need(end..count.min(end + GROUP * BLOCK));
        let starts = (first..end).into_par_iter().step_by(BLOCK);
        let blocks: Vec<[Vec<Column>; K]> = starts.map(|start| block(start..end.min(start + BLOCK))).collect();
        for block in &blocks {
            all.iter_mut().zip(block).for_each(|(all, block)| add(all, block));
        }
        after_read(first..end);
    }
    all
}

/// Computes statistics of the columns of one block.
pub(super) fn columns_of(statistic: Statistic, before: &[Step], rows: &[f32], width: usize) -> Vec<Column> {
    let mut buffers = FitBuffers::default();
    buffers.columns(statistic, before, rows, width);
    buffers.block
}

/// Combines the statistics of all blocks, in order.
pub(super) fn combined(width: usize, blocks: &[Vec<Column>]) -> Vec<Column> {
    let mut all = vec![Column::EMPTY; width];
    match blocks {
        [only] => all.clone_from(only),
        blocks => blocks.iter().for_each(|block| add(&mut all, block)),
    }
    all
}

/// Adds the statistics of a block to those of the blocks before it.
fn add(all: &mut [Column], block: &[Column]) {
    all.iter_mut().zip(block).for_each(|(total, part)| *total = total.and(*part));
}

/// Buffers for fits within queries, to be reused without allocating.
#[derive(Debug, Clone, Default)]
pub(crate) struct FitBuffers {
    values: Vec<f64>,
    block: Vec<Column>,
    all: Vec<Column>,
    /// Result of the last fit.
    pub(in crate::data::scale) affine: Affine,
    /// Features of one document.
    pub(in crate::data::scale) row: Vec<f64>,
}

impl FitBuffers {
    /// Fits [`FitBuffers::affine`] in one thread, with the same blocks as [`columns`] in the same order.
    pub(in crate::data::scale) fn fit(&mut self, statistic: Statistic, before: &[Step], rows: &[f32], width: usize) {
        let one = rows.len() <= BLOCK * width;
        self.all.clear();
        if one {
            self.columns(statistic, before, rows, width);
        } else {
            self.all.resize(width, Column::EMPTY);
            for rows in rows.chunks(BLOCK * width) {
                self.columns(statistic, before, rows, width);
                add(&mut self.all, &self.block);
            }
        }
        self.affine.set(statistic, if one { &self.block } else { &self.all });
    }

    /// Computes the columns of one block in two passes, which avoids cancellation in the variance.
    fn columns(&mut self, statistic: Statistic, before: &[Step], rows: &[f32], width: usize) {
        let FitBuffers { values, block: columns, .. } = self;
        values.clear();
        values.extend(rows.iter().map(|&x| f64::from(x)));
        for step in before {
            values.chunks_exact_mut(width).for_each(|row| step.apply(row, &Affine::default()));
        }
        columns.clear();
        columns.resize(width, Column::EMPTY);
        for row in values.chunks_exact(width) {
            for (column, &x) in columns.iter_mut().zip(row).filter(|(_, x)| x.is_finite()) {
                column.count += 1.0;
                column.min = column.min.min(x);
                column.max = column.max.max(x);
                column.mean += x;
            }
        }
        columns.iter_mut().for_each(|column| column.mean /= column.count.max(1.0));
        if statistic == Statistic::Moments {
            for row in values.chunks_exact(width) {
                for (column, &x) in columns.iter_mut().zip(row).filter(|(_, x)| x.is_finite()) {
                    column.squares += (x - column.mean) * (x - column.mean);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of one feature.
    fn moments(values: &[f32]) -> (f64, f64) {
        let [columns] = columns([(Statistic::Moments, &[])], &Slice { values, width: 1 }, 1, |_| ());
        columns[0].center_and_spread(Statistic::Moments)
    }

    #[test]
    fn many_blocks_agree_with_a_single_sum() {
        let values: Vec<f32> = (0..5 * BLOCK + 7).map(|i| 1e4 + ((i * 7919) % 1009) as f32).collect();
        let n = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        let (center, spread) = moments(&values);
        assert!((center - mean).abs() < 1e-9 * mean);
        assert!((spread - variance.sqrt()).abs() < 1e-9 * variance.sqrt());
    }

    #[test]
    fn moments_are_exact_with_one_huge_value() {
        let mut values = vec![0.0; 4 * BLOCK];
        values[0] = 3e38;
        let (center, spread) = moments(&values);
        let (x, share) = (f64::from(3e38_f32), 1.0 / (4 * BLOCK) as f64);
        assert!((center / (x * share) - 1.0).abs() < 1e-12);
        assert!((spread / (x * (share - share * share).sqrt()) - 1.0).abs() < 1e-12);
    }
}
