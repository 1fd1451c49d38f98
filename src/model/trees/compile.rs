//! Compiles trees for scoring many documents at a time.
//!
//! Every branch becomes `key > threshold` on a column of keys. A column belongs to a feature and a rule for missing
//! values, or to one branch with categories (its keys are 1 for right and 0 for left).
//!
//! A small tree evaluates all branches, in any order, without jumps: leaves are bits from left to right, a branch that
//! goes right clears the leaves on its left, and the lowest remaining bit is the document's leaf (QuickScorer, Lucchese
//! et al., 2015). This costs the same for 16 documents in parallel as for one. Larger trees are traversed from the
//! root, 16 documents in parallel.

use super::key;
use super::tree::{Child, NegativeFractions, Rule, Tree, WhenMissing};
use crate::error::Result;
use crate::memory;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of branches and leaves per group of trees; a group stays in the first cache while it scores documents.
const GROUP: usize = 16 << 10;

/// Compiled trees.
#[derive(Debug, Clone, Default)]
pub(super) struct Compiled {
    pub columns: Vec<KeyColumn>,
    pub trees: Vec<CompiledTree>,
    /// Groups of trees that are evaluated together.
    pub groups: Vec<Range<usize>>,
    pub small: Vec<Clearing<u32>>,
    pub middle: Vec<Clearing<u64>>,
    pub large: Vec<Step>,
    /// Leaf values from left to right; of large trees, in the order of their steps.
    pub leaves: Vec<f64>,
    /// Whether each sum is rounded to f32.
    pub single: bool,
}

/// A column of keys and how they are computed.
#[derive(Debug, Clone)]
pub(super) struct KeyColumn {
    pub feature: usize,
    pub source: KeySource,
}

#[derive(Debug, Clone)]
pub(super) enum KeySource {
    Value(WhenMissing),
    Categories { words: Vec<u32>, nan_left: bool, fractions: NegativeFractions },
}

/// A compiled tree, by size.
#[derive(Debug, Clone)]
pub(super) enum CompiledTree {
    Single(f64),
    Small { branches: Range<usize>, leaves: Range<usize> },
    Middle { branches: Range<usize>, leaves: Range<usize> },
    Large { steps: Range<usize>, leaves: Range<usize> },
}

/// A branch of a tree whose leaves are bits: going right clears the leaves on its left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clearing<B> {
    pub column: u32,
    pub threshold: i32,
    pub cleared: B,
}

/// A branch or a leaf of a large tree: the next step is `next` for left and `next + 1` for right.
///
/// A leaf leads to itself, because no key is above its threshold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub column: u32,
    pub threshold: i32,
    pub next: u32,
}

impl Compiled {
    /// Compiles trees whose values are summed in f32 if `single`.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(trees: &[Tree], single: bool) -> Result<Self> {
        let branches: usize = trees.iter().map(|tree| tree.branches().len() + 1).sum();
        memory::ask(memory::bytes_of::<[f64; 8]>(branches as u64), "the branches of the trees", "use fewer trees")?;
        let mut compiler = Compiler::default();
        compiler.compiled.single = single;
        let mut start = (0, 0);
        for (index, tree) in trees.iter().enumerate() {
            compiler.add(tree);
            let size = compiler.compiled.bytes();
            if size - start.1 > GROUP || index + 1 == trees.len() {
                compiler.compiled.groups.push(start.0..index + 1);
                start = (index + 1, size);
            }
        }
        Ok(compiler.compiled)
    }

    fn bytes(&self) -> usize {
        let branches = 12 * (self.small.len() + self.large.len()) + 16 * self.middle.len();
        branches + size_of_val(&self.leaves[..])
    }
}

#[derive(Default)]
struct Compiler {
    compiled: Compiled,
    /// The column of each feature and rule for missing values.
    value_columns: HashMap<(usize, WhenMissing), u32>,
}

impl Compiler {
    fn add(&mut self, tree: &Tree) {
        let first = self.compiled.leaves.len();
        let compiled = match tree.leaves().len() {
            1 => CompiledTree::Single(tree.leaves()[0]),
            2..=32 => {
                let branches = self.clearings(tree, |cleared| cleared as u32, |compiled| &mut compiled.small);
                CompiledTree::Small { branches, leaves: first..self.compiled.leaves.len() }
            }
            33..=64 => {
                let branches = self.clearings(tree, |cleared| cleared, |compiled| &mut compiled.middle);
                CompiledTree::Middle { branches, leaves: first..self.compiled.leaves.len() }
            }
            _ => {
                let steps = self.steps(tree);
                CompiledTree::Large { steps, leaves: first..self.compiled.leaves.len() }
            }
        };
        self.compiled.trees.push(compiled);
    }

    /// Compiles a tree of at most 64 leaves, from left to right.
    fn clearings<B>(
        &mut self,
        tree: &Tree,
        bits: impl Fn(u64) -> B,
        list: impl Fn(&mut Compiled) -> &mut Vec<Clearing<B>>,
    ) -> Range<usize> {
        /// Pending work of the traversal: the left side of a branch, which began at leaf `first`, is done before its
        /// right side.
        enum Pending {
            Enter(Child),
            LeftDone { branch: usize, first: usize },
        }
        let start = list(&mut self.compiled).len();
        let mut leaf = 0;
        let mut pending = vec![Pending::Enter(Child::Branch(0))];
        while let Some(next) = pending.pop() {
            match next {
                Pending::Enter(Child::Leaf(index)) => {
                    self.compiled.leaves.push(tree.leaves()[index]);
                    leaf += 1;
                }
                Pending::Enter(Child::Branch(branch)) => {
                    let children = &tree.branches()[branch];
                    pending.push(Pending::Enter(children.right));
                    pending.push(Pending::LeftDone { branch, first: leaf });
                    pending.push(Pending::Enter(children.left));
                }
                Pending::LeftDone { branch, first } => {
                    let (column, threshold) = self.test(tree, branch);
                    // Bits `first` to `leaf - 1`; at most 63, because the right side has a leaf.
                    let cleared = ((1_u64 << (leaf - first)) - 1) << first;
                    list(&mut self.compiled).push(Clearing { column, threshold, cleared: bits(cleared) });
                }
            }
        }
        start..list(&mut self.compiled).len()
    }

    /// Compiles a tree of any size, level by level, so that both children of a branch are neighbours.
    fn steps(&mut self, tree: &Tree) -> Range<usize> {
        let start = self.compiled.large.len();
        let mut level = vec![Child::Branch(0)];
        let mut placed = 1;
        let mut values = Vec::new();
        while !level.is_empty() {
            let mut below = Vec::new();
            for child in level {
                let position = (self.compiled.large.len() - start) as u32;
                match child {
                    Child::Leaf(index) => {
                        self.compiled.large.push(Step { column: 0, threshold: i32::MAX, next: position });
                        values.push(tree.leaves()[index]);
                    }
                    Child::Branch(branch) => {
                        let (column, threshold) = self.test(tree, branch);
                        self.compiled.large.push(Step { column, threshold, next: placed });
                        placed += 2;
                        values.push(0.0);
                        let children = &tree.branches()[branch];
                        below.extend([children.left, children.right]);
                    }
                }
            }
            level = below;
        }
        self.compiled.leaves.append(&mut values);
        start..self.compiled.large.len()
    }

    /// The column and the threshold of a branch.
    fn test(&mut self, tree: &Tree, branch: usize) -> (u32, i32) {
        let branch = &tree.branches()[branch];
        let columns = &mut self.compiled.columns;
        match &branch.rule {
            Rule::AtMost { threshold, missing } => {
                let column = self.value_columns.entry((branch.feature, *missing)).or_insert_with(|| {
                    columns.push(KeyColumn { feature: branch.feature, source: KeySource::Value(*missing) });
                    columns.len() as u32 - 1
                });
                (*column, key::of_threshold(*threshold))
            }
            Rule::OneOf { categories, nan_left, fractions } => {
                let (words, nan_left, fractions) = (categories.clone(), *nan_left, *fractions);
                let source = KeySource::Categories { words, nan_left, fractions };
                columns.push(KeyColumn { feature: branch.feature, source });
                (columns.len() as u32 - 1, 0)
            }
        }
    }
}
