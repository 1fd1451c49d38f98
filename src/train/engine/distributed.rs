//! Distributed batches: every process computes the gradient of its part of a batch, and all make the same update.

use super::team::Team;
use super::workspace::{EpochWork, Workspace};
use super::{Batches, Engine, Net, score_valid};
use crate::data::Dataset;
use crate::distributed::{doubles_of, of_doubles, range_of_rank};
use crate::error::{Error, Result};
use crate::model::Ranker;
use crate::stop::Stop;
use crate::train::average::Average;
use crate::train::descent::Descent;
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
        let workspace = Workspace::reuse(workspace, &net.ranker)?;
        Ok(Box::new(DistributedEpoch {
            average: net.average.clone().map(|average| average.packed(workspace.shape())),
            descent: Descent::of(epoch.config, workspace.shape(), &net.ranker, &net.optimizer),
            team: Team::new(),
            work: EpochWork::new(epoch, first),
            local: LocalPart {
                totals: EpochTotals::of_documents(epoch.data.n_documents()),
                of_shares: vec![ShareTotals::default(); shares.len()],
                first,
                first_share: shares.start,
            },
            epoch,
            device,
            workspace,
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
    device: &'e Device,
    order: &'e Order,
    /// Number of weights.
    width: usize,
    workspace: &'e mut Workspace,
    work: EpochWork<'e>,
    descent: Descent,
    /// Packed.
    average: Option<Average>,
    team: Team,
    local: LocalPart,
}

impl Batches for DistributedEpoch<'_> {
    fn gradient(&mut self, _: &Ranker, queries: Range<usize>, learning_rate: f64) -> Result<Option<GradientsParams>> {
        let Partition { member, tree, pattern, .. } = self.partition;
        let DistributedEpoch { epoch, workspace, work, team, local, order, descent, average, .. } = self;
        let batch = (&order[queries.clone()], &pattern[queries]);
        let sums = epoch.stop.check().and_then(|()| local.batch(workspace, team, work, batch));
        let sum = tree.sum(member, self.width, sums)?;
        workspace.replace_sum(&sum);
        workspace.update(team, descent, learning_rate);
        if let Some(average) = average {
            average.add(&workspace.weights);
        }
        Ok(None)
    }

    fn finish(self: Box<Self>, mut net: Net) -> Result<(Net, EpochTotals)> {
        net.ranker = self.workspace.ranker(self.device)?;
        let shape = self.workspace.shape();
        net.average = self.average.map(|average| average.unpacked(shape));
        self.descent.store(self.workspace.shape(), &net.ranker, &mut net.optimizer);
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
        workspace: &mut Workspace,
        team: &Team,
        work: &EpochWork<'_>,
        (queries, homes): (&[usize], &[u32]),
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); self.of_shares.len()];
        for (&query, &home) in queries.iter().zip(homes) {
            if let Some(held) = (home as usize).checked_sub(self.first_share).and_then(|share| held.get_mut(share)) {
                held.push(query - self.first);
            }
        }
        let mut sums = vec![None; self.of_shares.len()];
        for (share, held) in held.iter().enumerate().filter(|(_, held)| !held.is_empty()) {
            let result = workspace.gradient(team, work, held, queries.len(), &mut self.totals)?;
            let totals = &mut self.of_shares[share];
            totals.loss += result.loss;
            totals.pairs += result.pairs;
            totals.saturated += result.saturated;
            sums[share] = Some(workspace.sum());
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
