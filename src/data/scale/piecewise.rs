//! `piecewise`: the position of x between knots at quantiles of the training values; nets receive one input per bin.
//!
//! A position is monotonic in x and bounded, so outliers do not affect other values. See [`Pieces`] for the knots and the
//! inputs of nets.

use super::{ColumnStats, Pieces, Step};

pub(super) fn fit(columns: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::Pieces(Pieces::fit(columns))]
}
