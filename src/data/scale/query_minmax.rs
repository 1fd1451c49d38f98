//! `query-minmax`: `minmax` within each query, as LETOR's `QueryLevelNorm`.

use super::{ColumnStats, Statistic, Step};

pub(super) fn fit(_: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::WithinQuery(Statistic::Range)]
}
