//! One epoch of a net: the loop over batches. An [`Engine`] computes each batch.

use super::engine::{Engine, Net};
use super::learner::{EpochStart, EpochTotals};
use crate::error::Result;

/// Visits all training queries once and updates the net after each batch.
///
/// # Errors
/// If the device fails, or the stop flag is set. The caller keeps the net of the last accepted epoch.
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
            if let Some(average) = &mut net.average {
                average.add(&net.ranker.weights()?);
            }
        }
    }
    batches.finish(net)
}
