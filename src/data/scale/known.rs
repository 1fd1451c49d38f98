//! What all scalings of a data set follow from.

use super::fit::{Column, Measure, Rows, columns};
use super::quantile::{self, KNOTS};

/// What all scalings of a data set follow from, as a file can hold it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KnownColumns {
    /// Of the features as they are.
    plain: Vec<Column>,
    /// Of their logarithms, as `log1p` takes them.
    logs: Vec<Column>,
    /// The quantiles of each feature, one feature after the other.
    pub knots: Vec<f32>,
}

impl KnownColumns {
    /// Quantiles of each feature.
    pub const KNOTS: usize = KNOTS;

    /// Joins what was found before, unless it is not of so many features, or the quantiles do not ascend.
    pub fn new(width: usize, plain: Vec<Column>, logs: Vec<Column>, knots: Vec<f32>) -> Option<Self> {
        let ascend = |knots: &[f32]| knots.is_sorted() && knots.iter().all(|knot| knot.is_finite());
        let whole = plain.len() == width && logs.len() == width && knots.len() == width * KNOTS;
        (whole && knots.chunks(KNOTS).all(ascend)).then_some(KnownColumns { plain, logs, knots })
    }

    /// From the documents themselves; `beside` is called with the rows that were just read, part by part.
    pub fn find(rows: &impl Rows, width: usize, beside: impl FnMut(std::ops::Range<usize>)) -> Self {
        let [plain, logs] = columns([(Measure::Moments, false), (Measure::Moments, true)], rows, width, beside);
        KnownColumns { plain, logs, knots: quantile::fit(rows, width) }
    }

    /// The columns, or those of the logarithms.
    pub fn of(&self, takes_log: bool) -> &[Column] {
        if takes_log { &self.logs } else { &self.plain }
    }
}
