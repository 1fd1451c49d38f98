//! Trees made ready for many documents at once.
//!
//! Every branch becomes `key > threshold` on a column of keys. A column belongs to a feature and a rule for missing values, or
//! to one branch with categories (its keys are 1 for the right and 0 for the left).
//!
//! A tree of few leaves asks all of its questions, in any order, without a jump: leaves are bits from left to right, an answer
//! "right" clears the leaves to the left of its branch, and the lowest bit that is left is the document's leaf (QuickScorer, Lucchese
//! et al., 2015). That costs the same for 16 documents side by side as for one. A larger tree is walked from the root, 16
//! documents in step.

use super::key;
use super::tree::{Child, Rule, Tree, WhenMissing};
use crate::error::Result;
use crate::memory;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of branches and leaves that are gone through for some documents before the next documents: they stay in the nearest cache.
const GROUP: usize = 16 << 10;

/// Trees, ready to be asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Compiled {
    pub columns: Vec<KeyColumn>,
    pub trees: Vec<CompiledTree>,
    /// Trees that are asked together.
    pub groups: Vec<Range<usize>>,
    pub small: Vec<Clearing<u32>>,
    pub middle: Vec<Clearing<u64>>,
    pub large: Vec<Step>,
    /// The values of the leaves, from left to right; of large trees, in the order of their steps.
    pub leaves: Vec<f64>,
}

/// How the keys of a column come about.
#[derive(Debug, Clone)]
pub(super) struct KeyColumn {
    pub feature: usize,
    pub source: KeySource,
}

#[derive(Debug, Clone)]
pub(super) enum KeySource {
    Value(WhenMissing),
    Categories { words: Vec<u32>, nan_left: bool },
}

/// A tree: its branches, by its size, and its leaves.
#[derive(Debug, Clone)]
pub(super) enum CompiledTree {
    Single(f64),
    Small { branches: Range<usize>, leaves: Range<usize> },
    Middle { branches: Range<usize>, leaves: Range<usize> },
    Large { steps: Range<usize>, leaves: Range<usize> },
}

/// A branch of a tree whose leaves are bits: the answer "right" clears the leaves on its left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clearing<B> {
    pub column: u32,
    pub threshold: i32,
    pub cleared: B,
}

/// A branch or a leaf of a tree that is walked: the next step is `next`, or `next + 1` for the answer "right".
///
/// A leaf leads to itself: no key is above its threshold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub column: u32,
    pub threshold: i32,
    pub next: u32,
}

impl Compiled {
    /// # Errors
    /// When memory is short.
    pub fn new(trees: &[Tree]) -> Result<Self> {
        let branches: usize = trees.iter().map(|tree| tree.branches().len() + 1).sum();
        memory::ask(memory::bytes_of::<[f64; 8]>(branches as u64), "the branches of the trees", "use fewer trees")?;
        let mut maker = Maker::default();
        let mut start = (0, 0);
        for (index, tree) in trees.iter().enumerate() {
            maker.add(tree);
            let size = maker.made.bytes();
            if size - start.1 > GROUP || index + 1 == trees.len() {
                maker.made.groups.push(start.0..index + 1);
                start = (index + 1, size);
            }
        }
        Ok(maker.made)
    }

    fn bytes(&self) -> usize {
        let branches = 12 * (self.small.len() + self.large.len()) + 16 * self.middle.len();
        branches + size_of_val(&self.leaves[..])
    }
}

#[derive(Default)]
struct Maker {
    made: Compiled,
    known: HashMap<(usize, WhenMissing), u32>,
}

impl Maker {
    fn add(&mut self, tree: &Tree) {
        let first = self.made.leaves.len();
        let compiled = match tree.leaves().len() {
            1 => CompiledTree::Single(tree.leaves()[0]),
            2..=32 => {
                let branches = self.clearings(tree, |cleared| cleared as u32, |made| &mut made.small);
                CompiledTree::Small { branches, leaves: first..self.made.leaves.len() }
            }
            33..=64 => {
                let branches = self.clearings(tree, |cleared| cleared, |made| &mut made.middle);
                CompiledTree::Middle { branches, leaves: first..self.made.leaves.len() }
            }
            _ => {
                let steps = self.steps(tree);
                CompiledTree::Large { steps, leaves: first..self.made.leaves.len() }
            }
        };
        self.made.trees.push(compiled);
    }

    /// A tree of at most 64 leaves, from left to right.
    fn clearings<B>(
        &mut self,
        tree: &Tree,
        bits: impl Fn(u64) -> B,
        list: impl Fn(&mut Compiled) -> &mut Vec<Clearing<B>>,
    ) -> Range<usize> {
        /// What the walk over the tree has ahead: the right side of a branch that began at a leaf comes after its left side.
        enum Ahead {
            Enter(Child),
            LeftDone { branch: usize, first: usize },
        }
        let start = list(&mut self.made).len();
        let mut leaf = 0;
        let mut ahead = vec![Ahead::Enter(Child::Branch(0))];
        while let Some(next) = ahead.pop() {
            match next {
                Ahead::Enter(Child::Leaf(index)) => {
                    self.made.leaves.push(tree.leaves()[index]);
                    leaf += 1;
                }
                Ahead::Enter(Child::Branch(branch)) => {
                    let children = &tree.branches()[branch];
                    ahead.push(Ahead::Enter(children.right));
                    ahead.push(Ahead::LeftDone { branch, first: leaf });
                    ahead.push(Ahead::Enter(children.left));
                }
                Ahead::LeftDone { branch, first } => {
                    let (column, threshold) = self.question(tree, branch);
                    // Bits `first` to `leaf - 1`; at most 63, because the right side has a leaf.
                    let cleared = ((1_u64 << (leaf - first)) - 1) << first;
                    list(&mut self.made).push(Clearing { column, threshold, cleared: bits(cleared) });
                }
            }
        }
        start..list(&mut self.made).len()
    }

    /// A tree of any size, level by level, so that both children of a branch are neighbours.
    fn steps(&mut self, tree: &Tree) -> Range<usize> {
        let start = self.made.large.len();
        let mut level = vec![Child::Branch(0)];
        let mut placed = 1;
        let mut values = Vec::new();
        while !level.is_empty() {
            let mut below = Vec::new();
            for child in level {
                let here = (self.made.large.len() - start) as u32;
                match child {
                    Child::Leaf(index) => {
                        self.made.large.push(Step { column: 0, threshold: i32::MAX, next: here });
                        values.push(tree.leaves()[index]);
                    }
                    Child::Branch(branch) => {
                        let (column, threshold) = self.question(tree, branch);
                        self.made.large.push(Step { column, threshold, next: placed });
                        placed += 2;
                        values.push(0.0);
                        let children = &tree.branches()[branch];
                        below.extend([children.left, children.right]);
                    }
                }
            }
            level = below;
        }
        self.made.leaves.append(&mut values);
        start..self.made.large.len()
    }

    /// The column and the threshold of a branch.
    fn question(&mut self, tree: &Tree, branch: usize) -> (u32, i32) {
        let branch = &tree.branches()[branch];
        let columns = &mut self.made.columns;
        match &branch.rule {
            Rule::AtMost { threshold, missing } => {
                let column = self.known.entry((branch.feature, *missing)).or_insert_with(|| {
                    columns.push(KeyColumn { feature: branch.feature, source: KeySource::Value(*missing) });
                    columns.len() as u32 - 1
                });
                (*column, key::of_threshold(*threshold))
            }
            Rule::OneOf { categories, nan_left } => {
                let source = KeySource::Categories { words: categories.clone(), nan_left: *nan_left };
                columns.push(KeyColumn { feature: branch.feature, source });
                (columns.len() as u32 - 1, 0)
            }
        }
    }
}
