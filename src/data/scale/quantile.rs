//! `quantile`: sqrt(3) (2 F - 1), F being the share of training documents below x.
//!
//! A line through points of a table, flat outside (see [`Lines`]): outliers, however large, change nothing but their own values.

use super::{ColumnStats, Lines, Step};

pub(super) fn fit(columns: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::Lines(Lines::of(columns.quantiles()))]
}
