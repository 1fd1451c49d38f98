//! `quantile`: sqrt(3) (2 F - 1), where F is the fraction of training documents below x.
//!
//! A bounded piecewise linear map (see [`Lines`]): outliers do not affect other values.

use super::{ColumnStats, Lines, Step};

pub(super) fn fit(columns: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::Lines(Lines::of(columns.quantiles()))]
}
