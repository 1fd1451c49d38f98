//! `log1p-zscore`: `log1p`, then `zscore` of the logarithms.

use super::{ColumnStats, Measure, Step};

pub(super) fn fit(columns: &dyn ColumnStats) -> Vec<Step> {
    let affine = columns.affine(Measure::Moments, &[Step::SignedLog]);
    vec![Step::SignedLog, Step::Affine(affine)]
}
