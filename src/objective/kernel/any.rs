//! Pair by pair for any weight, in f64: measures without a closed form, weights of users, sampled rankings.

use super::ranked::Ranked;
use super::types::SATURATED;
use super::{Kernel, PairWeights, Pairs, QueryResult, Want};
use crate::stop::Stop;

impl Kernel {
    /// Adds `dC/d(sigma s)` in nats to `sums`, in rank order.
    pub(super) fn any(&self, ranked: &Ranked, sums: &mut [f64], want: Want) -> QueryResult {
        let top = self.top(ranked.len());
        let ranking = Ranking { scaled: &ranked.scaled, labels: &ranked.labels, pairs: self.weighting.pairs(), top };
        sum_pairs(&ranking, &self.weights(&ranked.labels), sums, want, &self.stop)
    }
}

/// The documents of a query in the order of some ranking, scores made safe and multiplied by sigma.
pub(super) struct Ranking<'a> {
    pub scaled: &'a [f64],
    pub labels: &'a [f32],
    pub pairs: Pairs,
    /// Pairs below this position are left out.
    pub top: usize,
}

/// Adds `dC/d(sigma s)` in nats to `gradient`, in the order of the ranking.
///
/// Whoever sets `stop` gets sums that are not whole.
pub(super) fn sum_pairs(
    ranking: &Ranking,
    weights: &PairWeights,
    gradient: &mut [f64],
    want: Want,
    stop: &Stop,
) -> QueryResult {
    let mut result = QueryResult::default();
    let n = ranking.scaled.len();
    for above in 0..n.min(ranking.top) {
        if stop.asked() {
            break;
        }
        let mut own = 0.0;
        for (below, slope) in gradient.iter_mut().enumerate().skip(above + 1) {
            let (label, other) = (ranking.labels[above], ranking.labels[below]);
            // A weight may be dear to compute: ask for it only where there is a pair.
            let both = ranking.pairs == Pairs::All;
            let keep = if both || label > other { weights.get(above, below) } else { 0.0 };
            let swap = if both || label < other { weights.get(below, above) } else { 0.0 };
            if keep == 0.0 && swap == 0.0 {
                continue;
            }
            let difference = ranking.scaled[above] - ranking.scaled[below];
            let small = (-difference.abs()).exp();
            let factor = small / (1.0 + small);
            // How much of `keep` and of `swap` pulls: the sigmoids of -difference and of difference.
            let (kept, swapped) = if difference >= 0.0 { (factor, 1.0 - factor) } else { (1.0 - factor, factor) };
            let pull = swap * swapped - keep * kept;
            own += pull;
            *slope -= pull;
            if want.loss {
                let log = small.ln_1p();
                result.loss += keep * (log + (-difference).max(0.0)) + swap * (log + difference.max(0.0));
            }
            if want.pairs {
                result.pairs += u64::from(keep != 0.0) + u64::from(swap != 0.0);
                result.saturated += u64::from(keep != 0.0 && kept < SATURATED);
                result.saturated += u64::from(swap != 0.0 && swapped < SATURATED);
            }
        }
        gradient[above] += own;
    }
    result
}
