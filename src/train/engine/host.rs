//! Batches by Burn's operations and autodiff alone: the tensor path, and devices without kernels, to which documents are copied
//! batch by batch.

use super::part::{self, PartContext};
use super::{Batches, Engine, Net, score_valid};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Ranker;
use crate::setting::GradientPath;
use crate::stop::Stop;
use crate::train::learner::{EpochStart, EpochTotals};
use crate::train::order::Order;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use std::ops::Range;

/// The gradient of a batch by autodiff.
pub(super) struct Host {
    path: GradientPath,
    device: Device,
}

impl Host {
    pub fn new(path: GradientPath, device: &Device) -> Self {
        Host { path, device: device.clone() }
    }
}

impl Engine for Host {
    fn begin<'e>(&'e mut self, epoch: &'e EpochStart<'_>, order: &'e Order, _: &Net) -> Result<Box<dyn Batches + 'e>> {
        let totals = EpochTotals::of_documents(epoch.data.n_documents());
        Ok(Box::new(HostEpoch { context: PartContext::new(epoch, self.path, &self.device), order, totals }))
    }

    fn score_valid(&mut self, ranker: &Ranker, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        score_valid(ranker, valid, stop, &self.device)
    }
}

struct HostEpoch<'e> {
    context: PartContext<'e>,
    order: &'e Order,
    totals: EpochTotals,
}

impl Batches for HostEpoch<'_> {
    fn gradient(&mut self, ranker: &Ranker, queries: Range<usize>, _: f64) -> Result<Option<GradientsParams>> {
        let HostEpoch { context, order, totals } = self;
        let data = context.epoch.data;
        context.epoch.stop.check()?;
        data.check_unchanged()?;
        order.reach(queries.start, data);
        let batch = &order[queries];
        let found = part::run(context, ranker, batch)?;
        totals.loss += found.result.loss * batch.len() as f64;
        totals.pairs += found.result.pairs;
        totals.saturated += found.result.saturated;
        totals.keep_scores(data, batch, &found.scores);
        Ok(Some(found.gradients))
    }

    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)> {
        Ok((net, self.totals))
    }
}
