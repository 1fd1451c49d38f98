//! Pair by pair in f32 lanes, for weights with a formula.

use super::grid::{Grid, Sweep};
use super::lanes::{Pair, Sides};
use super::ranked::Ranked;
use super::weights::{ApSwaps, RrSwaps, nearness};
use super::{Kernel, Weighting};
use crate::simd::Simd;

/// The memory of the direct kernels.
#[derive(Debug, Default)]
pub(super) struct Direct {
    grid: Grid,
    ap: ApSwaps,
    rr: RrSwaps,
    by_rank: Vec<f32>,
}

impl Kernel {
    /// Adds `dC/d(sigma s)` in nats to `sums`, in rank order; returns the loss in nats when asked.
    pub(super) fn direct(&self, ranked: &Ranked, memory: &mut Direct, sums: &mut [f64], loss: bool) -> f64 {
        let sweep = Sweep { wide: ranked.wide, sigma: self.sigma, loss, stop: &self.stop };
        let n = ranked.len();
        let top = self.top(n);
        let Direct { grid, ap, rr, by_rank } = memory;
        grid.clear();
        let loss = match self.weighting {
            Weighting::SwapAp { k, threshold } => {
                ap.fill(&ranked.labels, k, threshold);
                return self.direct_ap(ranked, ap, grid, sums, loss);
            }
            Weighting::SwapRr { k, threshold } => {
                rr.fill(&ranked.labels, k, threshold);
                return self.direct_rr(ranked, rr, grid, sums, loss);
            }
            Weighting::RankNet { ties: false } if top == n => {
                self.by_label(ranked, grid, by_rank);
                grid.run::<Wanted>(sweep)
            }
            Weighting::Arp2 if top == n => {
                self.by_label(ranked, grid, by_rank);
                grid.run::<WantedByGap>(sweep)
            }
            Weighting::Ndcg2 { delta: 0.0, .. } | Weighting::SwapNdcg { .. } if top == n => {
                self.by_label(ranked, grid, by_rank);
                grid.run::<WantedByGapAndDiscount>(sweep)
            }
            _ => {
                self.by_rank(ranked, top, grid);
                match self.weighting {
                    Weighting::RankNet { ties: false } => grid.run::<Ordered>(sweep),
                    Weighting::RankNet { ties: true } => grid.run::<OrderedOrTied>(sweep),
                    Weighting::Arp2 => grid.run::<ByGap>(sweep),
                    Weighting::Ndcg2 { delta, .. } if delta != 0.0 => grid.run::<ByGapDiscountAndDistance>(sweep),
                    Weighting::Ndcg2 { .. } | Weighting::SwapNdcg { .. } => grid.run::<ByGapAndDiscount>(sweep),
                    _ => grid.run::<AllPairs>(sweep),
                }
            }
        };
        grid.scatter(sums);
        loss
    }

    /// Writes the discount of each rank times its share in the weight; 0 where no discount counts.
    fn shared_discounts(&self, ranked: &Ranked, to: &mut Vec<f32>) {
        let share = match self.weighting {
            Weighting::Ndcg2 { rho, .. } => rho,
            Weighting::SwapNdcg { .. } => 1.0,
            _ => 0.0,
        };
        let counted = if share == 0.0 { 0 } else { self.cutoff().unwrap_or(usize::MAX).min(ranked.len()) };
        to.clear();
        to.extend(ranked.discounts[..counted].iter().map(|discount| (share * discount) as f32));
        to.resize(ranked.len(), 0.0);
    }

    /// Rows wanted above their columns: documents by label, every document against all of lower labels.
    fn by_label(&self, ranked: &Ranked, grid: &mut Grid, by_rank: &mut Vec<f32>) {
        let order = &ranked.levels.order;
        let ends = &ranked.levels.ends;
        // The lowest label has no rows, only columns.
        for &end in &ends[..ends.len().saturating_sub(1)] {
            grid.starts.resize(end as usize, end);
        }
        if self.has_gains() {
            grid.gain.extend(order.iter().map(|&place| ranked.gains[place as usize] as f32));
            self.shared_discounts(ranked, by_rank);
            grid.discount.extend(order.iter().map(|&place| by_rank[place as usize]));
        } else {
            grid.gain.extend(order.iter().map(|&place| ranked.labels[place as usize]));
        }
        grid.take(ranked, order.iter().copied());
    }

    /// Rows ranked above their columns: each of the `top` ranks against all below it.
    fn by_rank(&self, ranked: &Ranked, top: usize, grid: &mut Grid) {
        let n = ranked.len();
        match self.weighting {
            Weighting::Ndcg1 => {
                let weights = ranked.gains.iter().zip(&ranked.discounts);
                grid.gain.extend(weights.map(|(gain, discount)| (gain * discount) as f32));
            }
            _ if self.has_gains() => grid.gain.extend(ranked.gains.iter().map(|&gain| gain as f32)),
            _ => grid.gain.extend(&ranked.labels),
        }
        self.shared_discounts(ranked, &mut grid.discount);
        if let Weighting::Ndcg2 { delta, .. } = self.weighting
            && delta != 0.0
        {
            grid.near.extend(nearness(&ranked.discounts[..n]).map(|near| (delta * near) as f32));
        }
        grid.starts.extend(1..=top as u32);
        grid.take(ranked, 0..n as u32);
    }
}

/// Wanted above, weight 1.
struct Wanted;

impl Pair for Wanted {
    const SWAPS: bool = false;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, _: Sides<S::V>) -> (S::V, S::V) {
        (simd.splat(1.0), simd.splat(0.0))
    }
}

/// Wanted above, weight `g_i - g_j`.
pub(super) struct WantedByGap;

impl Pair for WantedByGap {
    const SWAPS: bool = false;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        (simd.sub(sides.gain, sides.gains), simd.splat(0.0))
    }
}

/// Wanted above, weight `|d_i - d_j| (g_i - g_j)`.
struct WantedByGapAndDiscount;

impl Pair for WantedByGapAndDiscount {
    const SWAPS: bool = false;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let discount = simd.abs(simd.sub(sides.discount, sides.discounts));
        (simd.mul(discount, simd.sub(sides.gain, sides.gains)), simd.splat(0.0))
    }
}

/// `(|w|, max(-w, 0))`: a negative weight wants the row below.
#[inline(always)]
fn signed<const N: usize, S: Simd<N>>(simd: S, weight: S::V) -> (S::V, S::V) {
    let zero = simd.splat(0.0);
    (simd.abs(weight), simd.max(simd.sub(zero, weight), zero))
}

/// Weight 1 for different labels.
struct Ordered;

impl Pair for Ordered {
    const SWAPS: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
        let swap = simd.if_less(sides.gain, sides.gains, one, zero);
        (simd.if_less(sides.gains, sides.gain, one, swap), swap)
    }
}

/// Weight 1 for different labels, half of that each way for equal ones.
struct OrderedOrTied;

impl Pair for OrderedOrTied {
    const SWAPS: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let (zero, half, one) = (simd.splat(0.0), simd.splat(0.5), simd.splat(1.0));
        let swap = simd.if_less(sides.gains, sides.gain, zero, half);
        (one, simd.if_less(sides.gain, sides.gains, one, swap))
    }
}

/// Weight `|g_i - g_j|`.
struct ByGap;

impl Pair for ByGap {
    const SWAPS: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        signed(simd, simd.sub(sides.gain, sides.gains))
    }
}

/// Weight `(d_i - d_j) |g_i - g_j|`.
struct ByGapAndDiscount;

impl Pair for ByGapAndDiscount {
    const SWAPS: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let discount = simd.sub(sides.discount, sides.discounts);
        signed(simd, simd.mul(discount, simd.sub(sides.gain, sides.gains)))
    }
}

/// Weight `(d_i - d_j + near_(j - i)) |g_i - g_j|`.
struct ByGapDiscountAndDistance;

impl Pair for ByGapDiscountAndDistance {
    const NEAR: bool = true;
    const SWAPS: bool = true;

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        let discount = simd.add(simd.sub(sides.discount, sides.discounts), sides.near);
        signed(simd, simd.mul(discount, simd.sub(sides.gain, sides.gains)))
    }
}

/// Both orders of every pair: weight `g_i` to have `i` above.
struct AllPairs;

impl Pair for AllPairs {
    const SWAPS: bool = true;

    fn padding(_: f32) -> f32 {
        0.0
    }

    #[inline(always)]
    fn weights<const N: usize, S: Simd<N>>(simd: S, sides: Sides<S::V>) -> (S::V, S::V) {
        (simd.add(sides.gain, sides.gains), sides.gains)
    }
}
