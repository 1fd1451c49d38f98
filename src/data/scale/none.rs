//! `none`: features are not scaled.

use super::{ColumnStats, Step};

pub(super) fn fit(_: &dyn ColumnStats) -> Vec<Step> {
    vec![]
}
