//! One epoch over shares: every process computes what it holds of a batch, and all make the same step.

use super::{Partition, flat};
use crate::data::Dataset;
use crate::distributed::{doubles_of, of_doubles, owned};
use crate::error::{Error, Result};
use crate::model::Ranker;
use crate::train::epoch::RunContext;
use crate::train::learner::EpochTotals;
use crate::train::part::{self, PartGradient};
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use rayon::prelude::*;

/// What an epoch adds up over the queries of one share.
#[derive(Default, Clone, Copy)]
struct ShareTotals {
    loss: f64,
    pairs: u64,
    saturated: u64,
}

/// Visits all queries once and steps after each batch, by sizes from the first to the last. Scores are those of the queries
/// that this process holds; the other totals are those of all.
///
/// # Errors
/// The same for all processes: when one of them fails, is gone, or was asked to stop.
pub(in crate::train) fn run(
    context: &RunContext<'_>,
    partition: &Partition,
    mut ranker: Ranker,
    optimizer: &mut ModuleOptimizer,
    number: u64,
    [first, last]: [f64; 2],
    seed: u64,
) -> Result<(Ranker, EpochTotals)> {
    let config = context.config;
    let order = partition.order(config.seed, number);
    let (width, device) = (flat::width(&ranker), context.device.clone().without_autodiff());
    // Nothing but batches is exchanged from here to the end, so that all must be here, with as many numbers to add up.
    let facts =
        [("epoch", number as usize), ("batches", order.len().div_ceil(config.batch_queries)), ("weights", width)];
    let facts = facts.map(|(name, value)| (name.to_owned(), value.to_string()));
    let own = context.stop.check().map(|()| facts.to_vec());
    partition.member.same(Error::Mismatch, "give all processes the same files and settings", own)?;
    let shares = owned(partition.shares(), partition.member.rank(), partition.member.size());
    let mut epoch = OwnPart {
        totals: EpochTotals { scores: vec![0.0; context.data.n_documents()], ..EpochTotals::default() },
        of_shares: vec![ShareTotals::default(); shares.len()],
        first: partition.own(0).start,
        first_share: shares.start,
    };
    let batches = order.chunks(config.batch_queries).zip(partition.pattern.chunks(config.batch_queries));
    let count = batches.len() as f64;
    for (place, (queries, homes)) in batches.enumerate() {
        let own = epoch.batch(context, &ranker, (queries, homes), seed);
        let sum = partition.tree.sum(&partition.member, width, own)?;
        let gradients = flat::gradients(&ranker, &sum, &device);
        let step_size = first + (last - first) * (place as f64 / count);
        ranker = optimizer.step(step_size, ranker, gradients);
    }
    let totals = epoch.joined(partition)?;
    Ok((ranker, totals))
}

/// What one process has of an epoch.
struct OwnPart {
    totals: EpochTotals,
    of_shares: Vec<ShareTotals>,
    /// The first query, and the first share, that it holds.
    first: usize,
    first_share: usize,
}

impl OwnPart {
    /// The gradients of a batch by the process's own shares; nothing where the batch has no query of a share.
    fn batch(
        &mut self,
        context: &RunContext<'_>,
        ranker: &Ranker,
        (queries, homes): (&[usize], &[u32]),
        seed: u64,
    ) -> Result<Vec<Option<Vec<f32>>>> {
        context.stop.check()?;
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); self.of_shares.len()];
        for (&query, &home) in queries.iter().zip(homes) {
            if let Some(held) = (home as usize).checked_sub(self.first_share).and_then(|share| held.get_mut(share)) {
                held.push(query - self.first);
            }
        }
        let parts = |(share, queries): (usize, &Vec<usize>)| parts(context.data, share, queries);
        let work: Vec<(usize, Vec<usize>)> = held.iter().enumerate().flat_map(parts).collect();
        let run = |ranker: &Ranker, (share, part): (usize, Vec<usize>)| {
            let found = part::run(context, ranker, &part, queries.len(), seed)?;
            let PartGradient { gradients, result, scores } = found;
            Ok((share, part, result, scores, flat::flat(ranker, gradients)?))
        };
        let found: Vec<Result<_>> = if work.len() == 1 || rayon::current_num_threads() == 1 {
            work.into_iter().map(|part| run(ranker, part)).collect()
        } else {
            // Each thread has leaves of its own: graphs that share a leaf also share one lock.
            let fork = || ranker.clone().fork(context.device);
            work.into_par_iter().map_init(fork, |ranker, part| run(ranker, part)).collect()
        };
        let mut sums: Vec<Option<Vec<f32>>> = vec![None; self.of_shares.len()];
        for part in found {
            let (share, part, result, scores, gradient) = part?;
            let totals = &mut self.of_shares[share];
            totals.loss += result.loss * queries.len() as f64;
            totals.pairs += result.pairs;
            totals.saturated += result.saturated;
            self.totals.keep_scores(context.data, &part, &scores);
            match &mut sums[share] {
                Some(sum) => sum.iter_mut().zip(gradient).for_each(|(sum, slope)| *sum += slope),
                none => *none = Some(gradient),
            }
        }
        Ok(sums)
    }

    /// With the totals of all shares, added up in their order.
    fn joined(mut self, partition: &Partition) -> Result<EpochTotals> {
        let numbers = |share: &ShareTotals| [share.loss.to_bits(), share.pairs, share.saturated];
        let own = of_doubles(self.of_shares.iter().flat_map(numbers));
        let all: Vec<u64> = doubles_of(&partition.member.share(Ok(own))?.concat()).collect();
        for &[loss, pairs, saturated] in all.as_chunks().0 {
            self.totals.loss += f64::from_bits(loss);
            self.totals.pairs += pairs;
            self.totals.saturated += saturated;
        }
        Ok(self.totals)
    }
}

/// The queries of a share in parts that can be worked on side by side.
fn parts(data: &Dataset, share: usize, queries: &[usize]) -> Vec<(usize, Vec<usize>)> {
    if queries.is_empty() {
        return Vec::new();
    }
    part::split(data, queries).into_iter().map(|part| (share, part.to_vec())).collect()
}
