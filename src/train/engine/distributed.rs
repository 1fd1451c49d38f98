//! Batches over shares: every process computes what it holds of a batch, and all make the same update.

use super::part::{self, PartContext, PartGradient};
use super::{Batches, Engine, Net, flat, score_valid};
use crate::data::Dataset;
use crate::distributed::{doubles_of, of_doubles, owned};
use crate::error::{Error, Result};
use crate::model::Ranker;
use crate::setting::GradientPath;
use crate::stop::Stop;
use crate::train::distributed::Partition;
use crate::train::learner::{EpochStart, EpochTotals};
use crate::train::order::Order;
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use rayon::prelude::*;
use std::ops::Range;

/// The gradient of a batch as a sum over shares, added up by a fixed tree whatever the number of processes.
pub(super) struct Distributed {
    partition: Partition,
    path: GradientPath,
    device: Device,
}

impl Distributed {
    pub fn new(partition: &Partition, path: GradientPath, device: &Device) -> Self {
        Distributed { partition: partition.clone(), path, device: device.clone() }
    }
}

impl Engine for Distributed {
    fn order(&self, epoch: &EpochStart<'_>) -> Order {
        Order::of(self.partition.order(epoch.config.seed, epoch.number as u64))
    }

    fn begin<'e>(
        &'e mut self,
        epoch: &'e EpochStart<'_>,
        order: &'e Order,
        net: &Net,
    ) -> Result<Box<dyn Batches + 'e>> {
        let (partition, width) = (&self.partition, net.ranker.num_params());
        // Nothing but batches is exchanged from here to the end, so that all must be here, with as many numbers to add up.
        let batches = order.len().div_ceil(epoch.config.batch_queries);
        let facts = [("epoch", epoch.number), ("batches", batches), ("weights", width)];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_string()));
        let own = epoch.stop.check().map(|()| facts.to_vec());
        partition.member.same(Error::Mismatch, "give all processes the same files and settings", own)?;
        let shares = owned(partition.shares(), partition.member.rank(), partition.member.size());
        let first = partition.own(0).start;
        Ok(Box::new(DistributedEpoch {
            own: OwnPart {
                totals: EpochTotals::of_documents(epoch.data.n_documents()),
                of_shares: vec![ShareTotals::default(); shares.len()],
                first,
                first_share: shares.start,
            },
            context: PartContext::new(epoch, self.path, &self.device, first),
            partition,
            order,
            width,
        }))
    }

    fn score_valid(&mut self, ranker: &Ranker, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        score_valid(ranker, valid, stop, &self.device)
    }
}

/// One epoch. Its scores are those of the queries that this process holds; the other totals are those of all.
struct DistributedEpoch<'e> {
    partition: &'e Partition,
    context: PartContext<'e>,
    order: &'e Order,
    /// Number of weights.
    width: usize,
    own: OwnPart,
}

impl Batches for DistributedEpoch<'_> {
    fn gradient(&mut self, ranker: &Ranker, queries: Range<usize>, _: f64) -> Result<Option<GradientsParams>> {
        let Partition { member, tree, pattern, .. } = self.partition;
        let own = self.own.batch(&self.context, ranker, (&self.order[queries.clone()], &pattern[queries]));
        let sum = tree.sum(member, self.width, own)?;
        Ok(Some(flat::gradients(ranker, &sum, &self.context.device.clone().without_autodiff())))
    }

    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)> {
        Ok((net, self.own.joined(self.partition)?))
    }
}

/// What an epoch adds up over the queries of one share.
#[derive(Default, Clone, Copy)]
struct ShareTotals {
    loss: f64,
    pairs: u64,
    saturated: u64,
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
        context: &PartContext<'_>,
        ranker: &Ranker,
        (queries, homes): (&[usize], &[u32]),
    ) -> Result<Vec<Option<Vec<f32>>>> {
        context.epoch.stop.check()?;
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); self.of_shares.len()];
        for (&query, &home) in queries.iter().zip(homes) {
            if let Some(held) = (home as usize).checked_sub(self.first_share).and_then(|share| held.get_mut(share)) {
                held.push(query - self.first);
            }
        }
        let parts = |(share, queries): (usize, &Vec<usize>)| parts(context.epoch.data, share, queries);
        let work: Vec<(usize, Vec<usize>)> = held.iter().enumerate().flat_map(parts).collect();
        let run = |ranker: &Ranker, (share, part): (usize, Vec<usize>)| {
            let found = part::run(context, ranker, &part, queries.len())?;
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
            self.totals.keep_scores(context.epoch.data, &part, &scores);
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
