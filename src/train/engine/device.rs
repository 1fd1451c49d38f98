//! Batches on a GPU: features, lambdas and updates stay on the device; scores and sums are copied back once per epoch.

use super::feed::{EpochFeed, Feed};
use super::{Batches, Engine, Net};
use crate::data::Dataset;
use crate::device::Transfers;
use crate::device::cube::Cube;
use crate::error::Result;
use crate::model::{NarrowNet, Ranker};
use crate::objective::device::{DeviceEpoch, DeviceLambdas};
use crate::setting::GradientPath;
use crate::stop::Stop;
use crate::train::learner::{EpochStart, EpochTotals};
use crate::train::order::Order;
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Maximum time that the host runs ahead of the device, so that a run can be stopped within a second.
const AHEAD: Duration = Duration::from_millis(250);

/// The engine of a GPU: training queries on the device, and validation queries once they are first scored.
pub(super) struct OnDevice {
    cube: Cube,
    lambdas: DeviceLambdas,
    train: Feed,
    valid: Option<Feed>,
}

impl OnDevice {
    /// Copies the training queries to the device; `None` if epochs cannot stay there: on the host, and if the objective
    /// has no kernels.
    ///
    /// # Errors
    /// If a label is too high for the objective, or there are too many documents.
    pub fn of(epoch: &EpochStart<'_>, path: GradientPath, device: &Device) -> Result<Option<Self>> {
        let EpochStart { config, data, .. } = *epoch;
        if path != GradientPath::Lambda || epoch.targets.is_some() || !config.objective.has_kernels() {
            return Ok(None);
        }
        let Some(cube) = Cube::of(device) else { return Ok(None) };
        let lambdas = DeviceLambdas::new(&config.objective, data.labels(), data.offsets(), &cube)?;
        Ok(lambdas.map(|lambdas| OnDevice { lambdas, train: Feed::new(&cube, data), valid: None, cube }))
    }

    /// The gradients of all weights for a batch of queries: by custom kernels if the net is narrow and the batch is one
    /// tensor, else by Burn's autodiff.
    fn gradients(
        &self,
        epoch: &DeviceEpoch,
        queries: Range<usize>,
        ranker: &Ranker,
        batch: Vec<Tensor<2>>,
    ) -> GradientsParams {
        if let ([rows], Some(net)) = (&batch[..], NarrowNet::of(ranker, &self.cube))
            && net.takes(rows.dims()[0])
        {
            let values = net.forward(rows.clone());
            let gradient = self.lambdas.gradient(epoch, queries, values.scores());
            return net.gradients(values, gradient);
        }
        let scores: Vec<Tensor<1>> = batch.into_iter().map(|rows| ranker.forward(rows.autodiff())).collect();
        let gradient = self.lambdas.gradient(epoch, queries, joined(&scores));
        GradientsParams::from_grads(surrogate(scores, gradient).backward(), ranker)
    }
}

impl Engine for OnDevice {
    fn begin<'e>(&'e mut self, epoch: &'e EpochStart<'_>, order: &'e Order, _: &Net) -> Result<Box<dyn Batches + 'e>> {
        let engine = &*self;
        Ok(Box::new(OnDeviceEpoch {
            epoch: engine.lambdas.epoch(order),
            feed: engine.train.start(epoch.data, order, epoch.config.batch_queries.max(1)),
            stop: epoch.stop,
            waits: Waits::new(),
            engine,
        }))
    }

    /// The scores are copied to the host once and equal those of [`score`](crate::score) to the bit.
    fn score_valid(&mut self, ranker: &Ranker, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        let net = NarrowNet::of(ranker, &self.cube);
        let feed = self.valid.get_or_insert_with(|| Feed::in_blocks(&self.cube, valid, net.is_none()));
        let (ranker, mut waits, mut scores) = (ranker.valid(), Waits::new(), Vec::new());
        for block in feed.blocks(valid) {
            stop.check()?;
            scores.push(match &net {
                Some(net) => net.score(block),
                None => ranker.forward(block),
            });
            waits.after_a_while(&self.cube)?;
        }
        if scores.is_empty() {
            return Ok(Vec::new());
        }
        // Cut off the padding of the last block.
        self.cube.fetch_tensor(joined(&scores).slice(0..valid.n_documents()))
    }

    fn is_finite(&self, ranker: &Ranker) -> bool {
        // A device that fails here also fails in the next epoch, which reports the error.
        let weights = self.cube.fetch_tensor(joined(&ranker.flat()));
        weights.map_or(true, |weights| weights.iter().all(|weight| weight.is_finite()))
    }

    fn transfers(&self) -> Option<Transfers> {
        Some(self.cube.transfers())
    }
}

/// One epoch.
struct OnDeviceEpoch<'e> {
    engine: &'e OnDevice,
    epoch: DeviceEpoch,
    feed: EpochFeed<'e>,
    stop: &'e Stop,
    waits: Waits,
}

impl Batches for OnDeviceEpoch<'_> {
    fn gradient(&mut self, ranker: &Ranker, queries: Range<usize>, _: f64) -> Result<Option<GradientsParams>> {
        // After the update of the previous batch.
        self.waits.after_a_while(&self.engine.cube)?;
        self.stop.check()?;
        let batch = self.feed.batch(&self.epoch.layout, queries.clone());
        // Queries without documents contribute nothing.
        if batch.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.engine.gradients(&self.epoch, queries, ranker, batch)))
    }

    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)> {
        self.stop.check()?;
        let (scores, sums) = self.engine.lambdas.finish(self.epoch)?;
        Ok((net, EpochTotals { loss: sums.loss, pairs: sums.pairs, saturated: sums.saturated, scores }))
    }
}

/// Lets the device catch up with the host now and then.
struct Waits(Instant);

impl Waits {
    fn new() -> Self {
        Waits(Instant::now())
    }

    fn after_a_while(&mut self, cube: &Cube) -> Result<()> {
        if self.0.elapsed() > AHEAD {
            cube.wait()?;
            self.0 = Instant::now();
        }
        Ok(())
    }
}

/// Concatenates tensors, without their autodiff history.
fn joined(tensors: &[Tensor<1>]) -> Tensor<1> {
    match tensors {
        [one] => one.clone().without_autodiff(),
        _ => Tensor::cat(tensors.iter().map(|tensor| tensor.clone().without_autodiff()).collect(), 0),
    }
}

/// A tensor whose backward pass carries the gradient of each part's scores into the weights.
fn surrogate(scores: Vec<Tensor<1>>, gradient: Tensor<1>) -> Tensor<1> {
    let mut from = 0;
    let parts = scores.into_iter().map(|part| {
        let [n] = part.dims();
        // A slice of the whole tensor does not copy.
        let gradient = gradient.clone().slice(from..from + n);
        from += n;
        (part * gradient).sum()
    });
    parts.reduce(|sum, part| sum + part).unwrap_or_else(|| gradient.sum())
}
