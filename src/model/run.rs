//! What is known about the training run that a model is from.

use serde::{Deserialize, Deserializer, Serialize};

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// All epochs were run.
    Epochs,
    /// The validation value had not risen for `patience` epochs.
    Patience,
    /// Further epochs would change nothing.
    Converged,
    /// Weights or scores were no longer finite; the best epoch before that is kept.
    Diverged,
    /// The caller ended it.
    Stopped,
}

/// What tells training runs apart, and how this one ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// A hash of the settings and the data; runs of equal identity end at equal models.
    pub identity: String,
    /// Why training ended; a run that was stopped can go on.
    pub finish: Finish,
    /// The measure that chose the best epoch, on the validation queries at that epoch; nothing before the first epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_value: Option<f64>,
}

/// One epoch, as a line of the training log.
///
/// Loss and training metric are those of the scores as each batch saw them, before its own update. What is not finite is
/// null in JSON, and NaN when it is read again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Counted from 1, over all restarts.
    pub epoch: usize,
    /// The member of an ensemble that it is of, counted from 0; nothing where there is but one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<usize>,
    /// The setting that this run was trained with, where model selection compared several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// The run of this setting, counted from 1; each is trained on other queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting_run: Option<usize>,
    /// How often training had started again from new weights.
    pub restart: usize,
    /// The objective's loss, the mean over queries.
    #[serde(deserialize_with = "null_is_nan")]
    pub loss: f64,
    /// The metric on the training queries.
    #[serde(deserialize_with = "null_is_nan")]
    pub train: f64,
    /// The metric on the validation queries, after the epoch.
    #[serde(deserialize_with = "null_is_nan")]
    pub valid: f64,
    /// Whether this is the best epoch so far.
    pub best: bool,
    /// The learning rate of this epoch.
    pub learning_rate: f64,
    /// Pairs with a nonzero lambda.
    pub effective_pairs: u64,
    /// Of these, pairs whose sigmoid factor is below 0.001.
    pub saturated_pairs: u64,
    /// How long the epoch took.
    pub seconds: f64,
}

/// JSON writes null for what is not finite, and null is read as NaN.
fn null_is_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|value| value.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_diverged_epoch_can_be_read() {
        let record = EpochRecord {
            epoch: 3,
            member: None,
            setting: None,
            setting_run: None,
            restart: 0,
            loss: f64::INFINITY,
            train: 0.1,
            valid: 0.2,
            best: false,
            learning_rate: 0.5,
            effective_pairs: 1,
            saturated_pairs: 0,
            seconds: 0.25,
        };
        let text = serde_json::to_string(&record).unwrap();
        let back: EpochRecord = serde_json::from_str(&text).unwrap();
        assert!(back.loss.is_nan());
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
}
