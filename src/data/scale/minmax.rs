//! `minmax`: (x - min) / (max - min), both of the training split. A constant feature becomes 0.

use super::{ColumnStats, Statistic, Step};

pub(super) fn fit(columns: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::Affine(columns.affine(Statistic::Range, &[]))]
}
