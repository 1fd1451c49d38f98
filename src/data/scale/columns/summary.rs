//! Statistics of columns as a cache holds them.

use super::blocks::{Rows, columns};
use super::{Column, Measure, quantiles};
use crate::data::scale::lines::KNOTS;
use crate::data::scale::step::Step;
use std::ops::Range;

/// Statistics that the scalings of a data set need, as a file can hold them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnSummary {
    /// Of the features as they are.
    plain: Vec<Column>,
    /// Behind [`Step::SignedLog`].
    logs: Vec<Column>,
    quantiles: Vec<f32>,
}

impl ColumnSummary {
    /// Bytes of a feature in a file.
    pub const BYTES: usize = 2 * 8 * Column::NUMBERS + 4 * KNOTS;

    /// Reads all documents; `beside` is called with the rows that were just read, part by part.
    pub fn of(rows: &impl Rows, width: usize, beside: impl FnMut(Range<usize>)) -> Self {
        let ways: [(Measure, &[Step]); 2] = [(Measure::Moments, &[]), (Measure::Moments, &[Step::SignedLog])];
        let [plain, logs] = columns(ways, rows, width, beside);
        ColumnSummary { plain, logs, quantiles: quantiles::fit(rows, width) }
    }

    /// Statistics of the columns behind these steps, if they are stored.
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

    pub fn to_bytes(&self) -> Vec<u8> {
        let columns = self.plain.iter().chain(&self.logs);
        let numbers = columns.flat_map(Column::numbers).flat_map(f64::to_le_bytes);
        numbers.chain(self.quantiles.iter().flat_map(|value| value.to_le_bytes())).collect()
    }

    /// Nothing where these are not the bytes of so many features, or quantiles do not ascend.
    pub fn from_bytes(bytes: &[u8], width: usize) -> Option<Self> {
        const ONE: usize = 8 * Column::NUMBERS;
        let (columns, quantiles) = bytes.split_at_checked(2 * ONE * width)?;
        let number = |bytes: &[u8], place: usize| {
            bytes[8 * place..].first_chunk().map_or(0.0, |number| f64::from_le_bytes(*number))
        };
        let column = |bytes: &[u8]| Column::of(std::array::from_fn(|place| number(bytes, place)));
        let (plain, logs) = columns.split_at(ONE * width);
        let quantiles: Vec<f32> = quantiles.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
        let ascend = |values: &[f32]| values.is_sorted() && values.iter().all(|value| value.is_finite());
        let whole = quantiles.len() == width * KNOTS && quantiles.chunks(KNOTS).all(ascend);
        whole.then(|| ColumnSummary {
            plain: plain.chunks(ONE).map(column).collect(),
            logs: logs.chunks(ONE).map(column).collect(),
            quantiles,
        })
    }
}
