//! Counts of effective and saturated pairs, without enumerating them.
//!
//! Documents are in rank order, so the pairs that a document wins by more than a margin are those with all documents
//! from some rank on. A sweep from the bottom counts the labels below: O(n log L) for L labels.

use super::super::loss::SATURATED;
use super::PairForm;
use super::ranked::Ranked;
use crate::numeric::fenwick::Fenwick;

/// Difference of `sigma s` beyond which a sigmoid is saturated.
fn margin() -> f64 {
    (1.0 / SATURATED - 1.0).ln()
}

/// Calls `each` for each rank of the top, from last to first, with the first rank that it beats by the margin.
fn beaten(ranked: &Ranked, top: usize, mut each: impl FnMut(usize, usize)) {
    let (scaled, margin) = (&ranked.scaled, margin());
    let mut first = scaled.len();
    for rank in (0..top).rev() {
        while first > 0 && scaled[rank] - scaled[first - 1] > margin {
            first -= 1;
        }
        each(rank, first);
    }
}

/// Counts both directions of every pair whose preferred document has a weight.
fn count_all(ranked: &Ranked, top: usize, has_weight: impl Fn(usize) -> bool) -> (u64, u64) {
    let n = ranked.len();
    let (mut pairs, mut saturated) = (0, 0);
    let mut below = (top..n).filter(|&rank| has_weight(rank)).count();
    beaten(ranked, top, |rank, first| {
        let counts = has_weight(rank);
        pairs += below + if counts { n - 1 - rank } else { 0 };
        saturated += if counts { n - first } else { 0 };
        below += usize::from(counts);
    });
    (pairs as u64, saturated as u64)
}

/// Buffers for counting.
#[derive(Debug, Default)]
pub(super) struct Count {
    level: Vec<u32>,
    below: Vec<u64>,
    tree: Fenwick,
}

impl Count {
    /// Returns the number of pairs with a weight, and how many of them are saturated.
    pub fn pairs(&mut self, form: Option<PairForm>, ranked: &Ranked) -> (u64, u64) {
        match form {
            Some(PairForm::Own) => count_all(ranked, ranked.top, |rank| ranked.values.first[rank] != 0.0),
            Some(PairForm::Constant { ties }) => self.of_classes(ranked, ties),
            _ => self.of_classes(ranked, false),
        }
    }

    /// Counts pairs of different classes, and those of equal classes twice if `ties`.
    fn of_classes(&mut self, ranked: &Ranked, ties: bool) -> (u64, u64) {
        let (n, top, levels) = (ranked.len(), ranked.top, &ranked.levels);
        let groups = levels.ends.len();
        let wins = ranked.scaled.first().zip(ranked.scaled.last()).is_some_and(|(top, last)| top - last > margin());
        if top == n && !wins {
            let squares: u64 = levels.groups().map(|group| (group.len() as u64).pow(2)).sum();
            let n = n as u64;
            return ((n * n - squares) / 2 + if ties { squares - n } else { 0 }, 0);
        }
        self.level.resize(n, 0);
        levels.for_each(|rank, level| self.level[rank] = level);
        let level = &self.level;
        self.below.clear();
        self.below.resize(groups, 0);
        level[top..].iter().for_each(|&level| self.below[level as usize] += 1);
        let mut pairs = 0;
        for rank in (0..top).rev() {
            let equal = &mut self.below[level[rank] as usize];
            pairs += (n - 1 - rank) as u64 - *equal + if ties { 2 * *equal } else { 0 };
            *equal += 1;
        }
        let mut saturated = 0;
        if wins {
            let tree = &mut self.tree;
            tree.clear(groups);
            let mut next = n;
            beaten(ranked, top, |rank, first| {
                level[first..next].iter().for_each(|&level| tree.add(level as usize));
                next = first;
                let level = level[rank] as usize;
                // Levels are numbered from the highest label down: the document wins against later levels.
                saturated += (n - first) as u64 - tree.before(if ties { level } else { level + 1 });
            });
        }
        (pairs, saturated)
    }
}
