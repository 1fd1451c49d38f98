//! Distributed batches: every process computes the gradient of its part of a batch, and all make the same update.

use super::work::FusedEpoch;
use super::workspace::Workspace;
use super::{Batches, Engine, Net, score_valid};
use crate::data::Dataset;
use crate::distributed::{doubles_of, of_doubles, range_of_rank};
use crate::error::{Error, Result};
use crate::model::Ranker;
use crate::stop::Stop;
use crate::train::distributed::Partition;
use crate::train::learner::{EpochStart, EpochTotals};
use crate::train::order::Order;
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use std::ops::Range;

/// Sums the gradient of a batch over shares by a fixed tree, independent of the number of processes.
pub(super) struct Distributed {
    partition: Partition,
    device: Device,
    workspace: Option<Workspace>,
}

impl Distributed {
    pub fn new(partition: &Partition, device: &Device) -> Self {
        Distributed { partition: partition.clone(), device: device.clone(), workspace: None }
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
        let Distributed { partition, device, workspace } = self;
        let width = net.ranker.num_params();
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
            state: FusedEpoch::begin(epoch, (net, device), workspace, first)?,
            of_shares: vec![ShareTotals::default(); shares.len()],
            first,
            first_share: shares.start,
            epoch,
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
    epoch: &'e EpochStart<'e>,
    order: &'e Order,
    /// Number of weights.
    width: usize,
    state: FusedEpoch<'e>,
    of_shares: Vec<ShareTotals>,
    /// First query of this process.
    first: usize,
    /// First share of this process.
    first_share: usize,
}

impl Batches for DistributedEpoch<'_> {
    fn gradient(&mut self, _: &Ranker, queries: Range<usize>, learning_rate: f64) -> Result<Option<GradientsParams>> {
        let Partition { member, tree, pattern, .. } = self.partition;
        let order = self.order;
        let batch = (&order[queries.clone()], &pattern[queries]);
        let sums = self.epoch.stop.check().and_then(|()| self.shares(batch));
        let sum = tree.sum(member, self.width, sums)?;
        self.state.workspace.replace_sum(&sum);
        self.state.update(learning_rate);
        Ok(None)
    }

    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)> {
        let DistributedEpoch { partition, state, of_shares, .. } = *self;
        let (net, mut totals) = state.finish(net)?;
        add_shares(&mut totals, &of_shares, partition)?;
        Ok((net, totals))
    }
}

/// Sums over the queries of one share.
#[derive(Default, Clone, Copy)]
struct ShareTotals {
    loss: f64,
    pairs: u64,
    saturated: u64,
}

impl DistributedEpoch<'_> {
    /// The gradient of a batch for each share of this process; `None` for shares without a query in the batch.
    fn shares(&mut self, (queries, homes): (&[usize], &[u32])) -> Result<Vec<Option<Vec<f32>>>> {
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); self.of_shares.len()];
        for (&query, &home) in queries.iter().zip(homes) {
            if let Some(held) = (home as usize).checked_sub(self.first_share).and_then(|share| held.get_mut(share)) {
                held.push(query - self.first);
            }
        }
        let mut sums = vec![None; self.of_shares.len()];
        for (share, held) in held.iter().enumerate().filter(|(_, held)| !held.is_empty()) {
            let result = self.state.gradient(held, queries.len())?;
            let totals = &mut self.of_shares[share];
            totals.loss += result.loss;
            totals.pairs += result.pairs;
            totals.saturated += result.saturated;
            sums[share] = Some(self.state.workspace.sum());
        }
        Ok(sums)
    }
}

/// Adds the totals of the shares of all processes, in the order of shares.
fn add_shares(totals: &mut EpochTotals, own: &[ShareTotals], partition: &Partition) -> Result<()> {
    let numbers = |share: &ShareTotals| [share.loss.to_bits(), share.pairs, share.saturated];
    let local = of_doubles(own.iter().flat_map(numbers));
    let all: Vec<u64> = doubles_of(&partition.member.all_gather(Ok(local))?.concat()).collect();
    for &[loss, pairs, saturated] in all.as_chunks().0 {
        totals.loss += f64::from_bits(loss);
        totals.pairs += pairs;
        totals.saturated += saturated;
    }
    Ok(())
}
