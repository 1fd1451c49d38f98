//! One decision tree, and the plain walk through it.

use super::key::flushed;
use crate::error::{Error, Result};

/// A binary tree of questions about one document's features, with a value at each leaf.
///
/// ```
/// use burnrank::model::{Branch, Child, Rule, Tree, WhenMissing};
///
/// // 1 when the second feature is above 0.5, else -1.
/// let rule = Rule::AtMost { threshold: 0.5, missing: WhenMissing::NanIsZero };
/// let question = Branch { feature: 1, rule, left: Child::Leaf(0), right: Child::Leaf(1) };
/// let tree = Tree::new(vec![question], vec![-1.0, 1.0])?;
/// assert_eq!([tree.value(&[9.0, 0.5]), tree.value(&[9.0, 0.6])], [-1.0, 1.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    branches: Vec<Branch>,
    leaves: Vec<f64>,
}

/// A question about one feature: its answer leads to the left or to the right.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The feature's column, counted from 0.
    pub feature: usize,
    /// What leads to the left.
    pub rule: Rule,
    /// Where the rule leads when it holds.
    pub left: Child,
    /// Where it leads when it does not.
    pub right: Child,
}

/// Where a branch leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// To another branch, by its place in the tree.
    Branch(usize),
    /// To a leaf, by its place in the tree.
    Leaf(usize),
}

/// What leads to the left.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Values of at most the threshold.
    AtMost {
        /// The largest value that goes to the left; may be infinite, not NaN.
        threshold: f64,
        /// Where a missing value goes.
        missing: WhenMissing,
    },
    /// Values whose whole part is one of a set of categories.
    OneOf {
        /// Bit `c % 32` of word `c / 32` is set for category `c`.
        categories: Vec<u32>,
        /// Whether NaN goes to the left; else to the right.
        nan_left: bool,
    },
}

/// Which values count as missing, and where they go. What is not missing is compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WhenMissing {
    /// Nothing is missing; NaN is compared as 0.
    NanIsZero,
    /// NaN goes to the left.
    NanLeft,
    /// NaN goes to the right.
    NanRight,
    /// 0 and NaN go to the left.
    ZeroLeft,
    /// 0 and NaN go to the right.
    ZeroRight,
}

impl Tree {
    /// A tree whose first branch is its root; with no branch, its only leaf.
    ///
    /// # Errors
    /// When there is not one leaf more than branches, when a branch or a leaf is not reached from the root by exactly one
    /// way, when a threshold is NaN or a leaf's value is not finite.
    pub fn new(branches: Vec<Branch>, leaves: Vec<f64>) -> Result<Self> {
        let tree = Tree { branches, leaves };
        tree.check().map_err(|problem| Error::Data(format!("not a decision tree: {problem}")))?;
        Ok(tree)
    }

    /// As [`Tree::new`], with the bare problem.
    pub(super) fn checked(branches: Vec<Branch>, leaves: Vec<f64>) -> std::result::Result<Self, String> {
        let tree = Tree { branches, leaves };
        tree.check()?;
        Ok(tree)
    }

    /// Its branches; the first is the root.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The values of its leaves.
    pub fn leaves(&self) -> &[f64] {
        &self.leaves
    }

    /// The least number of features that a document must have.
    pub fn n_features(&self) -> usize {
        self.branches.iter().map(|branch| branch.feature + 1).max().unwrap_or(0)
    }

    /// The value of one document, by a plain walk from the root. [`Forest`](super::Forest) does the same faster, for many.
    ///
    /// # Panics
    /// When the document has fewer than [`Tree::n_features`] features.
    pub fn value(&self, document: &[f32]) -> f64 {
        if self.branches.is_empty() {
            return self.leaves[0];
        }
        let mut at = Child::Branch(0);
        loop {
            match at {
                Child::Leaf(leaf) => return self.leaves[leaf],
                Child::Branch(index) => {
                    let branch = &self.branches[index];
                    at = if branch.rule.goes_left(document[branch.feature]) { branch.left } else { branch.right };
                }
            }
        }
    }

    fn check(&self) -> std::result::Result<(), String> {
        let (branches, leaves) = (self.branches.len(), self.leaves.len());
        if leaves != branches + 1 {
            return Err(format!("{branches} branches have {} leaves, not {leaves}", branches + 1));
        }
        if let Some(leaf) = self.leaves.iter().position(|value| !value.is_finite()) {
            return Err(format!("the value of leaf {leaf} is not finite"));
        }
        let is_nan = |branch: &Branch| matches!(branch.rule, Rule::AtMost { threshold, .. } if threshold.is_nan());
        if let Some(index) = self.branches.iter().position(is_nan) {
            return Err(format!("the threshold of branch {index} is not a number"));
        }
        self.check_ways()
    }

    /// Each branch and each leaf is reached once: no cycle, nothing shared, nothing left over.
    fn check_ways(&self) -> std::result::Result<(), String> {
        let mut reached = (vec![false; self.branches.len()], vec![false; self.leaves.len()]);
        let mut ahead = if self.branches.is_empty() { vec![Child::Leaf(0)] } else { vec![Child::Branch(0)] };
        let mut found = 0;
        while let Some(child) = ahead.pop() {
            let (what, index, mark) = match child {
                Child::Branch(index) => ("branch", index, reached.0.get_mut(index)),
                Child::Leaf(index) => ("leaf", index, reached.1.get_mut(index)),
            };
            match mark {
                None => return Err(format!("there is no {what} {index}")),
                Some(true) => return Err(format!("more than one way leads to {what} {index}")),
                Some(mark) => *mark = true,
            }
            found += 1;
            if let Child::Branch(index) = child {
                ahead.extend([self.branches[index].right, self.branches[index].left]);
            }
        }
        // A tree of n branches that are all reached once has n + 1 leaves that are; fewer were reached when some form a circle.
        if found == self.branches.len() + self.leaves.len() {
            return Ok(());
        }
        Err("some branches cannot be reached from the first".into())
    }
}

impl Rule {
    /// Whether a value goes to the left, as LightGBM decides it: in f64, with what is almost zero taken for zero.
    pub(crate) fn goes_left(&self, value: f32) -> bool {
        let value = f64::from(flushed(value));
        match self {
            Rule::OneOf { nan_left, .. } if value.is_nan() => *nan_left,
            Rule::OneOf { categories, .. } => has_category(categories, value),
            Rule::AtMost { threshold, missing } => match missing {
                WhenMissing::NanLeft if value.is_nan() => true,
                WhenMissing::NanRight if value.is_nan() => false,
                WhenMissing::ZeroLeft if value.is_nan() || value == 0.0 => true,
                WhenMissing::ZeroRight if value.is_nan() || value == 0.0 => false,
                WhenMissing::NanIsZero if value.is_nan() => 0.0 <= *threshold,
                _ => value <= *threshold,
            },
        }
    }
}

/// Whether a value's category is in a set. NaN and whole negative numbers are in none; what is between -1 and 0 is category 0.
pub(super) fn has_category(words: &[u32], value: f64) -> bool {
    // Also false for NaN.
    if !(value > -1.0 && value < 2_147_483_648.0) {
        return false;
    }
    let category = value as usize;
    words.get(category / 32).is_some_and(|word| word >> (category % 32) & 1 == 1)
}
