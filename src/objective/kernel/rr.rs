//! LambdaRank for the reciprocal rank: only pairs that move the top relevant document.

use super::Kernel;
use super::direct::WantedByGap;
use super::grid::{Grid, Sweep};
use super::ranked::Ranked;
use super::weights::RrSwaps;
use crate::numeric::exp::exponential;

impl Kernel {
    /// Adds `dC/d(sigma s)` in nats to `sums`, in rank order; returns the loss in nats when asked.
    pub(super) fn direct_rr(
        &self,
        ranked: &Ranked,
        swaps: &RrSwaps,
        grid: &mut Grid,
        sums: &mut [f64],
        loss: bool,
    ) -> f64 {
        let sweep = Sweep { wide: ranked.wide, sigma: self.sigma, loss, stop: &self.stop };
        let n = ranked.len();
        let (top, first) = (self.top(n), swaps.first);
        if first == n {
            return 0.0;
        }
        let total = self.top_relevant(ranked, swaps, sums, loss);
        // Every relevant document, wanted above those that are above all of them.
        grid.clear();
        for place in (first..n).filter(|&place| swaps.relevant[place]) {
            grid.gain.push(-swaps.value(first) as f32);
            grid.push(ranked, place);
        }
        let rows = grid.gain.len();
        grid.starts.resize(rows, rows as u32);
        for place in 0..first.min(top) {
            grid.gain.push(-swaps.value(place) as f32);
            grid.push(ranked, place);
        }
        let others = grid.run::<WantedByGap>(sweep);
        grid.scatter(sums);
        total + others
    }

    /// The same for the pairs of the top relevant document with those below it, which it should stay above: O(n).
    pub(super) fn top_relevant(&self, ranked: &Ranked, swaps: &RrSwaps, sums: &mut [f64], loss: bool) -> f64 {
        let first = swaps.first;
        let mut total = 0.0;
        if first >= self.top(ranked.len()) {
            return total;
        }
        for place in (first + 1..ranked.len()).filter(|&place| !swaps.relevant[place]) {
            // Falling behind the second relevant document is no worse than falling to its place.
            let weight = swaps.value(first) - swaps.value(place.min(swaps.second));
            let small = exponential(ranked.scaled[place] - ranked.scaled[first]);
            let pull = weight * small / (1.0 + small);
            sums[first] -= pull;
            sums[place] += pull;
            if loss {
                total += weight * small.ln_1p();
            }
        }
        total
    }
}
