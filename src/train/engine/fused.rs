//! Batches of linear and multilayer nets on the host: forward, lambdas, backward and update in one pass, without a graph.
//!
//! The gradient is that of the surrogate `(scores * lambdas).sum()`, as [`Ranker::forward`](crate::Ranker::forward) and
//! autodiff find it; without a graph a batch of one query takes a fraction of the time. Weights and the state of the optimiser
//! are taken from Burn's at the start of an epoch, and given back at its end.

use super::team::Team;
use super::workspace::{EpochWork, Workspace};
use super::{Batches, Engine, Net, score_valid};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Ranker;
use crate::stop::Stop;
use crate::train::average::Average;
use crate::train::descent::Descent;
use crate::train::learner::{EpochStart, EpochTotals};
use crate::train::order::Order;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use std::ops::Range;

/// The lambda path on the host.
pub(super) struct Fused {
    device: Device,
    workspace: Option<Workspace>,
}

impl Fused {
    pub fn new(device: &Device) -> Self {
        Fused { device: device.clone(), workspace: None }
    }
}

impl Engine for Fused {
    fn begin<'e>(
        &'e mut self,
        epoch: &'e EpochStart<'_>,
        order: &'e Order,
        net: &Net,
    ) -> Result<Box<dyn Batches + 'e>> {
        let Fused { device, workspace } = self;
        let workspace = Workspace::reuse(workspace, &net.ranker)?;
        Ok(Box::new(FusedEpoch {
            average: net.average.clone().map(|average| average.packed(workspace.shape())),
            descent: Descent::of(epoch.config, workspace.shape(), &net.ranker, &net.optimizer),
            totals: EpochTotals::of_documents(epoch.data.n_documents()),
            work: EpochWork::new(epoch, 0),
            team: Team::new(),
            epoch,
            order,
            device,
            workspace,
        }))
    }

    fn score_valid(&mut self, ranker: &Ranker, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        score_valid(ranker, valid, stop, &self.device)
    }
}

struct FusedEpoch<'e> {
    epoch: &'e EpochStart<'e>,
    order: &'e Order,
    device: &'e Device,
    workspace: &'e mut Workspace,
    work: EpochWork<'e>,
    descent: Descent,
    /// Packed.
    average: Option<Average>,
    team: Team,
    totals: EpochTotals,
}

impl Batches for FusedEpoch<'_> {
    fn gradient(&mut self, _: &Ranker, queries: Range<usize>, learning_rate: f64) -> Result<Option<GradientsParams>> {
        let FusedEpoch { epoch, order, workspace, work, descent, average, team, totals, .. } = self;
        epoch.stop.check()?;
        epoch.data.check_unchanged()?;
        order.reach(queries.start, epoch.data);
        let batch = &order[queries];
        let sum = workspace.gradient(team, work, batch, batch.len(), totals)?;
        totals.loss += sum.loss;
        totals.pairs += sum.pairs;
        totals.saturated += sum.saturated;
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
        Ok((net, self.totals))
    }
}
