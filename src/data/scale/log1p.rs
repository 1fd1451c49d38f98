//! `log1p`: sign(x) ln(1 + abs(x)).

use super::{ColumnStats, Step};

pub(super) fn fit(_: &dyn ColumnStats) -> Vec<Step> {
    vec![Step::SignedLog]
}
