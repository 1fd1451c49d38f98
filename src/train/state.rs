//! The state of a run other than its weights.

use super::exact;
use super::schedule::TrainingValues;
use crate::model::EpochRecord;
use crate::setting::Schedule;
use serde::{Deserialize, Serialize};

/// Progress of a run, as stored in a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunState {
    /// Identifies settings and data; a checkpoint with another identity is refused.
    pub identity: String,
    pub restart: usize,
    #[serde(with = "exact::number")]
    pub learning_rate: f64,
    /// Epochs since the best one, and since the last restart or best epoch.
    pub waited: usize,
    pub stalled: usize,
    pub best_epoch: usize,
    /// The worst possible value (plus or minus infinity) before the first epoch.
    #[serde(with = "exact::number")]
    pub best_value: f64,
    #[serde(with = "exact::pair")]
    before: Option<(f64, f64)>,
    pub diverged: bool,
    pub history: Vec<EpochRecord>,
}

impl RunState {
    /// State before the first epoch; `worst` is the worst possible value of the metric.
    pub fn new(identity: String, learning_rate: f64, worst: f64) -> Self {
        RunState {
            identity,
            restart: 0,
            learning_rate,
            waited: 0,
            stalled: 0,
            best_epoch: 0,
            best_value: worst,
            before: None,
            diverged: false,
            history: Vec::new(),
        }
    }

    /// Records a restart from new weights.
    pub fn restarted(&mut self, learning_rate: f64) {
        self.restart += 1;
        self.stalled = 0;
        self.before = None;
        self.learning_rate = learning_rate;
    }

    /// Sets the learning rate after an epoch with these training values.
    pub fn adapt(&mut self, rule: Schedule, now: TrainingValues, loss_is_cost: bool, seed: u64, epoch: u64) {
        if let Some((loss, goodness)) = self.before {
            self.learning_rate *= rule.factor(TrainingValues { loss, goodness }, now, loss_is_cost, seed, epoch);
        }
        self.before = Some((now.loss, now.goodness));
    }
}
