//! Pair by pair for any weight, in f64: measures without a form, weights of users, sampled rankings.

use super::super::loss::{Outputs, QueryResult, SATURATED};
use super::super::weight::PairWeights;
use super::grid::Sums;
use crate::stop::Stop;

/// Adds the sums over pairs of the top ranks with all below them, in the order of a ranking; `scaled` are safe scores times
/// sigma.
///
/// Whoever sets `stop` gets sums that are not whole.
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
            // How much of `keep` and of `swap` pulls: the sigmoids of -difference and of difference.
            let (kept, swapped) = if difference >= 0.0 { (factor, 1.0 - factor) } else { (1.0 - factor, factor) };
            let pull = swap * swapped - keep * kept;
            sums.slopes[above] += pull;
            sums.slopes[below] -= pull;
            if !sums.curves.is_empty() {
                let curve = (keep + swap) * factor * (1.0 - factor);
                sums.curves[above] += curve;
                sums.curves[below] += curve;
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
