//! An epoch that stays on a GPU: features, lambdas and steps there, scores and sums back once.

use super::feed::Feed;
use super::learner::{EpochStart, EpochTotals};
use super::order::Order;
use crate::data::Dataset;
use crate::device::Transfers;
use crate::device::cube::Cube;
use crate::error::Result;
use crate::model::{NarrowNet, Ranker};
use crate::objective::device::{DeviceEpoch, DeviceLambdas};
use crate::setting::TrainConfig;
use crate::stop::Stop;
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long the host runs ahead of the device, so that a run can be stopped within a second.
const AHEAD: Duration = Duration::from_millis(250);

/// The training queries of a run on a device, and its validation queries once they are asked for.
pub(super) struct OnDevice {
    cube: Cube,
    lambdas: DeviceLambdas,
    train: Feed,
    valid: Option<Feed>,
}

impl OnDevice {
    /// Copies the training queries to the device; nothing where the objective has no kernels.
    ///
    /// # Errors
    /// When a label is too high for the objective, or there are too many documents.
    pub fn new(config: &TrainConfig, train: &Dataset, cube: Cube) -> Result<Option<Self>> {
        let objective = &config.objective;
        let Some(lambdas) = DeviceLambdas::new(objective, train.labels(), train.offsets(), &cube)? else {
            return Ok(None);
        };
        Ok(Some(OnDevice { lambdas, train: Feed::new(&cube, train), valid: None, cube }))
    }

    /// What was copied so far.
    pub fn transfers(&self) -> Transfers {
        self.cube.transfers()
    }

    /// Visits all queries once, in the given order, and steps after each batch, by sizes from the first to the last.
    ///
    /// # Errors
    /// When the device fails, or the run is to stop: the optimiser has then made some of its steps.
    pub fn epoch(
        &self,
        start: &EpochStart<'_>,
        mut ranker: Ranker,
        optimizer: &mut ModuleOptimizer,
        order: &Order,
    ) -> Result<(Ranker, EpochTotals)> {
        let EpochStart { config, data, stop, step_sizes: [first, last], .. } = *start;
        let epoch = self.lambdas.epoch(order);
        let mut feed = self.train.start(data, order, &epoch.layout, config.batch_queries.max(1));
        let (step, mut waits) = (config.batch_queries.max(1), Waits::new());
        let count = order.len().div_ceil(step) as f64;
        for (number, from) in (0..order.len()).step_by(step).enumerate() {
            stop.check()?;
            let queries = from..(from + step).min(order.len());
            let step_size = first + (last - first) * (number as f64 / count);
            let batch = feed.batch(queries.clone());
            // Queries without a document teach nothing.
            if !batch.is_empty() {
                let gradients = self.gradients(&epoch, queries, &ranker, batch);
                ranker = optimizer.step(step_size, ranker, gradients);
            }
            waits.after_a_while(&self.cube)?;
        }
        stop.check()?;
        let (scores, sums) = self.lambdas.finish(epoch)?;
        Ok((ranker, EpochTotals { loss: sums.loss, pairs: sums.pairs, saturated: sums.saturated, scores }))
    }

    /// The gradients of all weights by a batch of queries: by kernels of our own where the net is narrow and the batch is one
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

    /// The scores of the validation documents, copied to the host once; those of [`score`](crate::score) to the bit.
    ///
    /// # Errors
    /// When the device fails, or the run is to stop.
    pub fn score_valid(&mut self, ranker: &Ranker, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
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
        // Behind the last document is what fills the last block.
        self.cube.fetch_tensor(joined(&scores).slice(0..valid.n_documents()))
    }

    /// Whether all weights are finite.
    ///
    /// # Errors
    /// When the device fails.
    pub fn weights_are_finite(&self, ranker: &Ranker) -> Result<bool> {
        let weights = self.cube.fetch_tensor(joined(&ranker.flat()))?;
        Ok(weights.iter().all(|weight| weight.is_finite()))
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

/// All numbers of some tensors, without their history.
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
        // A slice of all is no copy.
        let own = gradient.clone().slice(from..from + n);
        from += n;
        (part * own).sum()
    });
    parts.reduce(|sum, part| sum + part).unwrap_or_else(|| gradient.sum())
}
