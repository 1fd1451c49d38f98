//! `log1p-zscore`: `log1p`, then `zscore` of the logarithms.

use super::{ColumnStats, Statistic, Step};

pub(super) fn fit(columns: &dyn ColumnStats) -> Vec<Step> {
    let affine = columns.affine(Statistic::Moments, &[Step::SignedLog]);
    vec![Step::SignedLog, Step::Affine(affine)]
}
