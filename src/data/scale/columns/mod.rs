//! Statistics of a training split's columns, which every scaling is fitted from: of documents in memory, of a cache that has
//! them, and of documents that several processes hold.

mod blocks;
mod distributed;
pub(super) mod quantiles;
mod summary;

pub(super) use blocks::{BLOCK, Slice, columns};
pub(crate) use blocks::{FitRoom, Rows};
pub(super) use distributed::DistributedColumns;
pub(crate) use summary::ColumnSummary;

use super::step::{Affine, Step};
use crate::data::dataset::Dataset;

/// Statistics of columns; features that are not finite are left out.
pub(crate) trait ColumnStats {
    /// Statistics of each column behind some steps.
    fn columns(&self, measure: Measure, before: &[Step]) -> Vec<Column>;

    /// Ascending quantiles of each feature, one feature after the other, as [`Lines`](super::Lines) takes them.
    fn quantiles(&self) -> Vec<f32>;

    /// Center and spread of each column behind some steps.
    fn affine(&self, measure: Measure, before: &[Step]) -> Affine {
        Affine::of(measure, &self.columns(measure, before))
    }
}

/// What center and spread stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Measure {
    /// Mean and standard deviation, which divides by the number of documents.
    #[default]
    Moments,
    /// Minimum and its distance to the maximum.
    Range,
}

/// No column at all.
pub(super) struct NoColumns;

impl ColumnStats for NoColumns {
    fn columns(&self, _: Measure, _: &[Step]) -> Vec<Column> {
        Vec::new()
    }

    fn quantiles(&self) -> Vec<f32> {
        Vec::new()
    }
}

/// Documents in memory or in a cache; what a cache has stored is not computed again.
impl ColumnStats for Dataset {
    fn columns(&self, measure: Measure, before: &[Step]) -> Vec<Column> {
        match self.column_summary().and_then(|summary| summary.columns(before)) {
            Some(columns) => columns.to_vec(),
            None => {
                let [columns] = columns([(measure, before)], self, self.n_features(), |_| ());
                columns
            }
        }
    }

    fn quantiles(&self) -> Vec<f32> {
        match self.column_summary() {
            Some(summary) => summary.quantiles().to_vec(),
            None => quantiles::fit(self, self.n_features()),
        }
    }
}

/// Statistics of one feature's finite values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    count: f64,
    min: f64,
    max: f64,
    mean: f64,
    /// Sum of squared distances from the mean; 0 where only the range was measured.
    squares: f64,
}

impl Column {
    /// How many numbers a column is.
    const NUMBERS: usize = 5;
    const EMPTY: Column = Column { count: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 };

    fn numbers(&self) -> [f64; Self::NUMBERS] {
        [self.count, self.min, self.max, self.mean, self.squares]
    }

    fn of([count, min, max, mean, squares]: [f64; Self::NUMBERS]) -> Self {
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

    pub(super) fn center_and_spread(&self, measure: Measure) -> (f64, f64) {
        // By range and not by variance: the mean of equal values is a rounding error away from them.
        let varies = self.max > self.min;
        match measure {
            _ if !varies => (0.0, 0.0),
            Measure::Range => (self.min, self.max - self.min),
            Measure::Moments => (self.mean, (self.squares / self.count).sqrt()),
        }
    }
}
