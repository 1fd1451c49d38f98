//! Distributed batches: every process computes the gradient of its part of a batch, and all make the same update.

use super::part::{self, PartContext, PartGradient};
use super::{Batches, Engine, Net, flat, score_valid};
use crate::data::Dataset;
use crate::distributed::{doubles_of, of_doubles, range_of_rank};
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

/// Sums the gradient of a batch over shares by a fixed tree, independent of the number of processes.
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
        // From here to the end of the epoch only gradients are exchanged: all processes must be here with the same
        // sizes.
        let batches = order.len().div_ceil(epoch.config.batch_queries);
        let facts = [("epoch", epoch.number), ("batches", batches), ("weights", width)];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_string()));
        let facts = epoch.stop.check().map(|()| facts.to_vec());
        partition.member.same(Error::Mismatch, "give all processes the same files and settings", facts)?;
        let shares = range_of_rank(partition.shares(), partition.member.rank(), partition.member.size());
        let first = partition.local(0).start;
        Ok(Box::new(DistributedEpoch {
            local: LocalPart {
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

/// One epoch. Its scores are those of this process's queries; the other totals are over all processes.
struct DistributedEpoch<'e> {
    partition: &'e Partition,
    context: PartContext<'e>,
    order: &'e Order,
    /// Number of weights.
    width: usize,
    local: LocalPart,
}

impl Batches for DistributedEpoch<'_> {
    fn gradient(&mut self, ranker: &Ranker, queries: Range<usize>, _: f64) -> Result<Option<GradientsParams>> {
        let Partition { member, tree, pattern, .. } = self.partition;
        let local = self.local.batch(&self.context, ranker, (&self.order[queries.clone()], &pattern[queries]));
        let sum = tree.sum(member, self.width, local)?;
        Ok(Some(flat::gradients(ranker, &sum, &self.context.device.clone().without_autodiff())))
    }

    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)> {
        Ok((net, self.local.totals(self.partition)?))
    }
}

/// Sums over the queries of one share.
#[derive(Default, Clone, Copy)]
struct ShareTotals {
    loss: f64,
    pairs: u64,
    saturated: u64,
}

/// One process's part of an epoch.
struct LocalPart {
    totals: EpochTotals,
    of_shares: Vec<ShareTotals>,
    /// First query of this process.
    first: usize,
    /// First share of this process.
    first_share: usize,
}

impl LocalPart {
    /// The gradient of a batch for each share of this process; `None` for shares without a query in the batch.
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
            let PartGradient { gradients, result, scores } = part::run(context, ranker, &part, queries.len())?;
            Ok((share, part, result, scores, flat::flat(ranker, gradients)?))
        };
        let gradients: Vec<Result<_>> = if work.len() == 1 || rayon::current_num_threads() == 1 {
            work.into_iter().map(|part| run(ranker, part)).collect()
        } else {
            // Each thread gets its own leaves: graphs that share a leaf also share a lock.
            let fork = || ranker.clone().fork(context.device);
            work.into_par_iter().map_init(fork, |ranker, part| run(ranker, part)).collect()
        };
        let mut sums: Vec<Option<Vec<f32>>> = vec![None; self.of_shares.len()];
        for part in gradients {
            let (share, part, result, scores, gradient) = part?;
            let totals = &mut self.of_shares[share];
            totals.loss += result.loss * queries.len() as f64;
            totals.pairs += result.pairs;
            totals.saturated += result.saturated;
            self.totals.keep_scores(context.epoch.data, &part, &scores);
            match &mut sums[share] {
                Some(sum) => sum.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient),
                none => *none = Some(gradient),
            }
        }
        Ok(sums)
    }

    /// The totals of all processes, summed in the order of shares.
    fn totals(mut self, partition: &Partition) -> Result<EpochTotals> {
        let numbers = |share: &ShareTotals| [share.loss.to_bits(), share.pairs, share.saturated];
        let local = of_doubles(self.of_shares.iter().flat_map(numbers));
        let all: Vec<u64> = doubles_of(&partition.member.all_gather(Ok(local))?.concat()).collect();
        for &[loss, pairs, saturated] in all.as_chunks().0 {
            self.totals.loss += f64::from_bits(loss);
            self.totals.pairs += pairs;
            self.totals.saturated += saturated;
        }
        Ok(self.totals)
    }
}

/// Splits the queries of a share into parts that can be computed in parallel.
fn parts(data: &Dataset, share: usize, queries: &[usize]) -> Vec<(usize, Vec<usize>)> {
    if queries.is_empty() {
        return Vec::new();
    }
    part::split(data, queries).into_iter().map(|part| (share, part.to_vec())).collect()
}
