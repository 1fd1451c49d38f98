//! `zscore`: (x - mean) / standard deviation, both of the training split.
//!
//! The standard deviation divides by the number of documents. A constant feature becomes 0.

use super::{ColumnStats, Statistic, Step};

pub(super) fn fit(columns: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::Affine(columns.affine(Statistic::Moments, &[]))]
}
