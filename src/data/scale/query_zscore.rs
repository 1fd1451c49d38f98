//! `query-zscore`: `zscore` within each query.

use super::{ColumnStats, Statistic, Step};

pub(super) fn fit(_: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::WithinQuery(Statistic::Moments)]
}
