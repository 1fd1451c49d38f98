//! Counts by level, with prefix sums.

/// A Fenwick tree: adding to a level and summing over all lower levels take O(log levels).
#[derive(Debug, Default)]
pub(crate) struct Fenwick(Vec<u64>);

impl Fenwick {
    /// Creates a tree with zero counts for levels `0..levels`.
    pub(crate) fn new(levels: usize) -> Self {
        Fenwick(vec![0; levels + 1])
    }

    /// Resets all counts, reusing the memory.
    pub(crate) fn clear(&mut self, levels: usize) {
        self.0.clear();
        self.0.resize(levels + 1, 0);
    }

    /// Increments the count of a level.
    pub(crate) fn add(&mut self, level: usize) {
        let mut node = level + 1;
        while node < self.0.len() {
            self.0[node] += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// Sum of the counts of levels below `level`.
    pub(crate) fn before(&self, level: usize) -> u64 {
        let (mut node, mut sum) = (level, 0);
        while node > 0 {
            sum += self.0[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_equal_those_of_plain_counts() {
        let mut tree = Fenwick::new(3);
        for levels in [1, 2, 7, 64] {
            tree.clear(levels);
            let mut counts = vec![0; levels];
            for step in 0..200 {
                let level = step * 31 % levels;
                counts[level] += 1;
                tree.add(level);
                let end = step % (levels + 1);
                assert_eq!(tree.before(end), counts[..end].iter().sum::<u64>());
            }
        }
    }
}
