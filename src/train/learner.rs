//! What a training run trains: nets, trees and the papers' other systems all learn one epoch at a time.

use super::distributed::Partition;
use crate::data::{Dataset, Targets};
use crate::device::Transfers;
use crate::error::Result;
use crate::model::Scorer;
use crate::objective::Objective;
use crate::setting::TrainConfig;
use crate::stop::Stop;

/// What learns, one epoch at a time. The run around it validates, keeps the best, stops, saves and goes on.
///
/// An epoch is tried first, and taken only when it is whole: one that is stopped leaves no trace.
pub(crate) trait Learner: Send {
    /// Tries one epoch from where the last one that was taken ended.
    ///
    /// # Errors
    /// When it fails, or the run is to stop.
    fn try_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals>;

    /// The scores of the validation documents after the epoch that was tried, or else the last one that was taken.
    ///
    /// # Errors
    /// When the device fails, or the run is to stop.
    fn score_valid(&mut self, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>>;

    /// Whether all of its numbers are finite after the epoch that was tried; a bounded hidden unit may hide an infinite
    /// weight from the scores.
    fn is_finite(&self) -> bool;

    /// Takes the epoch that was tried, which is the best so far or not.
    ///
    /// # Errors
    /// When the device fails.
    fn take_epoch(&mut self, best: bool) -> Result<()>;

    /// Whether further epochs would change nothing.
    fn has_converged(&self) -> bool {
        false
    }

    /// What was copied between host and device so far, where that is counted.
    fn transfers(&self) -> Option<Transfers> {
        None
    }

    /// What scores as it did after the best epoch.
    ///
    /// # Errors
    /// When it cannot be made.
    fn best(&self, train: &Dataset) -> Result<Scorer>;

    /// All that [`Learner::restore`] needs, in parts.
    ///
    /// # Errors
    /// When it cannot be written down.
    fn save(&self) -> Result<Vec<Vec<u8>>>;

    /// Goes on from what was saved.
    ///
    /// # Errors
    /// Parts that were not written by such a learner; it is of no use then.
    fn restore(&mut self, parts: Vec<Vec<u8>>, train: &Dataset) -> Result<()>;
}

/// What an epoch starts with.
pub(crate) struct EpochStart<'a> {
    pub config: &'a TrainConfig,
    /// The training queries, scaled.
    pub data: &'a Dataset,
    pub targets: Option<&'a Targets>,
    /// How the queries are spread over shares and processes, where they are; the data are then those of this process.
    pub partition: Option<&'a Partition>,
    /// Counted from 1, over all restarts.
    pub number: usize,
    /// Ends the run.
    pub stop: &'a Stop,
    /// The number of the restart that this epoch begins with, counted from 1, where it does.
    pub restart: Option<usize>,
    /// Of its first batch, and after its last one.
    pub learning_rates: [f64; 2],
}

impl EpochStart<'_> {
    /// The learning rate of a batch, by its number from 0 and the number of batches.
    pub fn learning_rate(&self, batch: usize, batches: usize) -> f64 {
        let [first, last] = self.learning_rates;
        first + (last - first) * (batch as f64 / batches as f64)
    }

    /// The seed of what the objective draws in this epoch.
    pub fn draws(&self) -> u64 {
        self.config.seed ^ (self.number as u64) << 32
    }
}

/// What an epoch found out on its way.
#[derive(Debug, Default)]
pub(crate) struct EpochTotals {
    /// The sum over queries.
    pub loss: f64,
    pub pairs: u64,
    pub saturated: u64,
    /// The scores of the training documents, in the order of the data set; for nets those that each batch saw before its
    /// own update.
    pub scores: Vec<f32>,
}

impl EpochTotals {
    /// Before the first batch.
    pub fn of_documents(documents: usize) -> Self {
        EpochTotals { scores: vec![0.0; documents], ..EpochTotals::default() }
    }
}

/// Maximum and minimum number of documents scored between two checks of `Stop`; multiples of the block size.
const BETWEEN_LOOKS: [usize; 2] = [1 << 16, 1 << 10];

/// Multiplications between two looks at whether to stop.
const WORK_BETWEEN_LOOKS: usize = 1 << 29;

/// Feature values of a mapped file that are copied at a time.
const AT_ONCE: usize = 1 << 22;

/// Documents to score between two looks at whether to stop, where each takes this many multiplications.
fn between_looks(cost: usize) -> usize {
    let [most, fewest] = BETWEEN_LOOKS;
    (WORK_BETWEEN_LOOKS / cost.max(1) / fewest * fewest).clamp(fewest, most)
}

/// Scores all documents of a data set, with a look at whether to stop now and then; `cost` is the number of multiplications
/// that a document takes.
pub(crate) fn score_all(
    data: &Dataset,
    stop: &Stop,
    cost: usize,
    score_rows: impl Fn(&[f32], usize) -> Result<Vec<f32>>,
) -> Result<Vec<f32>> {
    let width = data.n_features();
    let mut scores = Vec::with_capacity(data.n_documents());
    // What has to be copied from a mapped file is bounded in bytes, not in documents.
    let documents = between_looks(cost) * width.max(1);
    let most = if data.is_mapped() { AT_ONCE.min(documents) } else { documents };
    data.for_rows(most, |_, rows| {
        stop.check()?;
        scores.extend(score_rows(rows, width)?);
        Ok(())
    })?;
    Ok(scores)
}

/// The seeds of queries, where the objective draws: one per query, whatever batch it is in.
pub(super) fn query_seeds(objective: &Objective, seed: u64, queries: impl IntoIterator<Item = usize>) -> Vec<u64> {
    if !objective.is_random() {
        return Vec::new();
    }
    queries.into_iter().map(|query| seed ^ (query as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_cost_more_are_scored_fewer_at_a_time() {
        // A net of ten units on 136 features, a polynomial of as many, and a net of ten million weights.
        assert_eq!([1381, 2 * 136 * 136, 10_000_000].map(between_looks), [1 << 16, 14 << 10, 1 << 10]);
        let documents = 40 << 10;
        let data = Dataset::new(1, vec![1.0; documents], vec![0.0; documents], vec![("a".into(), documents)]).unwrap();
        let looks = |cost: usize| {
            let (stop, looks) = Stop::counted();
            let scores = score_all(&data, &stop, cost, |rows, _| Ok(rows.to_vec())).unwrap();
            assert_eq!(scores.len(), documents);
            looks.load(std::sync::atomic::Ordering::Relaxed)
        };
        assert_eq!([looks(1), looks(10_000_000)], [1, 40]);
    }
}
