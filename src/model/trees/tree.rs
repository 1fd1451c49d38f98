//! A single decision tree.

use super::key::flushed;
use crate::error::{Error, Result};

/// A binary decision tree on a document's features, with a value at each leaf.
///
/// ```
/// use burnrank::model::{Branch, Child, Rule, Tree, WhenMissing};
///
/// // 1 when the second feature is above 0.5, else -1.
/// let rule = Rule::AtMost { threshold: 0.5, missing: WhenMissing::NanIsZero };
/// let branch = Branch { feature: 1, rule, left: Child::Leaf(0), right: Child::Leaf(1) };
/// let tree = Tree::new(vec![branch], vec![-1.0, 1.0])?;
/// assert_eq!([tree.value(&[9.0, 0.5]), tree.value(&[9.0, 0.6])], [-1.0, 1.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    branches: Vec<Branch>,
    leaves: Vec<f64>,
}

/// A test of one feature, with two children.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Column of the feature, from 0.
    pub feature: usize,
    /// The test.
    pub rule: Rule,
    /// Child if the rule holds.
    pub left: Child,
    /// Child if the rule does not hold.
    pub right: Child,
}

/// A child of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// Another branch, by its index in the tree.
    Branch(usize),
    /// A leaf, by its index in the tree.
    Leaf(usize),
}

/// The test of a branch.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Values of at most the threshold go left.
    AtMost {
        /// The largest value that goes left; may be infinite, but not NaN.
        threshold: f64,
        /// How missing values are handled.
        missing: WhenMissing,
    },
    /// Values whose integer part is one of a set of categories go left.
    OneOf {
        /// Bit `c % 32` of word `c / 32` is set for category `c`.
        categories: Vec<u32>,
        /// Whether NaN goes left.
        nan_left: bool,
        /// What values between -1 and 0 are.
        fractions: NegativeFractions,
    },
}

/// Which values count as missing, and where they go. Other values are compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WhenMissing {
    /// No value is missing; NaN is compared as 0.
    NanIsZero,
    /// NaN goes left.
    NanLeft,
    /// NaN goes right.
    NanRight,
    /// 0 and NaN go left.
    ZeroLeft,
    /// 0 and NaN go right.
    ZeroRight,
}

/// What values between -1 and 0 are in a split on categories. Values of -1 or less are in no set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NegativeFractions {
    /// Category 0, as in LightGBM.
    Zero,
    /// In no set, as in XGBoost.
    NoCategory,
}

impl Tree {
    /// Creates a tree. The first branch is the root; a tree without branches has a single leaf.
    ///
    /// # Errors
    /// If the number of leaves is not the number of branches plus one, a branch or a leaf is not reached by exactly one
    /// path from the root, a threshold is NaN, or a leaf value is not finite.
    pub fn new(branches: Vec<Branch>, leaves: Vec<f64>) -> Result<Self> {
        Tree::checked(branches, leaves).map_err(|problem| Error::Data(format!("not a decision tree: {problem}")))
    }

    /// Like [`Tree::new`], with the problem as error.
    pub(super) fn checked(branches: Vec<Branch>, leaves: Vec<f64>) -> std::result::Result<Self, String> {
        let tree = Tree { branches, leaves };
        tree.check()?;
        Ok(tree)
    }

    /// The branches; the first is the root.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The leaf values.
    pub fn leaves(&self) -> &[f64] {
        &self.leaves
    }

    /// Minimum number of features of a document.
    pub fn n_features(&self) -> usize {
        self.branches.iter().map(|branch| branch.feature + 1).max().unwrap_or(0)
    }

    /// Evaluates one document. [`Forest`](super::Forest) is faster for many.
    ///
    /// # Panics
    /// If the document has fewer than [`Tree::n_features`] features.
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
        self.check_paths()
    }

    /// Checks that each branch and each leaf is reached exactly once from the root.
    fn check_paths(&self) -> std::result::Result<(), String> {
        let mut reached = (vec![false; self.branches.len()], vec![false; self.leaves.len()]);
        let mut pending = if self.branches.is_empty() { vec![Child::Leaf(0)] } else { vec![Child::Branch(0)] };
        let mut n_reached = 0;
        while let Some(child) = pending.pop() {
            let (what, index, mark) = match child {
                Child::Branch(index) => ("branch", index, reached.0.get_mut(index)),
                Child::Leaf(index) => ("leaf", index, reached.1.get_mut(index)),
            };
            match mark {
                None => return Err(format!("there is no {what} {index}")),
                Some(true) => return Err(format!("more than one path leads to {what} {index}")),
                Some(mark) => *mark = true,
            }
            n_reached += 1;
            if let Child::Branch(index) = child {
                pending.extend([self.branches[index].right, self.branches[index].left]);
            }
        }
        // If branches form a cycle, fewer nodes are reached.
        if n_reached == self.branches.len() + self.leaves.len() {
            return Ok(());
        }
        Err("some branches cannot be reached from the first".into())
    }
}

impl Rule {
    /// Whether a value goes left, decided as in LightGBM: in f64, with values close to zero treated as zero.
    pub(crate) fn goes_left(&self, value: f32) -> bool {
        let value = f64::from(flushed(value));
        match self {
            Rule::OneOf { nan_left, .. } if value.is_nan() => *nan_left,
            Rule::OneOf { categories, fractions, .. } => has_category(categories, value, *fractions),
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

/// Whether a value's category is in a set. NaN and values of -1 or less are in no set.
pub(super) fn has_category(words: &[u32], value: f64, fractions: NegativeFractions) -> bool {
    // Also false for NaN.
    if !(value > -1.0 && value < 2_147_483_648.0) || (value < 0.0 && fractions == NegativeFractions::NoCategory) {
        return false;
    }
    let category = value as usize;
    words.get(category / 32).is_some_and(|word| word >> (category % 32) & 1 == 1)
}
