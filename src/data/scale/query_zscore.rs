//! `query-zscore`: `zscore` within each query.

use super::{ColumnStats, Measure, Step};

pub(super) fn fit(_: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::WithinQuery(Measure::Moments)]
}
