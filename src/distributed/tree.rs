//! Sums over shares by a fixed binary tree, whose bits do not depend on the number of processes.
//!
//! sum(a..b) = sum(a..m) + sum(m..b), m = (a + b) / 2, down to single shares. Each process sums the largest ranges of
//! the tree within its shares, a single one for equal halves, quarters and so on. These nodes are exchanged, and all
//! processes sum the rest of the tree in the same way. Small sums are gathered whole; for large ones every process sums
//! one slice, so that no process receives more than about two sums, whatever their number.

use super::{Member, range_of_rank};
use crate::error::{Error, Result};
use std::ops::Range;

/// Minimum size of a sum that is computed in slices.
const SLICED: usize = 1 << 14;

/// The tree over a number of shares, and the nodes of each process.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    shares: usize,
    /// The nodes of each process, in the order of ranks.
    nodes: Vec<Vec<Range<usize>>>,
}

impl Tree {
    /// The tree over `shares` shares of `size` processes.
    pub fn new(shares: usize, size: usize) -> Self {
        let nodes = (0..size).map(|rank| {
            let mut nodes = Vec::new();
            cover(0..shares, &range_of_rank(shares, rank, size), &mut nodes);
            nodes
        });
        Tree { shares, nodes: nodes.collect() }
    }

    /// The sum over all shares of `width` numbers each; `local` are those of this process's shares, `None` for zeros.
    ///
    /// # Errors
    /// That of `local`, in all processes, as in [`Member::all_gather`].
    pub fn sum(&self, member: &Member, width: usize, local: Result<Vec<Option<Vec<f32>>>>) -> Result<Vec<f32>> {
        let first = range_of_rank(self.shares, member.rank(), member.size()).start;
        let sums = local.map(|mut local| {
            let mut leaf = |range: &Range<usize>| {
                (range.len() == 1).then(|| local[range.start - first].take()).map(or_zeros(width))
            };
            self.nodes[member.rank()].iter().map(|node| fold(node, &mut leaf)).collect::<Vec<_>>()
        });
        if member.size() == 1 {
            return sums.map(|mut sums| sums.pop().unwrap_or_else(|| vec![0.0; width]));
        }
        let (status, sums) = match sums {
            Ok(sums) => (Ok(()), sums),
            Err(error) => (Err(error), vec![vec![0.0; width]; self.nodes[member.rank()].len()]),
        };
        if member.size() > 2 && width >= SLICED {
            return self.sliced(member, width, status, &sums);
        }
        let all = self.swap(member, status, &sums, width)?;
        Ok(self.rest(&all, width))
    }

    /// Gathers all nodes, each preceded by a word that signals a failure.
    fn swap(&self, member: &Member, status: Result<()>, sums: &[Vec<f32>], width: usize) -> Result<Vec<u32>> {
        let mut local = vec![u32::from(status.is_err())];
        local.extend(sums.iter().flatten().map(|value| value.to_bits()));
        let lengths: Vec<usize> = self.nodes.iter().map(|nodes| 1 + nodes.len() * width).collect();
        let mut all = vec![0; lengths.iter().sum()];
        member.group().gather(&local, &lengths, &mut all)?;
        check(member, status, &lengths, &all)?;
        Ok(all)
    }

    /// Computes [`Tree::sum`] in slices, one per process.
    fn sliced(&self, member: &Member, width: usize, status: Result<()>, sums: &[Vec<f32>]) -> Result<Vec<f32>> {
        let size = member.size();
        let slice = |rank: usize| range_of_rank(width, rank, size);
        let mut out = Vec::with_capacity(size + sums.len() * width);
        let mut out_lengths = Vec::with_capacity(size);
        for rank in 0..size {
            out.push(u32::from(status.is_err()));
            sums.iter().for_each(|sum| out.extend(sum[slice(rank)].iter().map(|value| value.to_bits())));
            out_lengths.push(1 + sums.len() * slice(rank).len());
        }
        let local = slice(member.rank()).len();
        let lengths: Vec<usize> = self.nodes.iter().map(|nodes| 1 + nodes.len() * local).collect();
        let mut all = vec![0; lengths.iter().sum()];
        member.group().exchange(&out, &out_lengths, &mut all, &lengths)?;
        check(member, status, &lengths, &all)?;
        let local: Vec<u32> = self.rest(&all, local).into_iter().map(f32::to_bits).collect();
        let lengths: Vec<usize> = (0..size).map(|rank| slice(rank).len()).collect();
        let mut all = vec![0; width];
        member.group().gather(&local, &lengths, &mut all)?;
        Ok(all.into_iter().map(f32::from_bits).collect())
    }

    /// Sums the tree above all nodes, which are in `all` after one word of each process.
    fn rest(&self, all: &[u32], width: usize) -> Vec<f32> {
        let mut places = Vec::new();
        let mut at = 0;
        for nodes in &self.nodes {
            at += 1;
            for node in nodes {
                places.push((node, at));
                at += width;
            }
        }
        let mut node = |range: &Range<usize>| {
            let (_, at) = places.iter().find(|(node, _)| *node == range)?;
            Some(all[*at..at + width].iter().map(|&word| f32::from_bits(word)).collect())
        };
        fold(&(0..self.shares), &mut node)
    }
}

/// Fails in all processes if one has failed, which the first word of each signals.
fn check(member: &Member, status: Result<()>, lengths: &[usize], all: &[u32]) -> Result<()> {
    let mut at = 0;
    let firsts = lengths.iter().map(|length| {
        at += length;
        all[at - length]
    });
    if firsts.sum::<u32>() == 0 {
        return Ok(());
    }
    member.agree(status).and(Err(Error::Stopped))
}

fn or_zeros(width: usize) -> impl Fn(Option<Vec<f32>>) -> Vec<f32> {
    move |sum| sum.unwrap_or_else(|| vec![0.0; width])
}

/// Collects the largest nodes below `node` that are within `local`.
fn cover(node: Range<usize>, local: &Range<usize>, nodes: &mut Vec<Range<usize>>) {
    if node.start >= local.end || node.end <= local.start {
        return;
    }
    if local.start <= node.start && node.end <= local.end {
        nodes.push(node);
        return;
    }
    let middle = (node.start + node.end) / 2;
    cover(node.start..middle, local, nodes);
    cover(middle..node.end, local, nodes);
}

/// The sum of a node: `known` if it has it, else the sum of both halves.
fn fold(node: &Range<usize>, known: &mut impl FnMut(&Range<usize>) -> Option<Vec<f32>>) -> Vec<f32> {
    if let Some(sum) = known(node) {
        return sum;
    }
    let middle = (node.start + node.end) / 2;
    let mut sum = fold(&(node.start..middle), known);
    let right = fold(&(middle..node.end), known);
    sum.iter_mut().zip(right).for_each(|(sum, right)| *sum += right);
    sum
}

#[cfg(test)]
mod tests {
    use super::super::threads::each;
    use super::*;

    fn value(share: usize, place: usize) -> f32 {
        let random = ((share * 31 + place) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (random as f32 - 8e6) * [1.0, 1e-6, 1e7][place % 3]
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn sums_do_not_depend_on_the_number_of_processes() {
        for (shares, width) in [(8, 5), (8, SLICED + 3), (5, 7), (1, 2)] {
            let sums = |size: usize| {
                let tree = Tree::new(shares, size);
                let of_share = |share| (share != 3).then(|| (0..width).map(|place| value(share, place)).collect());
                each(size, |member| {
                    let local = range_of_rank(shares, member.rank(), size).map(of_share).collect();
                    bits(&tree.sum(member, width, Ok(local)).unwrap())
                })
            };
            let expected = sums(1).remove(0);
            for size in [2, 3, 4, 7, 9] {
                assert!(sums(size).iter().all(|sum| *sum == expected), "{shares} shares, {width} wide, {size} members");
            }
        }
    }

    #[test]
    fn an_error_in_one_process_is_an_error_in_all() {
        for width in [4, SLICED] {
            let tree = Tree::new(8, 3);
            let errors = each(3, |member| {
                let local = match member.rank() {
                    2 => Err(Error::Data("no memory".into())),
                    rank => Ok(range_of_rank(8, rank, 3).map(|_| Some(vec![1.0; width])).collect()),
                };
                tree.sum(member, width, local).unwrap_err().to_string()
            });
            assert_eq!(errors, ["process 2 of 3: no memory", "process 2 of 3: no memory", "no memory"]);
        }
    }

    #[test]
    fn equal_parts_are_one_node_each() {
        assert!(Tree::new(8, 4).nodes.iter().all(|nodes| nodes.len() == 1));
        let ends = |nodes: &Vec<Range<usize>>| nodes.iter().map(|node| (node.start, node.end)).collect::<Vec<_>>();
        let nodes: Vec<_> = Tree::new(8, 3).nodes.iter().map(ends).collect();
        assert_eq!(nodes, [vec![(0, 2)], vec![(2, 4), (4, 5)], vec![(5, 6), (6, 8)]]);
    }
}
