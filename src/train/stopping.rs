//! Early stopping and restarts.

use super::state::RunState;
use crate::model::{EpochRecord, Finish};
use crate::setting::TrainConfig;

impl RunState {
    /// Returns why training has finished, or `None` while it has not; `has_converged`: further epochs would change
    /// nothing.
    pub fn finish(&self, config: &TrainConfig, has_converged: bool) -> Option<Finish> {
        if self.diverged {
            Some(Finish::Diverged)
        } else if has_converged {
            Some(Finish::Converged)
        } else if self.history.len() >= config.epochs {
            Some(Finish::Epochs)
        } else if config.patience > 0 && self.waited >= config.patience {
            Some(Finish::Patience)
        } else {
            None
        }
    }

    /// Whether the next epoch starts from new weights.
    pub fn restarts(&self, config: &TrainConfig) -> bool {
        config.restart > 0 && self.stalled >= config.restart
    }

    /// Counts the epochs without a better validation value; the epoch did not diverge.
    pub fn note(&mut self, record: &EpochRecord) {
        if record.best {
            (self.best_epoch, self.best_value) = (record.epoch, record.valid);
            (self.waited, self.stalled) = (0, 0);
        } else {
            self.waited += 1;
            self.stalled += 1;
        }
    }
}
