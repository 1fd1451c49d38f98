//! How many pairs pull, and how many of them hardly do, without looking at each.
//!
//! Documents are in rank order, so the pairs that a document has won by more than a margin are with all documents from
//! some rank on: a sweep from the bottom keeps count of the labels seen, O(n log L) for L labels.

use super::levels::Levels;
use super::ranked::Ranked;
use super::types::SATURATED;
use super::weights::RrSwaps;
use super::{Kernel, Weighting};
use crate::numeric::fenwick::Fenwick;

/// The memory of the counts.
#[derive(Debug, Default)]
pub(super) struct Count {
    levels: Levels,
    binary: Vec<f32>,
    sweep: Sweep,
}

impl Kernel {
    /// The numbers of pairs with a weight and of saturated ones among them, for weights with a formula.
    pub(super) fn count(&self, ranked: &Ranked, memory: &mut Count) -> (u64, u64) {
        let n = ranked.len();
        let top = self.top(n);
        match self.weighting {
            Weighting::Ndcg2 { rho: 0.0, delta: 0.0 } => (0, 0),
            Weighting::SwapMetric(_) => {
                let (top, level) = self.weighing(ranked);
                memory.binary.clear();
                memory.binary.extend(ranked.labels.iter().map(|&label| level(label)));
                memory.levels.fill(&memory.binary);
                memory.sweep.count(ranked, &memory.levels, top, false)
            }
            _ if self.has_gains() && ranked.gains.iter().all(|&gain| gain == 0.0) => (0, 0),
            Weighting::Arp1 => count_all(ranked, top, |place| ranked.labels[place] != 0.0),
            Weighting::Ndcg1 => count_all(ranked, top, |place| ranked.gains[place] != 0.0),
            Weighting::SwapAp { threshold, .. } => {
                memory.binary.clear();
                memory.binary.extend(ranked.labels.iter().map(|&label| f32::from(label >= threshold)));
                memory.levels.fill(&memory.binary);
                memory.sweep.count(ranked, &memory.levels, top, false)
            }
            Weighting::SwapRr { k, threshold } => count_rr(ranked, &RrSwaps::new(&ranked.labels, k, threshold), top),
            Weighting::RankNet { ties } => memory.sweep.count(ranked, &ranked.levels, top, ties),
            _ => memory.sweep.count(ranked, &ranked.levels, top, false),
        }
    }
}

/// The difference of `sigma s` beyond which a sigmoid is saturated.
fn margin() -> f64 {
    (1.0 / SATURATED - 1.0).ln()
}

/// Calls back for each rank of the top, from the last to the first, with the first rank that it beats by the margin.
fn beaten(ranked: &Ranked, top: usize, mut each: impl FnMut(usize, usize)) {
    let (scaled, margin) = (&ranked.scaled, margin());
    let mut first = scaled.len();
    for own in (0..top).rev() {
        while first > 0 && scaled[own] - scaled[first - 1] > margin {
            first -= 1;
        }
        each(own, first);
    }
}

/// Both orders of every pair whose upper document has a weight.
fn count_all(ranked: &Ranked, top: usize, weighs: impl Fn(usize) -> bool) -> (u64, u64) {
    let n = ranked.len();
    let (mut pairs, mut saturated) = (0, 0);
    let mut below = (top..n).filter(|&place| weighs(place)).count();
    beaten(ranked, top, |own, first| {
        let own_weighs = weighs(own);
        pairs += below + if own_weighs { n - 1 - own } else { 0 };
        saturated += if own_weighs { n - first } else { 0 };
        below += usize::from(own_weighs);
    });
    (pairs as u64, saturated as u64)
}

/// Only pairs that move the top relevant document.
fn count_rr(ranked: &Ranked, swaps: &RrSwaps, top: usize) -> (u64, u64) {
    let n = ranked.len();
    let relevant = swaps.relevant.iter().filter(|&&relevant| relevant).count();
    if relevant == 0 {
        return (0, 0);
    }
    let mut pairs = swaps.first.min(top) * relevant;
    let mut saturated = 0;
    if swaps.first < top {
        pairs += n - swaps.first - relevant;
        let first = ranked.scaled.partition_point(|&other| ranked.scaled[swaps.first] - other <= margin());
        saturated = swaps.relevant[first..].iter().filter(|&&relevant| !relevant).count();
    }
    (pairs as u64, saturated as u64)
}

/// The memory of a sweep over labels.
#[derive(Debug, Default)]
struct Sweep {
    level: Vec<u32>,
    below: Vec<u64>,
    seen: Fenwick,
}

impl Sweep {
    /// Pairs of different labels, and those of equal ones twice when asked.
    fn count(&mut self, ranked: &Ranked, levels: &Levels, top: usize, ties: bool) -> (u64, u64) {
        let n = ranked.len();
        let groups = levels.ends.len();
        let wins = ranked.scaled.first().zip(ranked.scaled.last()).is_some_and(|(top, last)| top - last > margin());
        if top == n && !wins {
            let mut start = 0;
            let squares = levels.ends.iter().map(|&end| u64::from(end - std::mem::replace(&mut start, end)).pow(2));
            let (squares, n) = (squares.sum::<u64>(), n as u64);
            return ((n * n - squares) / 2 + if ties { squares - n } else { 0 }, 0);
        }
        self.level.resize(n, 0);
        levels.for_each(|place, level| self.level[place] = level);
        let level = &self.level;
        self.below.clear();
        self.below.resize(groups, 0);
        level[top..].iter().for_each(|&level| self.below[level as usize] += 1);
        let mut pairs = 0;
        for own in (0..top).rev() {
            let equal = &mut self.below[level[own] as usize];
            pairs += (n - 1 - own) as u64 - *equal + if ties { 2 * *equal } else { 0 };
            *equal += 1;
        }
        let mut saturated = 0;
        if wins {
            let seen = &mut self.seen;
            seen.clear(groups);
            let mut next = n;
            beaten(ranked, top, |own, first| {
                level[first..next].iter().for_each(|&level| seen.add(level as usize));
                next = first;
                let level = level[own] as usize;
                // Levels count from the highest label down: those behind the own one are lost to it.
                saturated += (n - first) as u64 - seen.before(if ties { level } else { level + 1 });
            });
        }
        (pairs, saturated)
    }
}
