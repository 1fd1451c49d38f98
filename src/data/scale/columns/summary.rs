//! Statistics of columns, as stored in a cache.

use super::blocks::{Rows, columns};
use super::{Column, Statistic, quantiles};
use crate::data::scale::lines::KNOTS;
use crate::data::scale::step::Step;
use std::ops::Range;

/// The statistics to which scalings are fitted, in a form that can be stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnSummary {
    /// Statistics of the raw features.
    plain: Vec<Column>,
    /// Statistics after [`Step::SignedLog`].
    logs: Vec<Column>,
    quantiles: Vec<f32>,
}

impl ColumnSummary {
    /// Bytes per feature in a file.
    pub const BYTES: usize = 2 * 8 * Column::NUMBERS + 4 * KNOTS;

    /// Computes the statistics of all rows. `after_read` is called with each range of rows that was read.
    pub fn of(rows: &impl Rows, width: usize, after_read: impl FnMut(Range<usize>)) -> Self {
        let statistics: [(Statistic, &[Step]); 2] =
            [(Statistic::Moments, &[]), (Statistic::Moments, &[Step::SignedLog])];
        let [plain, logs] = columns(statistics, rows, width, after_read);
        ColumnSummary { plain, logs, quantiles: quantiles::fit(rows, width) }
    }

    /// Returns statistics of the columns after these steps, if they are stored.
    pub(super) fn columns(&self, before: &[Step]) -> Option<&[Column]> {
        match before {
            [] => Some(&self.plain),
            [Step::SignedLog] => Some(&self.logs),
            _ => None,
        }
    }

    pub(super) fn quantiles(&self) -> &[f32] {
        &self.quantiles
    }

    /// Returns the number of documents in which each feature is missing.
    pub fn missing_counts(&self, documents: usize) -> Vec<usize> {
        self.plain.iter().map(|column| documents.saturating_sub(column.count as usize)).collect()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let columns = self.plain.iter().chain(&self.logs);
        let numbers = columns.flat_map(Column::numbers).flat_map(f64::to_le_bytes);
        numbers.chain(self.quantiles.iter().flat_map(|value| value.to_le_bytes())).collect()
    }

    /// Parses the bytes of `width` features. Returns `None` if they are invalid.
    pub fn from_bytes(bytes: &[u8], width: usize) -> Option<Self> {
        const ONE: usize = 8 * Column::NUMBERS;
        let (columns, quantiles) = bytes.split_at_checked(2 * ONE * width)?;
        let number = |bytes: &[u8], index: usize| {
            bytes[8 * index..].first_chunk().map_or(0.0, |number| f64::from_le_bytes(*number))
        };
        let column = |bytes: &[u8]| Column::of(std::array::from_fn(|index| number(bytes, index)));
        let (plain, logs) = columns.split_at(ONE * width);
        let quantiles: Vec<f32> = quantiles.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
        let ascending = |values: &[f32]| values.is_sorted() && values.iter().all(|value| value.is_finite());
        let valid = quantiles.len() == width * KNOTS && quantiles.chunks(KNOTS).all(ascending);
        valid.then(|| ColumnSummary {
            plain: plain.chunks(ONE).map(column).collect(),
            logs: logs.chunks(ONE).map(column).collect(),
            quantiles,
        })
    }
}
