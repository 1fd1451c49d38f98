//! Enumerates pairs in f64, for any weight: metrics without a form, custom weights, sampled rankings.

use super::super::loss::{Outputs, QueryResult, SATURATED};
use super::super::weight::PairWeights;
use super::grid::Sums;
use crate::stop::Stop;

/// Adds the sums over pairs of the top ranks with all documents below them, in the order of a ranking; `scaled` holds
/// clamped scores times sigma.
///
/// Sums are incomplete if `stop` is set.
pub(super) fn sum_pairs(
    scaled: &[f64],
    weights: &PairWeights<'_>,
    top: usize,
    sums: &mut Sums,
    outputs: Outputs,
    stop: &Stop,
) -> QueryResult {
    let mut result = QueryResult::default();
    for above in 0..scaled.len().min(top) {
        if stop.asked() {
            break;
        }
        for below in above + 1..scaled.len() {
            let (keep, swap) = (weights.get(above, below), weights.get(below, above));
            if keep == 0.0 && swap == 0.0 {
                continue;
            }
            let difference = scaled[above] - scaled[below];
            let small = (-difference.abs()).exp();
            let factor = small / (1.0 + small);
            // The fractions of `keep` and `swap` in the gradient: the sigmoids of -difference and of difference.
            let (kept, swapped) = if difference >= 0.0 { (factor, 1.0 - factor) } else { (1.0 - factor, factor) };
            let gradient = swap * swapped - keep * kept;
            sums.gradient[above] += gradient;
            sums.gradient[below] -= gradient;
            if !sums.hessian.is_empty() {
                let second = (keep + swap) * factor * (1.0 - factor);
                sums.hessian[above] += second;
                sums.hessian[below] += second;
            }
            if outputs.loss {
                let log = small.ln_1p();
                result.loss += keep * (log + (-difference).max(0.0)) + swap * (log + difference.max(0.0));
            }
            if outputs.pairs {
                result.pairs += u64::from(keep != 0.0) + u64::from(swap != 0.0);
                result.saturated += u64::from(keep != 0.0 && kept < SATURATED);
                result.saturated += u64::from(swap != 0.0 && swapped < SATURATED);
            }
        }
    }
    result
}
