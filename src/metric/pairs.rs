//! Fraction of pairs in the right order.

use super::{Metric, MetricEntry, MetricKind, Rate, Swaps};
use crate::name::Cutoff;
use crate::numeric::fenwick::Fenwick;
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "pairs",
    aliases: &["pairwise", "pairs-correct", "pairwise-correct"],
    parameters: &[],
    cutoff: Cutoff::No,
    help: "fraction of pairs in the right order",
    make: |_| Arc::new(PairwiseAccuracy { rate: Rate::Accuracy }),
};

pub(super) const ERROR_ROW: MetricEntry = MetricEntry {
    name: "pair-error",
    aliases: &["pairs-error", "pairwise-error"],
    parameters: &[],
    cutoff: Cutoff::No,
    help: "1 - pairs",
    make: |_| Arc::new(PairwiseAccuracy { rate: Rate::Error }),
};

/// Fraction of pairs of documents with different labels in which the document with the higher label ranks first; named
/// `pairs`.
///
/// `pair-error` is 1 - `pairs`. Both are 0 if all labels are equal.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::{PairwiseAccuracy, Rate};
/// let ranked = [0.0, 0.0, 3.0, 1.0, 2.0];
/// assert_eq!(PairwiseAccuracy { rate: Rate::Accuracy }.value(&ranked), 2.0 / 9.0);
/// assert_eq!(PairwiseAccuracy { rate: Rate::Error }.value(&ranked), 7.0 / 9.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairwiseAccuracy {
    /// Accuracy or error rate.
    pub rate: Rate,
}

impl PairwiseAccuracy {
    fn of_counts(&self, correct: f64, total: f64) -> f64 {
        match self.rate {
            _ if total == 0.0 => 0.0,
            Rate::Accuracy => correct / total,
            Rate::Error => (total - correct) / total,
        }
    }
}

impl Metric for PairwiseAccuracy {
    fn name(&self) -> String {
        if self.is_cost() { ERROR_ROW.name } else { ROW.name }.to_owned()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        let levels = Levels::new(ranked);
        let mut above = Counts::new(levels.count);
        let mut correct = 0;
        for &level in &levels.of {
            correct += above.higher_than(level);
            above.add(level);
        }
        self.of_counts(correct as f64, levels.pairs())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(PairSwaps::new(self, ranked))
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Pairs
    }

    fn is_empty(&self, labels: &[f32]) -> bool {
        labels.iter().all(|label| *label == labels[0])
    }

    fn is_cost(&self) -> bool {
        self.rate == Rate::Error
    }

    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], _retrieved: usize) -> Option<f64> {
        let levels = Levels::new(ranked);
        let mut above = Counts::new(levels.count);
        let (mut correct, mut start) = (0.0, 0);
        for &end in ends {
            let group = &levels.of[start..end];
            correct += group.iter().map(|&level| above.higher_than(level)).sum::<u64>() as f64;
            group.iter().for_each(|&level| above.add(level));
            // Half of all orders have a pair of the group in the right order.
            correct += Levels::new(&ranked[start..end]).pairs() / 2.0;
            start = end;
        }
        Some(self.of_counts(correct, levels.pairs()))
    }
}

/// Positions of labels among the distinct labels in ascending order.
struct Levels {
    of: Vec<usize>,
    count: usize,
}

impl Levels {
    fn new(labels: &[f32]) -> Self {
        let mut distinct = labels.to_vec();
        distinct.sort_unstable_by(f32::total_cmp);
        distinct.dedup();
        let of = labels.iter().map(|label| distinct.partition_point(|other| other < label)).collect();
        Levels { of, count: distinct.len() }
    }

    /// Number of pairs with different labels.
    fn pairs(&self) -> f64 {
        let mut sizes = vec![0usize; self.count];
        self.of.iter().for_each(|&level| sizes[level] += 1);
        let same: usize = sizes.iter().map(|size| size * size).sum();
        ((self.of.len() * self.of.len() - same) / 2) as f64
    }
}

/// Number of documents of each level added so far.
struct Counts {
    tree: Fenwick,
    total: u64,
}

impl Counts {
    fn new(levels: usize) -> Self {
        Counts { tree: Fenwick::new(levels), total: 0 }
    }

    fn add(&mut self, level: usize) {
        self.total += 1;
        self.tree.add(level);
    }

    /// Number of documents added that are above `level`.
    fn higher_than(&self, level: usize) -> u64 {
        self.total - self.tree.before(level + 1)
    }
}

/// Maximum size of a table; above it, a wavelet matrix is used.
const TABLE: usize = 1 << 22;

/// Changes by swaps: a swap reverses the pairs of the two documents with each other and with all documents between
/// them.
struct PairSwaps {
    levels: Levels,
    below: Below,
    scale: f64,
}

impl PairSwaps {
    fn new(pairs: &PairwiseAccuracy, ranked: &[f32]) -> Self {
        let levels = Levels::new(ranked);
        let small = (ranked.len() + 1).saturating_mul(levels.count + 1) <= TABLE;
        let below = if small { Below::table(&levels) } else { Below::bits(&levels) };
        let total = levels.pairs();
        let scale = pairs.of_counts(1.0, total) - pairs.of_counts(0.0, total);
        PairSwaps { levels, below, scale }
    }

    /// Number of documents below `level` between positions `i` and `j`.
    fn between(&self, i: usize, j: usize, level: usize) -> i64 {
        i64::from(self.below.count(j, level)) - i64::from(self.below.count(i + 1, level))
    }
}

/// Counts the documents before a position that are below a level.
enum Below {
    /// A table with one row per position and one column per level, for few documents or levels. O(1) per lookup.
    Table { counts: Vec<u32>, width: usize },
    /// A wavelet matrix: O(log levels) per lookup, for any number of levels. For each bit of the levels, from the
    /// highest, the documents are sorted stably by the bit, and `zeros` holds for each position the number of documents
    /// before it whose bit is 0.
    Bits { zeros: Vec<Vec<u32>> },
}

impl Below {
    fn table(levels: &Levels) -> Self {
        let width = levels.count + 1;
        let mut counts = vec![0; (levels.of.len() + 1) * width];
        for (position, &level) in levels.of.iter().enumerate() {
            let (filled, next) = counts.split_at_mut((position + 1) * width);
            next[..width].copy_from_slice(&filled[position * width..]);
            next[level + 1..width].iter_mut().for_each(|count| *count += 1);
        }
        Below::Table { counts, width }
    }

    fn bits(levels: &Levels) -> Self {
        // Lookups may use the number of levels, one above the highest level.
        let bits = usize::BITS - levels.count.leading_zeros();
        let mut current = levels.of.clone();
        let mut zeros = Vec::with_capacity(bits as usize);
        for bit in (0..bits).rev() {
            let mut count = 0;
            let mut before = Vec::with_capacity(current.len() + 1);
            before.push(0);
            before.extend(current.iter().map(|level| {
                count += u32::from(level >> bit & 1 == 0);
                count
            }));
            let (low, high): (Vec<usize>, Vec<usize>) = current.iter().partition(|&level| level >> bit & 1 == 0);
            current = [low, high].concat();
            zeros.push(before);
        }
        Below::Bits { zeros }
    }

    fn count(&self, position: usize, level: usize) -> u32 {
        match self {
            Below::Table { counts, width } => counts[position * width + level],
            Below::Bits { zeros } => {
                // `from..to` are the documents before the position that share the upper bits of the level.
                let (mut from, mut to, mut count) = (0, position as u32, 0);
                for (index, before) in zeros.iter().enumerate() {
                    let (low_from, low_to) = (before[from as usize], before[to as usize]);
                    if level >> (zeros.len() - 1 - index) & 1 == 0 {
                        (from, to) = (low_from, low_to);
                    } else {
                        count += low_to - low_from;
                        let all = before[before.len() - 1];
                        (from, to) = (all + from - low_from, all + to - low_to);
                    }
                }
                count
            }
        }
    }
}

impl Swaps for PairSwaps {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let (upper, lower) = (self.levels.of[i], self.levels.of[j]);
        if upper == lower {
            return 0.0;
        }
        // Number of pairs in the right order with level `top` above and level `bottom` below, up to a common constant.
        let right = |top: usize, bottom: usize| {
            let below_top = self.between(i, j, top);
            let not_above_bottom = self.between(i, j, bottom + 1);
            below_top - not_above_bottom + i64::from(top > bottom)
        };
        (right(lower, upper) - right(upper, lower)) as f64 * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_the_table_agree() {
        for count in 1..40 {
            let labels: Vec<f32> = (0..50).map(|i| ((i * 7919 + i * i) % count) as f32).collect();
            let levels = Levels::new(&labels);
            let (table, bits) = (Below::table(&levels), Below::bits(&levels));
            for position in 0..=labels.len() {
                for level in 0..=levels.count {
                    assert_eq!(table.count(position, level), bits.count(position, level), "{position} {level}");
                }
            }
        }
    }
}
