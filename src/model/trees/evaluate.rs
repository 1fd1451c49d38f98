//! Scoring with compiled trees.

use super::compile::{Clearing, Compiled, CompiledTree, KeyColumn, KeySource, Step};
use super::key;
use super::tree::has_category;
use crate::simd::{Simd, Vectorised, dispatch};
use rayon::prelude::*;

/// Number of documents scored in parallel lanes.
const LANES: usize = 16;

/// One column's keys for the documents of all lanes.
pub(crate) type Keys = [i32; LANES];

/// Bytes of keys per block of documents, so that they stay in a core's cache.
const KEY_BYTES: usize = 128 << 10;

/// Maximum number of documents per block.
const MAX_BLOCK: usize = 512;

impl Compiled {
    /// Adds the values of all trees, in order, to the scores of row-major documents.
    ///
    /// Rows must have the features of all columns. A document's score does not depend on its position or on threads.
    pub fn add_to(&self, features: &[f32], width: usize, scores: &mut [f64]) {
        let block = self.block();
        let parts = scores.par_chunks_mut(block).zip(features.par_chunks(block * width.max(1)));
        parts.for_each_init(Vec::new, |keys, (scores, rows)| {
            dispatch(Block { trees: self, rows, width, keys, scores });
        });
    }

    /// Like [`Compiled::add_to`], on one thread with buffers passed in.
    pub fn add_in(&self, features: &[f32], width: usize, scores: &mut [f64], keys: &mut Vec<Keys>) {
        let block = self.block();
        for (scores, rows) in scores.chunks_mut(block).zip(features.chunks(block * width.max(1))) {
            dispatch(Block { trees: self, rows, width, keys, scores });
        }
    }

    /// Number of documents per block.
    fn block(&self) -> usize {
        (KEY_BYTES / (self.columns.len().max(1) * size_of::<Keys>())).clamp(1, MAX_BLOCK / LANES) * LANES
    }
}

/// A block of documents, scored by one thread.
struct Block<'a> {
    trees: &'a Compiled,
    rows: &'a [f32],
    width: usize,
    keys: &'a mut Vec<Keys>,
    scores: &'a mut [f64],
}

impl Vectorised for Block<'_> {
    type Output = ();

    /// Integers, and sums in a fixed order: the compiler's vectorisation suffices.
    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, _simd: S) {
        let Block { trees, rows, width, keys, scores } = self;
        let columns = trees.columns.len();
        keys.clear();
        keys.resize(columns * scores.len().div_ceil(LANES), [0; LANES]);
        for (tile, rows) in rows.chunks(LANES * width).enumerate() {
            fill(&trees.columns, rows, width, &mut keys[tile * columns..][..columns]);
        }
        for group in &trees.groups {
            for (tile, scores) in scores.chunks_mut(LANES).enumerate() {
                let keys = &keys[tile * columns..][..columns];
                let mut sums = [0.0; LANES];
                sums[..scores.len()].copy_from_slice(scores);
                for tree in &trees.trees[group.clone()] {
                    add_tree(trees, tree, keys, &mut sums);
                    if trees.single {
                        // Equals a sum in f32: f64 has more than twice its digits.
                        sums.iter_mut().for_each(|sum| *sum = f64::from(*sum as f32));
                    }
                }
                scores.copy_from_slice(&sums[..scores.len()]);
            }
        }
    }
}

/// Computes the keys of up to `LANES` rows; the keys of other lanes have no meaning.
#[inline(always)]
fn fill(columns: &[KeyColumn], rows: &[f32], width: usize, keys: &mut [Keys]) {
    let lanes = rows.len() / width;
    for (column, keys) in columns.iter().zip(keys) {
        let mut values = [0.0; LANES];
        if lanes == LANES {
            for (lane, value) in values.iter_mut().enumerate() {
                *value = rows[lane * width + column.feature];
            }
        } else {
            for (value, row) in values.iter_mut().zip(rows.chunks(width)) {
                *value = row[column.feature];
            }
        }
        *keys = match &column.source {
            KeySource::Value(missing) => key::of_values(&values, *missing),
            KeySource::Categories { words, nan_left, fractions } => values.map(|value| {
                let number = f64::from(key::flushed(value));
                let left = if value.is_nan() { *nan_left } else { has_category(words, number, *fractions) };
                i32::from(!left)
            }),
        };
    }
}

/// Adds the values of one tree.
#[inline(always)]
fn add_tree(trees: &Compiled, tree: &CompiledTree, keys: &[Keys], sums: &mut [f64; LANES]) {
    match tree {
        CompiledTree::Single(value) => sums.iter_mut().for_each(|sum| *sum += value),
        CompiledTree::Small { branches, leaves } => {
            let left = clear(&trees.small[branches.clone()], keys);
            let leaves = &trees.leaves[leaves.clone()];
            sums.iter_mut().zip(left).for_each(|(sum, left)| *sum += leaves[left.trailing_zeros() as usize]);
        }
        CompiledTree::Middle { branches, leaves } => {
            let left = clear(&trees.middle[branches.clone()], keys);
            let leaves = &trees.leaves[leaves.clone()];
            sums.iter_mut().zip(left).for_each(|(sum, left)| *sum += leaves[left.trailing_zeros() as usize]);
        }
        CompiledTree::Large { steps, leaves } => {
            let ends = walk(&trees.large[steps.clone()], keys);
            let leaves = &trees.leaves[leaves.clone()];
            sums.iter_mut().zip(ends).for_each(|(sum, end)| *sum += leaves[end as usize]);
        }
    }
}

/// The leaves that no branch has cleared.
#[inline(always)]
fn clear<B: Leaves>(branches: &[Clearing<B>], keys: &[Keys]) -> [B; LANES] {
    let mut left = [B::ALL; LANES];
    for branch in branches {
        let keys = keys[branch.column as usize];
        for lane in 0..LANES {
            left[lane] = left[lane].without(branch.cleared, keys[lane] > branch.threshold);
        }
    }
    left
}

/// A set of leaves as bits.
trait Leaves: Copy {
    const ALL: Self;
    /// Removes the leaves `cleared` if `when` is true.
    fn without(self, cleared: Self, when: bool) -> Self;
}

impl Leaves for u32 {
    const ALL: Self = u32::MAX;

    #[inline(always)]
    fn without(self, cleared: Self, when: bool) -> Self {
        self & !(u32::from(when).wrapping_neg() & cleared)
    }
}

impl Leaves for u64 {
    const ALL: Self = u64::MAX;

    #[inline(always)]
    fn without(self, cleared: Self, when: bool) -> Self {
        self & !(u64::from(when).wrapping_neg() & cleared)
    }
}

/// The leaf steps that documents reach.
#[inline(always)]
fn walk(steps: &[Step], keys: &[Keys]) -> [u32; LANES] {
    let mut at = [0; LANES];
    loop {
        let mut moved = 0;
        for (lane, at) in at.iter_mut().enumerate() {
            let step = &steps[*at as usize];
            let next = step.next + u32::from(keys[step.column as usize][lane] > step.threshold);
            moved |= *at ^ next;
            *at = next;
        }
        if moved == 0 {
            return at;
        }
    }
}
