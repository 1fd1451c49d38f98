//! Pair by pair in f32 lanes, for weights with a formula.

use super::grid::{Grid, Sweep};
use super::lanes::{Pair, Sides};
use super::levels::Levels;
use super::ranked::Ranked;
use super::simd::Simd;
use super::weights::nearness;
use super::{Kernel, Want, Weighting};
use crate::metric::discounts;

/// The memory of the direct kernels.
#[derive(Debug, Default)]
pub(super) struct Direct {
    pub grid: Grid,
    pub levels: Levels,
    weights: Vec<f32>,
    discounts: Vec<f32>,
}

impl Kernel {
    /// Adds `dC/d(sigma s)` in nats to `sums`, in rank order; returns the loss in nats when asked.
    ///
    /// For weights with a formula; `false` from [`Kernel::has_formula`] says that this one has none.
    pub(super) fn direct(&self, ranked: &Ranked, memory: &mut Direct, sums: &mut [f64], want: Want) -> f64 {
        let n = ranked.len();
        let sweep = Sweep { wide: ranked.wide, sigma: self.sigma, loss: want.loss };
        let top = self.truncation.unwrap_or(n).min(n);
        let by_label = top == n;
        let loss = match self.weighting {
            Weighting::RankNet { ties: false } if by_label => {
                memory.by_label(ranked, 0.0, 0.0);
                memory.grid.run::<Preferred>(sweep)
            }
            Weighting::Arp2 if by_label => {
                memory.by_label(ranked, 0.0, 0.0);
                memory.grid.run::<PreferredGap>(sweep)
            }
            _ => 0.0,
        };
        memory.grid.scatter(sums);
        loss
    }
}
