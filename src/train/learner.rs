//! The interface of everything that is trained one epoch at a time: nets, trees and baselines.

use super::distributed::Partition;
use crate::data::{Dataset, Targets};
use crate::device::Transfers;
use crate::error::{Error, Result};
use crate::model::{Ranker, Scorer};
use crate::objective::Objective;
use crate::setting::TrainConfig;
use crate::stop::Stop;

/// A model being trained, one epoch at a time. The [`Trainer`](super::Trainer) validates it, keeps the best epoch,
/// stops it early, and saves and resumes it.
///
/// An epoch takes effect only when it is accepted: an interrupted one leaves no trace.
pub(crate) trait Learner: Send {
    /// Computes one epoch, starting from the last accepted one.
    ///
    /// # Errors
    /// If it fails, or the stop flag is set.
    fn try_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals>;

    /// Scores the validation documents after the tried epoch, or else after the last accepted one.
    ///
    /// # Errors
    /// If the device fails, or the stop flag is set.
    fn score_valid(&mut self, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>>;

    /// Whether all weights are finite after the tried epoch; a bounded activation can hide an infinite weight from the
    /// scores.
    fn is_finite(&self) -> bool;

    /// Accepts the tried epoch; `best` if it is the best so far.
    ///
    /// # Errors
    /// If the device fails.
    fn accept_epoch(&mut self, best: bool) -> Result<()>;

    /// The net after the last accepted epoch; `None` for other models.
    fn ranker(&self) -> Option<Ranker> {
        None
    }

    /// Replaces the initial weights.
    ///
    /// # Errors
    /// If the model is not a net of this shape.
    fn start_from(&mut self, _: &Ranker) -> Result<()> {
        Err(Error::Config("only nets can start from the weights of a net".into()))
    }

    /// Whether further epochs would change nothing.
    fn has_converged(&self) -> bool {
        false
    }

    /// Bytes copied between host and device so far, if counted.
    fn transfers(&self) -> Option<Transfers> {
        None
    }

    /// Returns the scorer of the best epoch.
    ///
    /// # Errors
    /// If it cannot be built.
    fn best(&self, train: &Dataset) -> Result<Scorer>;

    /// Serialises the state for [`Learner::restore`].
    ///
    /// # Errors
    /// If it cannot be serialised.
    fn save(&self) -> Result<Vec<Vec<u8>>>;

    /// Restores the state that [`Learner::save`] returned.
    ///
    /// # Errors
    /// If the parts are not those of such a learner, which is then unusable.
    fn restore(&mut self, parts: Vec<Vec<u8>>, train: &Dataset) -> Result<()>;
}

/// The inputs of one epoch.
pub(crate) struct EpochStart<'a> {
    pub config: &'a TrainConfig,
    /// Scaled training queries.
    pub data: &'a Dataset,
    pub targets: Option<&'a Targets>,
    /// How queries are distributed over shares and processes, if they are; `data` is then the part of this process.
    pub partition: Option<&'a Partition>,
    /// Counted from 1, over all restarts.
    pub number: usize,
    /// Stop flag of the run.
    pub stop: &'a Stop,
    /// Number of the restart, counted from 1, if this epoch starts from new weights.
    pub restart: Option<usize>,
    /// Learning rate at the first batch and after the last one.
    pub learning_rates: [f64; 2],
}

impl EpochStart<'_> {
    /// The learning rate of batch number `batch` (from 0) of `batches`.
    pub fn learning_rate(&self, batch: usize, batches: usize) -> f64 {
        let [first, last] = self.learning_rates;
        first + (last - first) * (batch as f64 / batches as f64)
    }

    /// The seed of the objective's random numbers in this epoch.
    pub fn draws(&self) -> u64 {
        self.config.seed ^ (self.number as u64) << 32
    }
}

/// Sums over the batches of an epoch.
#[derive(Debug, Default)]
pub(crate) struct EpochTotals {
    /// Sum over queries.
    pub loss: f64,
    pub pairs: u64,
    pub saturated: u64,
    /// Scores of the training documents in data set order; for nets, as computed for each batch before its update.
    pub scores: Vec<f32>,
}

impl EpochTotals {
    /// Zeros, before the first batch.
    pub fn of_documents(documents: usize) -> Self {
        EpochTotals { scores: vec![0.0; documents], ..EpochTotals::default() }
    }
}

/// Maximum number of documents scored between two checks of `Stop`; a multiple of [`MIN_DOCUMENTS`].
const MAX_DOCUMENTS: usize = 1 << 16;
/// Minimum number of documents scored between two checks of `Stop`; a multiple of the block size.
const MIN_DOCUMENTS: usize = 1 << 10;

/// Multiplications between two checks of `Stop`.
const WORK_BETWEEN_CHECKS: usize = 1 << 29;

/// Maximum number of feature values copied from a mapped file at a time.
const MAX_COPIED_VALUES: usize = 1 << 22;

/// Number of documents to score between two checks of `Stop` at `cost` multiplications each.
fn documents_between_checks(cost: usize) -> usize {
    (WORK_BETWEEN_CHECKS / cost.max(1) / MIN_DOCUMENTS * MIN_DOCUMENTS).clamp(MIN_DOCUMENTS, MAX_DOCUMENTS)
}

/// Scores all documents of a data set, checking `stop` now and then; `cost` is the number of multiplications per
/// document.
pub(crate) fn score_all(
    data: &Dataset,
    stop: &Stop,
    cost: usize,
    score_rows: impl Fn(&[f32], usize) -> Result<Vec<f32>>,
) -> Result<Vec<f32>> {
    let width = data.n_features();
    let mut scores = Vec::with_capacity(data.n_documents());
    // Copies from a mapped file are limited by number of values, not of documents.
    let values = documents_between_checks(cost) * width.max(1);
    let max_values = if data.is_mapped() { MAX_COPIED_VALUES.min(values) } else { values };
    data.for_rows(max_values, |_, rows| {
        stop.check()?;
        scores.extend(score_rows(rows, width)?);
        Ok(())
    })?;
    Ok(scores)
}

/// One seed per query, independent of its batch; empty if the objective draws no random numbers.
pub(super) fn query_seeds(objective: &Objective, seed: u64, queries: impl IntoIterator<Item = usize>) -> Vec<u64> {
    if !objective.is_random() {
        return Vec::new();
    }
    queries.into_iter().map(|query| query_seed(seed, query)).collect()
}

/// The seed of one of them.
pub(super) fn query_seed(seed: u64, query: usize) -> u64 {
    seed ^ (query as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_more_frequent_for_costlier_documents() {
        // A net of ten units on 136 features, a polynomial of 136 features, and a net of ten million weights.
        let costs = [1381, 2 * 136 * 136, 10_000_000];
        assert_eq!(costs.map(documents_between_checks), [1 << 16, 14 << 10, 1 << 10]);
        let documents = 40 << 10;
        let data = Dataset::new(1, vec![1.0; documents], vec![0.0; documents], vec![("a".into(), documents)]).unwrap();
        let checks = |cost: usize| {
            let (stop, checks) = Stop::counted();
            let scores = score_all(&data, &stop, cost, |rows, _| Ok(rows.to_vec())).unwrap();
            assert_eq!(scores.len(), documents);
            checks.load(std::sync::atomic::Ordering::Relaxed)
        };
        assert_eq!([checks(1), checks(10_000_000)], [1, 40]);
    }
}
