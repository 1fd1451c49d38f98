//! Training statistics in LightGBM's text: leaf counts and split gains. Scores do not depend on them.

use super::forest::Forest;

impl Forest {
    /// Number of training documents at each leaf of each tree, or `None` if the text lacks them.
    pub(crate) fn leaf_counts(&self) -> Option<Vec<Vec<f64>>> {
        let counts = |(tree, block): (&super::Tree, &String)| {
            let leaves = tree.leaves().len();
            let counts = numbers(block, "leaf_count=", leaves);
            // A tree with one leaf needs no counts.
            counts.filter(|counts| counts.iter().sum::<f64>() > 0.0).or((leaves == 1).then(|| vec![1.0]))
        };
        self.trees().iter().zip(&self.blocks).map(counts).collect()
    }

    /// Gain of each branch of each tree, or `None` if the text lacks them.
    pub(crate) fn split_gains(&self) -> Option<Vec<Vec<f64>>> {
        let gains = |(tree, block): (&super::Tree, &String)| {
            let branches = tree.branches().len();
            let gains = numbers(block, "split_gain=", branches);
            gains.filter(|gains| gains.iter().any(|gain| *gain != 0.0)).or((branches == 0).then(Vec::new))
        };
        self.trees().iter().zip(&self.blocks).map(gains).collect()
    }
}

/// Parses exactly `count` finite numbers, none negative, of the line that starts with `name`.
fn numbers(block: &str, name: &str, count: usize) -> Option<Vec<f64>> {
    let line = block.lines().find_map(|line| line.strip_prefix(name))?;
    let numbers: Vec<f64> = line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    (numbers.len() == count && numbers.iter().all(|x| *x >= 0.0 && x.is_finite())).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_gains_are_read_from_the_text() {
        let forest = Forest::parse(include_str!("tests/sample.txt")).unwrap();
        let (counts, gains) = (forest.leaf_counts().unwrap(), forest.split_gains().unwrap());
        for (place, tree) in forest.trees().iter().enumerate() {
            assert_eq!((counts[place].len(), gains[place].len()), (tree.leaves().len(), tree.branches().len()));
        }
        // Forests built from trees have no statistics.
        let built = Forest::from_trees(forest.n_features(), forest.trees().to_vec()).unwrap();
        assert!(built.leaf_counts().is_none() && built.split_gains().is_none());
    }
}
