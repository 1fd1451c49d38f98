//! Batches of linear and multilayer nets on the host: forward, lambdas, backward and update in one pass, without a graph.
//!
//! The gradient is that of the surrogate `(scores * lambdas).sum()`, as [`Ranker::forward`](crate::Ranker::forward) and
//! autodiff find it; without a graph a batch of one query takes a fraction of the time. Weights and the state of the optimiser
//! are taken from Burn's at the start of an epoch, and given back at its end.

use super::work::FusedEpoch;
use super::workspace::Workspace;
use super::{Batches, Engine, Net, score_valid};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Ranker;
use crate::stop::Stop;
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
        Ok(Box::new(Batched { state: FusedEpoch::begin(epoch, (net, device), workspace, 0)?, epoch, order }))
    }

    fn score_valid(&mut self, ranker: &Ranker, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        score_valid(ranker, valid, stop, &self.device)
    }
}

/// One epoch.
struct Batched<'e> {
    epoch: &'e EpochStart<'e>,
    order: &'e Order,
    state: FusedEpoch<'e>,
}

impl Batches for Batched<'_> {
    fn gradient(&mut self, _: &Ranker, queries: Range<usize>, learning_rate: f64) -> Result<Option<GradientsParams>> {
        let Batched { epoch, order, state } = self;
        epoch.stop.check()?;
        epoch.data.check_unchanged()?;
        order.reach(queries.start, epoch.data);
        let batch = &order[queries];
        let sum = state.gradient(batch, batch.len())?;
        state.totals.loss += sum.loss;
        state.totals.pairs += sum.pairs;
        state.totals.saturated += sum.saturated;
        state.update(learning_rate);
        Ok(None)
    }

    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)> {
        self.state.finish(net)
    }
}
