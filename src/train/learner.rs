//! What a training run trains: nets, trees and the papers' other systems all learn one epoch at a time.

use super::config::TrainConfig;
use crate::data::{Dataset, Targets};
use crate::error::Result;
use crate::model::Scorer;

/// What learns, one epoch at a time. The run around it validates, keeps the best, stops, saves and goes on.
///
/// An epoch is tried first, and taken only when it is whole: one that is stopped leaves no trace.
pub(crate) trait Learner: Send {
    /// Tries one epoch from where the last one that was taken ended.
    ///
    /// # Errors
    /// When it fails, or the run is to stop.
    fn try_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals>;

    /// The scores of row-major documents after the epoch that was tried, or else the last one that was taken.
    ///
    /// # Errors
    /// When the device fails.
    fn score_rows(&self, features: &[f32], width: usize) -> Result<Vec<f32>>;

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
    /// Counted from 1, over all restarts.
    pub number: usize,
    /// The number of the restart that this epoch begins with, counted from 1, where it does.
    pub restart: Option<usize>,
    pub step_size: f64,
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
