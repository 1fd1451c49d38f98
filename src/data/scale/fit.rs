//! Centers and spreads of columns, in f64, block by block in parallel.

use rayon::prelude::*;
use std::ops::Range;

/// Rows a block holds: fixed, so that sums do not depend on the number of threads.
pub(super) const BLOCK: usize = 1024;

/// What center and spread stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Mean and standard deviation.
    Moments,
    /// Smallest value and its distance to the largest.
    Range,
}

/// sign(x) ln(1 + abs(x)).
pub(super) fn signed_log(x: f64) -> f64 {
    x.abs().ln_1p().copysign(x)
}

/// Blocks whose columns are in memory at once.
const TOGETHER: usize = 64;

/// Rows of features, in memory or in a file, of which any neighbours can be looked at.
pub(crate) trait Rows: Sync {
    /// How many.
    fn count(&self) -> usize;

    /// Calls `work` with some of them, row-major.
    fn with<O>(&self, rows: Range<usize>, work: impl FnOnce(&[f32]) -> O) -> O;

    /// Whether a look at them may have to wait for a disk, so that one look at many features is better than many at few.
    fn are_far(&self) -> bool {
        false
    }

    /// These rows will be looked at soon.
    fn will_need(&self, _rows: Range<usize>) {}
}

/// Rows in memory.
pub(super) struct Slice<'a> {
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

/// What is known of the columns of `rows`, measured in several ways in one pass; `beside` is called with the rows that were
/// just read, part by part.
pub(super) fn columns<const K: usize>(
    ways: [(Measure, bool); K],
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
        rows.with(range, |rows| ways.map(|(measure, takes_log)| columns_of(measure, takes_log, rows, width)))
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

/// Centers and spreads of the columns of `rows`.
pub(super) fn fit(measure: Measure, takes_log: bool, rows: &impl Rows, width: usize) -> (Vec<f64>, Vec<f64>) {
    let [columns] = columns([(measure, takes_log)], rows, width, |_| ());
    centers_and_spreads(measure, &columns)
}

/// What the columns say.
pub(super) fn centers_and_spreads(measure: Measure, columns: &[Column]) -> (Vec<f64>, Vec<f64>) {
    columns.iter().map(|column| column.center_and_spread(measure)).unzip()
}

/// What is known of the columns of one block.
pub(super) fn columns_of(measure: Measure, takes_log: bool, rows: &[f32], width: usize) -> Vec<Column> {
    let mut room = FitRoom::default();
    room.columns(measure, takes_log, rows, width);
    room.block
}

/// Centers and spreads of the columns of all blocks, which are added up in their order.
pub(super) fn joined(measure: Measure, width: usize, blocks: &[Vec<Column>]) -> (Vec<f64>, Vec<f64>) {
    let mut all = vec![Column::EMPTY; width];
    match blocks {
        [only] => all.clone_from(only),
        blocks => blocks.iter().for_each(|block| add(&mut all, block)),
    }
    centers_and_spreads(measure, &all)
}

/// Adds what is known of a block to what is known of those before it.
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
    pub(super) center: Vec<f64>,
    /// Of the last fit.
    pub(super) spread: Vec<f64>,
}

impl FitRoom {
    /// As [`fit`], by one thread: the same blocks, added in the same order.
    pub(super) fn fit(&mut self, measure: Measure, takes_log: bool, rows: &[f32], width: usize) {
        let one = rows.len() <= BLOCK * width;
        self.all.clear();
        if one {
            self.columns(measure, takes_log, rows, width);
        } else {
            self.all.resize(width, Column::EMPTY);
            for rows in rows.chunks(BLOCK * width) {
                self.columns(measure, takes_log, rows, width);
                add(&mut self.all, &self.block);
            }
        }
        self.center.clear();
        self.spread.clear();
        for column in if one { &self.block } else { &self.all } {
            let (center, spread) = column.center_and_spread(measure);
            self.center.push(center);
            self.spread.push(spread);
        }
    }

    /// The columns of one block, in two passes over it: the second one's distances from the mean cancel nothing.
    fn columns(&mut self, measure: Measure, takes_log: bool, rows: &[f32], width: usize) {
        let read = |&x: &f32| if takes_log { signed_log(f64::from(x)) } else { f64::from(x) };
        let FitRoom { values, block: columns, .. } = self;
        values.clear();
        values.extend(rows.iter().map(read));
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

/// What is known of one feature's finite values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    count: f64,
    min: f64,
    max: f64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

impl Column {
    /// How many numbers a column is.
    pub const NUMBERS: usize = 5;
    const EMPTY: Column = Column { count: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 };

    /// As the numbers that a file holds.
    pub fn numbers(&self) -> [f64; Self::NUMBERS] {
        [self.count, self.min, self.max, self.mean, self.squares]
    }

    /// From the numbers that a file holds.
    pub fn of([count, min, max, mean, squares]: [f64; Self::NUMBERS]) -> Self {
        Column { count, min, max, mean, squares }
    }

    /// Both together (Chan, Golub and LeVeque 1979).
    fn and(self, other: Column) -> Column {
        if other.count == 0.0 {
            return self;
        }
        let count = self.count + other.count;
        let step = other.mean - self.mean;
        Column {
            count,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            mean: self.mean + step * (other.count / count),
            squares: self.squares + other.squares + step * step * (self.count * other.count / count),
        }
    }

    fn center_and_spread(&self, measure: Measure) -> (f64, f64) {
        // By range and not by variance: the mean of equal values is a rounding error away from them.
        let varies = self.max > self.min;
        match measure {
            _ if !varies => (0.0, 0.0),
            Measure::Range => (self.min, self.max - self.min),
            Measure::Moments => (self.mean, (self.squares / self.count).sqrt()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_blocks_agree_with_one_long_sum() {
        let values: Vec<f32> = (0..5 * BLOCK + 7).map(|i| 1e4 + ((i * 7919) % 1009) as f32).collect();
        let n = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        let (center, spread) = fit(Measure::Moments, false, &Slice { values: &values, width: 1 }, 1);
        assert!((center[0] - mean).abs() < 1e-9 * mean);
        assert!((spread[0] - variance.sqrt()).abs() < 1e-9 * variance.sqrt());
    }

    #[test]
    fn one_huge_value_hides_nothing_elsewhere() {
        let mut values = vec![0.0; 4 * BLOCK];
        values[0] = 3e38;
        let (center, spread) = fit(Measure::Moments, false, &Slice { values: &values, width: 1 }, 1);
        let (x, share) = (f64::from(3e38_f32), 1.0 / (4 * BLOCK) as f64);
        assert!((center[0] / (x * share) - 1.0).abs() < 1e-12);
        assert!((spread[0] / (x * (share - share * share).sqrt()) - 1.0).abs() < 1e-12);
    }
}
