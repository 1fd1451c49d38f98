//! Statistics of columns, in f64, block by block in parallel.

use super::{Column, Measure};
use crate::data::scale::step::{Affine, Step};
use rayon::prelude::*;
use std::ops::Range;

/// Rows a block holds: fixed, so that sums do not depend on the number of threads.
pub(in crate::data::scale) const BLOCK: usize = 1024;

/// Blocks whose columns are in memory at once.
const TOGETHER: usize = 64;

/// Rows of features, in memory or in a file, of which any neighbours can be looked at.
pub(crate) trait Rows: Sync {
    /// How many.
    fn count(&self) -> usize;

    /// Calls `work` with some of them, row-major.
    fn with<O>(&self, rows: Range<usize>, work: impl FnOnce(&[f32]) -> O) -> O;

    /// Whether a look at them may have to wait for a disk, so that one look at many features is better than many at few.
    fn are_mapped(&self) -> bool {
        false
    }

    /// These rows will be looked at soon.
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

/// Statistics of the columns of `rows`, measured in several ways, each behind some steps, in one pass; `beside` is called with
/// the rows that were just read, part by part.
pub(in crate::data::scale) fn columns<const K: usize>(
    ways: [(Measure, &[Step]); K],
    rows: &impl Rows,
    width: usize,
    mut beside: impl FnMut(Range<usize>),
) -> [Vec<Column>; K] {
    let count = rows.count();
    if width == 0 {
        beside(0..count);
        return ways.map(|_| Vec::new());
    }
    let block = |range: Range<usize>| {
        rows.with(range, |rows| ways.map(|(measure, before)| columns_of(measure, before, rows, width)))
    };
    if count <= BLOCK {
        let found = block(0..count);
        beside(0..count);
        return found;
    }
    let mut all = ways.map(|_| vec![Column::EMPTY; width]);
    for first in (0..count).step_by(TOGETHER * BLOCK) {
        let end = count.min(first + TOGETHER * BLOCK);
        rows.will_need(end..count.min(end + TOGETHER * BLOCK));
        let starts = (first..end).into_par_iter().step_by(BLOCK);
        let blocks: Vec<[Vec<Column>; K]> = starts.map(|start| block(start..end.min(start + BLOCK))).collect();
        for block in &blocks {
            all.iter_mut().zip(block).for_each(|(all, block)| add(all, block));
        }
        beside(first..end);
    }
    all
}

/// Statistics of the columns of one block.
pub(super) fn columns_of(measure: Measure, before: &[Step], rows: &[f32], width: usize) -> Vec<Column> {
    let mut room = FitRoom::default();
    room.columns(measure, before, rows, width);
    room.block
}

/// Statistics of the columns of all blocks, which are added up in their order.
pub(super) fn joined(width: usize, blocks: &[Vec<Column>]) -> Vec<Column> {
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

/// Room for fits, which take no memory of their own once it is large enough.
#[derive(Debug, Clone, Default)]
pub(crate) struct FitRoom {
    values: Vec<f64>,
    block: Vec<Column>,
    all: Vec<Column>,
    /// Of the last fit.
    pub(in crate::data::scale) affine: Affine,
    /// One document.
    pub(in crate::data::scale) row: Vec<f64>,
}

impl FitRoom {
    /// Fits [`FitRoom::affine`] by one thread: the same blocks as those of [`columns`], added in the same order.
    pub(in crate::data::scale) fn fit(&mut self, measure: Measure, before: &[Step], rows: &[f32], width: usize) {
        let one = rows.len() <= BLOCK * width;
        self.all.clear();
        if one {
            self.columns(measure, before, rows, width);
        } else {
            self.all.resize(width, Column::EMPTY);
            for rows in rows.chunks(BLOCK * width) {
                self.columns(measure, before, rows, width);
                add(&mut self.all, &self.block);
            }
        }
        self.affine.set(measure, if one { &self.block } else { &self.all });
    }

    /// The columns of one block, in two passes over it: the second one's distances from the mean cancel nothing.
    fn columns(&mut self, measure: Measure, before: &[Step], rows: &[f32], width: usize) {
        let FitRoom { values, block: columns, .. } = self;
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
        if measure == Measure::Moments {
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
        let [columns] = columns([(Measure::Moments, &[])], &Slice { values, width: 1 }, 1, |_| ());
        columns[0].center_and_spread(Measure::Moments)
    }

    #[test]
    fn many_blocks_agree_with_one_long_sum() {
        let values: Vec<f32> = (0..5 * BLOCK + 7).map(|i| 1e4 + ((i * 7919) % 1009) as f32).collect();
        let n = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        let (center, spread) = moments(&values);
        assert!((center - mean).abs() < 1e-9 * mean);
        assert!((spread - variance.sqrt()).abs() < 1e-9 * variance.sqrt());
    }

    #[test]
    fn one_huge_value_hides_nothing_elsewhere() {
        let mut values = vec![0.0; 4 * BLOCK];
        values[0] = 3e38;
        let (center, spread) = moments(&values);
        let (x, share) = (f64::from(3e38_f32), 1.0 / (4 * BLOCK) as f64);
        assert!((center / (x * share) - 1.0).abs() < 1e-12);
        assert!((spread / (x * (share - share * share).sqrt()) - 1.0).abs() < 1e-12);
    }
}
