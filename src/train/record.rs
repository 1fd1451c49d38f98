//! What is written down of every epoch.

use serde::{Deserialize, Serialize};

/// One epoch, as a line of the training log.
///
/// Loss and training metric are those of the scores as each batch saw them, before its own update.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Counted from 1, over all restarts.
    pub epoch: usize,
    /// How often training had started again from new weights.
    pub restart: usize,
    /// The objective's loss, the mean over queries.
    pub loss: f64,
    /// The metric on the training queries.
    pub train: f64,
    /// The metric on the validation queries, after the epoch.
    pub valid: f64,
    /// Whether this is the best epoch so far.
    pub best: bool,
    /// The step size of this epoch.
    pub step_size: f64,
    /// Pairs with a nonzero lambda.
    pub effective_pairs: u64,
    /// Of these, pairs whose sigmoid factor is below 0.001.
    pub saturated_pairs: u64,
    /// How long the epoch took.
    pub seconds: f64,
}
