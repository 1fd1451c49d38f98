//! The distribution of a run's queries over shares, and of shares over processes.
//!
//! Training queries are split into shares: contiguous ranges with about the same number of documents, which depend only
//! on the data. Each process holds whole shares. An epoch visits the queries of all shares in turn, so that every batch
//! is balanced. The gradient of a batch is a sum over shares by a fixed tree, so that no bit depends on the number of
//! processes or threads.

mod evaluated;
#[cfg(test)]
mod tests;

pub(super) use evaluated::Evaluated;

use crate::data::Dataset;
use crate::distributed::{Member, Tree, range_of_rank, split_queries};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Assigns the queries of a run to shares and processes.
#[derive(Debug, Clone)]
pub(crate) struct Partition {
    pub member: Member,
    /// First training query of each share, followed by the number of queries.
    bounds: Vec<usize>,
    /// The share of the query at each position of an epoch's order.
    pub(super) pattern: Vec<u32>,
    pub(super) tree: Tree,
    /// Document offsets of all training and validation queries.
    offsets: [Vec<usize>; 2],
    /// The training and validation queries of each process.
    held: [Vec<Range<usize>>; 2],
}

impl Partition {
    /// Partitions training and validation queries with these document offsets into shares.
    pub fn new(member: Member, shares: usize, offsets: [&[usize]; 2]) -> Self {
        let (shares, size) = (shares.max(1), member.size());
        let bounds = split_queries(offsets[0], shares);
        let train = (0..size).map(|rank| {
            let shares = range_of_rank(shares, rank, size);
            bounds[shares.start]..bounds[shares.end]
        });
        let parts = split_queries(offsets[1], size);
        Partition {
            held: [train.collect(), parts.windows(2).map(|pair| pair[0]..pair[1]).collect()],
            pattern: pattern(&bounds),
            tree: Tree::new(shares, size),
            offsets: offsets.map(<[usize]>::to_vec),
            bounds,
            member,
        }
    }

    /// The partition of a single process.
    pub fn alone(shares: usize, train: &Dataset, valid: &Dataset) -> Self {
        Self::new(Member::alone(), shares, [train.offsets(), valid.offsets()])
    }

    /// The number of shares.
    pub fn shares(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The training (0) or validation (1) queries of this process.
    pub fn local(&self, set: usize) -> Range<usize> {
        self.held[set][self.member.rank()].clone()
    }

    /// The training documents of each process.
    pub fn rows(&self) -> Vec<Range<usize>> {
        let offsets = &self.offsets[0];
        self.held[0].iter().map(|queries| offsets[queries.start]..offsets[queries.end]).collect()
    }

    /// The order in which an epoch visits all training queries, shuffled by (seed, epoch).
    pub(super) fn order(&self, seed: u64, epoch: u64) -> Vec<usize> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(epoch);
        let mut queries: Vec<usize> = (0..self.pattern.len()).collect();
        self.bounds.windows(2).for_each(|share| queries[share[0]..share[1]].shuffle(&mut random));
        let mut next = self.bounds.clone();
        let visit = |&share: &u32| {
            let place = &mut next[share as usize];
            *place += 1;
            queries[*place - 1]
        };
        self.pattern.iter().map(visit).collect()
    }
}

/// Interleaves the shares, each at equal distances: the k-th of n queries of a share is at (k + u) / n, where u is the
/// share's rank by reversed bits. Neighbouring shares, which the same process holds, are thus far apart.
fn pattern(bounds: &[usize]) -> Vec<u32> {
    let shares = bounds.len() - 1;
    let bits = usize::BITS - (shares - 1).leading_zeros();
    let reversed = |share: usize| if bits == 0 { 0 } else { share.reverse_bits() >> (usize::BITS - bits) };
    let mut turns: Vec<usize> = (0..shares).collect();
    turns.sort_by_key(|&share| reversed(share));
    let mut places = Vec::with_capacity(bounds[shares]);
    for (turn, &share) in turns.iter().enumerate() {
        let queries = (bounds[share + 1] - bounds[share]) as u128;
        let denominator = queries * shares as u128;
        places.extend((0..queries).map(|k| (k * shares as u128 + turn as u128, denominator, turn, share as u32)));
    }
    places.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)).then(a.2.cmp(&b.2)));
    places.into_iter().map(|place| place.3).collect()
}
