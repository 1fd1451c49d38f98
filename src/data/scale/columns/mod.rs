//! Statistics of the columns of a training split, to which scalings are fitted: computed from documents in memory, read from a
//! cache, or computed from the documents of several processes.

mod blocks;
mod distributed;
pub(super) mod quantiles;
mod summary;

pub(super) use blocks::{BLOCK, Slice, columns};
pub(crate) use blocks::{FitBuffers, Rows};
pub(super) use distributed::DistributedColumns;
pub(super) use quantiles::{ColumnFit, SampledColumn};
pub(crate) use summary::ColumnSummary;

use super::pieces::DEFAULT_BINS;
use super::step::{Affine, Step};
use crate::data::dataset::Dataset;

/// Statistics of columns, ignoring values that are not finite.
pub(crate) trait ColumnStats {
    /// Returns statistics of each column after some steps.
    fn columns(&self, statistic: Statistic, before: &[Step]) -> Vec<Column>;

    /// Returns the ascending quantiles of each feature for [`Lines`](super::Lines), feature by feature.
    fn quantiles(&self) -> Vec<f32>;

    /// Fits each feature to a sample of its values.
    fn sampled(&self, fit: &ColumnFit<'_>) -> Vec<Vec<f32>>;

    /// Maximum number of bins per feature for [`Pieces`](super::Pieces).
    fn bins(&self) -> usize {
        DEFAULT_BINS
    }

    /// Returns center and spread of each column after some steps.
    fn affine(&self, statistic: Statistic, before: &[Step]) -> Affine {
        Affine::of(statistic, &self.columns(statistic, before))
    }
}

/// The statistic used for center and spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Statistic {
    /// Mean and population standard deviation.
    #[default]
    Moments,
    /// Minimum and range (maximum - minimum).
    Range,
}

/// Statistics of data without columns.
pub(super) struct NoColumns;

impl ColumnStats for NoColumns {
    fn columns(&self, _: Statistic, _: &[Step]) -> Vec<Column> {
        Vec::new()
    }

    fn quantiles(&self) -> Vec<f32> {
        Vec::new()
    }

    fn sampled(&self, _: &ColumnFit<'_>) -> Vec<Vec<f32>> {
        Vec::new()
    }
}

/// Statistics with another number of bins.
pub(super) struct Binned<'a> {
    pub columns: &'a dyn ColumnStats,
    pub bins: usize,
}

impl ColumnStats for Binned<'_> {
    fn columns(&self, statistic: Statistic, before: &[Step]) -> Vec<Column> {
        self.columns.columns(statistic, before)
    }

    fn quantiles(&self) -> Vec<f32> {
        self.columns.quantiles()
    }

    fn sampled(&self, fit: &ColumnFit<'_>) -> Vec<Vec<f32>> {
        self.columns.sampled(fit)
    }

    fn bins(&self) -> usize {
        self.bins
    }
}

/// Uses the statistics stored in a cache if possible.
impl ColumnStats for Dataset {
    fn columns(&self, statistic: Statistic, before: &[Step]) -> Vec<Column> {
        match self.column_summary().and_then(|summary| summary.columns(before)) {
            Some(columns) => columns.to_vec(),
            None => {
                let [columns] = columns([(statistic, before)], self, self.n_features(), |_| ());
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

    fn sampled(&self, fit: &ColumnFit<'_>) -> Vec<Vec<f32>> {
        quantiles::fit_each(self, self.n_features(), fit)
    }
}

/// Statistics of the finite values of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    count: f64,
    min: f64,
    max: f64,
    mean: f64,
    /// Sum of squared deviations from the mean; 0 if only the range was computed.
    squares: f64,
}

impl Column {
    /// Number of fields.
    const NUMBERS: usize = 5;
    const EMPTY: Column = Column { count: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 };

    fn numbers(&self) -> [f64; Self::NUMBERS] {
        [self.count, self.min, self.max, self.mean, self.squares]
    }

    fn of([count, min, max, mean, squares]: [f64; Self::NUMBERS]) -> Self {
        Column { count, min, max, mean, squares }
    }

    /// Combines the statistics of two sets of values (Chan, Golub and LeVeque 1979).
    fn and(self, other: Column) -> Column {
        if other.count == 0.0 {
            return self;
        }
        let count = self.count + other.count;
        let delta = other.mean - self.mean;
        Column {
            count,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            mean: self.mean + delta * (other.count / count),
            squares: self.squares + other.squares + delta * delta * (self.count * other.count / count),
        }
    }

    pub(super) fn center_and_spread(&self, statistic: Statistic) -> (f64, f64) {
        // Compares the range and not the variance, which rounding errors of the mean make positive for equal values.
        let varies = self.max > self.min;
        match statistic {
            _ if !varies => (0.0, 0.0),
            Statistic::Range => (self.min, self.max - self.min),
            Statistic::Moments => (self.mean, (self.squares / self.count).sqrt()),
        }
    }
}
