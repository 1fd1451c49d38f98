//! Sums over the pairs of a query with a score difference below the margin of 1, in O(n log n).
//!
//! C.-P. Lee, C.-J. Lin: Large-Scale Linear RankSVM (Neural Computation 2014) and T. Joachims: Training Linear SVMs in Linear
//! Time (KDD 2006): documents are visited in score order and counted in a tree over labels.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::numeric::order::compare;
use crate::stop::Stop;
use rayon::prelude::*;
use std::ops::Range;

/// The labels of all documents, as ranks among the labels of their query.
#[derive(Debug)]
pub(super) struct Margins<'a> {
    offsets: &'a [usize],
    levels: Vec<u32>,
    stop: &'a Stop,
}

/// Sums over the pairs of a document that are below the margin.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PairSums {
    /// Number of pairs in which it is the better document.
    pub better: f64,
    /// Sum of the values of the worse documents of these pairs.
    pub of_worse: f64,
    /// Number of pairs in which it is the worse document.
    pub worse: f64,
    /// Sum of the values of the better documents of these pairs.
    pub of_better: f64,
}

impl<'a> Margins<'a> {
    pub fn new(data: &'a Dataset, stop: &'a Stop) -> Self {
        let level = |labels: &[f32]| {
            let mut sorted = labels.to_vec();
            sorted.sort_unstable_by(f32::total_cmp);
            sorted.dedup();
            let place = |label: &f32| sorted.partition_point(|lower| lower < label) as u32;
            labels.iter().map(place).collect::<Vec<u32>>()
        };
        let levels = data.queries().flat_map(|query| level(query.labels)).collect();
        Margins { offsets: data.offsets(), levels, stop }
    }

    /// The documents of each query in descending order of scores.
    pub fn order(&self, scores: &[f64]) -> Result<Vec<u32>> {
        let mut order = vec![0; scores.len()];
        self.queries(&mut order).into_par_iter().try_for_each(|(rows, order)| {
            self.stop.check()?;
            let scores = &scores[rows];
            order.iter_mut().zip(0..).for_each(|(place, document)| *place = document);
            order.sort_unstable_by(|&a, &b| compare(scores[b as usize], scores[a as usize]).then(a.cmp(&b)));
            Ok::<(), Error>(())
        })?;
        Ok(order)
    }

    /// The sums of `values` for each document over the pairs below the margin by `scores`, with their `order`.
    pub fn sums(&self, scores: &[f64], order: &[u32], values: &[f64]) -> Result<Vec<PairSums>> {
        let mut sums = vec![PairSums::default(); scores.len()];
        let work = |tree: &mut Vec<[f64; 2]>, (rows, sums): (Range<usize>, &mut [PairSums])| {
            self.stop.check()?;
            let [order, levels] = [order, &self.levels].map(|list| &list[rows.clone()]);
            query_sums(&scores[rows.clone()], order, levels, &values[rows], sums, tree);
            Ok::<(), Error>(())
        };
        self.queries(&mut sums).into_par_iter().try_for_each_init(Vec::new, work)?;
        Ok(sums)
    }

    /// Returns the rows of each query and the corresponding part of `list`.
    fn queries<'b, T>(&self, mut list: &'b mut [T]) -> Vec<(Range<usize>, &'b mut [T])> {
        let mut queries = Vec::with_capacity(self.offsets.len());
        for pair in self.offsets.windows(2) {
            let (query, after) = list.split_at_mut(pair[1] - pair[0]);
            queries.push((pair[0]..pair[1], query));
            list = after;
        }
        queries
    }
}

/// Returns whether a pair is below the margin. Rounding is monotonic, so these pairs are contiguous in score order.
fn is_below(better: f64, worse: f64) -> bool {
    1.0 - (better - worse) > 0.0
}

/// The sums of one query; `tree` is a buffer.
fn query_sums(
    scores: &[f64],
    order: &[u32],
    levels: &[u32],
    values: &[f64],
    sums: &mut [PairSums],
    tree: &mut Vec<[f64; 2]>,
) {
    let Some(&top) = levels.iter().max().filter(|&&top| top > 0) else { return };
    // In descending score order, each document with the worse ones that are not far enough below it.
    tree.clear();
    tree.resize(top as usize + 2, [0.0; 2]);
    let mut others = order.iter().map(|&other| other as usize).peekable();
    for &document in order.iter() {
        let document = document as usize;
        while let Some(other) = others.next_if(|&other| is_below(scores[document], scores[other])) {
            count(tree, levels[other], values[other]);
        }
        [sums[document].better, sums[document].of_worse] = below(tree, levels[document]);
    }
    // In ascending score order, each document with the better ones that are not far enough above it.
    tree.fill([0.0; 2]);
    let mut others = order.iter().rev().map(|&other| other as usize).peekable();
    for &document in order.iter().rev() {
        let document = document as usize;
        while let Some(other) = others.next_if(|&other| is_below(scores[other], scores[document])) {
            count(tree, top - levels[other], values[other]);
        }
        [sums[document].worse, sums[document].of_better] = below(tree, top - levels[document]);
    }
}

/// Adds a document to a Fenwick tree of counts and sums.
fn count(tree: &mut [[f64; 2]], level: u32, value: f64) {
    let mut node = level as usize + 1;
    while node < tree.len() {
        tree[node][0] += 1.0;
        tree[node][1] += value;
        node += node & node.wrapping_neg();
    }
}

/// Count and sum of all lower levels.
fn below(tree: &[[f64; 2]], level: u32) -> [f64; 2] {
    let (mut node, mut sum) = (level as usize, [0.0; 2]);
    while node > 0 {
        sum = [sum[0] + tree[node][0], sum[1] + tree[node][1]];
        node &= node - 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_match_brute_force() {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 24) as f64;
        let sizes = [1, 2, 3, 10, 40];
        let documents: usize = sizes.iter().sum();
        for levels in [1, 2, 5, 30] {
            let labels: Vec<f32> = (0..documents).map(|i| (random(i + 50) * levels as f64).floor() as f32).collect();
            // Many scores are equal, and many are exactly a margin apart.
            let scores: Vec<f64> = (0..documents).map(|i| (random(i) * 16.0).floor() / 4.0).collect();
            let values: Vec<f64> = (0..documents).map(|i| (random(i + 99) * 64.0).floor()).collect();
            let ids = sizes.iter().enumerate().map(|(i, &size)| (i.to_string(), size)).collect();
            let data = Dataset::new(1, vec![0.0; documents], labels.clone(), ids).unwrap();
            let stop = Stop::new();
            let margins = Margins::new(&data, &stop);
            let sums = margins.sums(&scores, &margins.order(&scores).unwrap(), &values).unwrap();
            let mut expected = vec![PairSums::default(); documents];
            for rows in data.offsets().windows(2).map(|pair| pair[0]..pair[1]) {
                for (i, j) in rows.clone().flat_map(|i| rows.clone().map(move |j| (i, j))) {
                    if labels[i] > labels[j] && is_below(scores[i], scores[j]) {
                        expected[i].better += 1.0;
                        expected[i].of_worse += values[j];
                        expected[j].worse += 1.0;
                        expected[j].of_better += values[i];
                    }
                }
            }
            assert_eq!(sums, expected, "{levels} levels");
        }
    }
}
