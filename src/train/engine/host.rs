//! Batches on the host's cores, or on a device by Burn's operations alone: no kernels, documents copied batch by batch.

use super::part::{self, PartContext, PartGradient};
use super::{Batches, Engine, Net, score_valid};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Ranker;
use crate::setting::GradientPath;
use crate::stop::Stop;
use crate::train::learner::{EpochStart, EpochTotals};
use crate::train::order::Order;
use burn::module::Module;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::Device;
use rayon::prelude::*;
use std::ops::Range;

/// The gradient of a batch as a sum over its parts, which depend on the data alone.
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
        Ok(Box::new(HostEpoch { context: PartContext::new(epoch, self.path, &self.device, 0), order, totals }))
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
        // A GPU is one worker that likes large batches; the host's cores are several that like their caches.
        let parted = context.path == GradientPath::Lambda && context.host;
        let parts = if parted { part::split(data, batch) } else { vec![batch] };
        if let [only] = parts[..] {
            let found = part::run(context, ranker, only, batch.len())?;
            totals.add(data, only, &found, batch.len());
            return Ok(Some(found.gradients));
        }
        // Each part has its own leaves: graphs that share a leaf also share a lock.
        let work: Vec<(&[usize], Ranker)> =
            parts.into_iter().map(|part| (part, ranker.clone().fork(context.device))).collect();
        let run =
            |(part, ranker): (_, Ranker)| part::run(context, &ranker, part, batch.len()).map(|found| (part, found));
        let found: Result<Vec<(&[usize], PartGradient)>> = work.into_par_iter().map(run).collect();
        let mut sum = GradientsAccumulator::new();
        for (part, found) in found? {
            totals.add(data, part, &found, batch.len());
            sum.accumulate(ranker, found.gradients);
        }
        Ok(Some(sum.grads()))
    }

    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)> {
        Ok((net, self.totals))
    }
}

impl EpochTotals {
    fn add(&mut self, data: &Dataset, queries: &[usize], found: &PartGradient, batch: usize) {
        self.loss += found.result.loss * batch as f64;
        self.pairs += found.result.pairs;
        self.saturated += found.result.saturated;
        self.keep_scores(data, queries, &found.scores);
    }
}
