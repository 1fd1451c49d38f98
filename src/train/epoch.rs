//! One epoch of a net: the only loop over batches. What computes a batch is an [`Engine`].

use super::engine::{Engine, Net};
use super::learner::{EpochStart, EpochTotals};
use crate::error::Result;

/// Visits all training queries once and updates the net after each batch.
///
/// # Errors
/// When the device fails, or the run is to stop: the net is then lost, and the run has the one before.
pub(super) fn run(engine: &mut dyn Engine, epoch: &EpochStart<'_>, mut net: Net) -> Result<(Net, EpochTotals)> {
    let order = engine.order(epoch);
    let size = epoch.config.batch_queries.max(1);
    let count = order.len().div_ceil(size);
    let mut batches = engine.begin(epoch, &order, &net)?;
    for number in 0..count {
        let queries = number * size..((number + 1) * size).min(order.len());
        let learning_rate = epoch.learning_rate(number, count);
        if let Some(gradients) = batches.gradient(&net.ranker, queries, learning_rate)? {
            net.ranker = net.optimizer.step(learning_rate, net.ranker, gradients);
        }
    }
    batches.finish(net)
}
