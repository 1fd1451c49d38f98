//! Engines compute the gradient of a batch: on the host's cores, on a GPU, or in several processes.
//!
//! The [loop over batches](super::epoch) is the same for all. An engine determines where the documents are stored and
//! in which order numbers are summed, and so the exact bytes of a model. A new engine is one file here and one line of
//! [`choose`].

#[cfg(feature = "cubecl")]
mod device;
mod distributed;
#[cfg(feature = "cubecl")]
mod feed;
mod fused;
mod host;
mod part;
mod team;
#[cfg(test)]
mod tests;
mod wave;
mod work;
mod workspace;

use super::average::Average;
use super::learner::{EpochStart, EpochTotals, score_all};
use super::order::Order;
use crate::data::Dataset;
use crate::device::{Transfers, on_host};
use crate::error::Result;
use crate::model::{Ranker, is_finite, score_rows};
use crate::setting::GradientPath;
use crate::stop::Stop;
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Device;
use std::ops::Range;

/// The state that an epoch updates: weights and optimiser.
#[derive(Clone)]
pub(super) struct Net {
    pub ranker: Ranker,
    pub optimizer: ModuleOptimizer,
    /// The average of the weights, if they are averaged.
    pub average: Option<Average>,
}

/// Computes the epochs of a run.
pub(super) trait Engine: Send {
    /// The order in which an epoch visits the training queries.
    fn order(&self, epoch: &EpochStart<'_>) -> Order {
        Order::draw(epoch.data, epoch.config.seed, epoch.number as u64)
    }

    /// Prepares an epoch that starts from `net`.
    ///
    /// # Errors
    /// If the device fails, or the stop flag is set.
    fn begin<'e>(&'e mut self, epoch: &'e EpochStart<'_>, order: &'e Order, net: &Net)
    -> Result<Box<dyn Batches + 'e>>;

    /// Scores the validation documents.
    ///
    /// # Errors
    /// If the device fails, or the stop flag is set.
    fn score_valid(&mut self, ranker: &Ranker, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>>;

    /// Whether all weights are finite.
    fn is_finite(&self, ranker: &Ranker) -> bool {
        is_finite(ranker)
    }

    /// Bytes copied between host and device so far, if counted.
    fn transfers(&self) -> Option<Transfers> {
        None
    }
}

/// One epoch of an engine.
pub(super) trait Batches {
    /// Returns the gradient of a batch, the queries at these places of the order. `None` if the loop has no update to
    /// make: the batch has no document, or the engine keeps the weights itself until [`Batches::finish`] and has
    /// updated them with the learning rate.
    ///
    /// # Errors
    /// If the device fails, or the stop flag is set. Distributed processes fail together.
    fn gradient(
        &mut self,
        ranker: &Ranker,
        queries: Range<usize>,
        learning_rate: f64,
    ) -> Result<Option<GradientsParams>>;

    /// The net after the last batch, and the sums over the epoch.
    ///
    /// # Errors
    /// The errors of [`Batches::gradient`].
    fn finish(self: Box<Self>, net: Net) -> Result<(Net, EpochTotals)>;
}

/// Chooses the engine of a run. The path must not be auto; the device must be an autodiff device.
///
/// # Errors
/// If the device fails.
pub(super) fn choose(epoch: &EpochStart<'_>, path: GradientPath, device: &Device) -> Result<Box<dyn Engine>> {
    #[cfg(feature = "cubecl")]
    if let Some(engine) = device::OnDevice::of(epoch, path, device)? {
        return Ok(Box::new(engine));
    }
    Ok(match epoch.partition {
        Some(partition) => Box::new(distributed::Distributed::new(partition, device)),
        None if path == GradientPath::Lambda && on_host(device) => Box::new(fused::Fused::new(device)),
        None => Box::new(host::Host::new(path, device)),
    })
}

/// Scores the validation documents with Burn's operations.
fn score_valid(ranker: &Ranker, valid: &Dataset, stop: &Stop, device: &Device) -> Result<Vec<f32>> {
    score_all(valid, stop, ranker.num_params(), |rows, width| score_rows(ranker, rows, width, device))
}
