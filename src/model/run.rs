//! Metadata of a model's training run.

use serde::{Deserialize, Deserializer, Serialize};

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// All epochs were run.
    Epochs,
    /// The validation metric did not improve for `patience` epochs.
    Patience,
    /// Further epochs would change nothing.
    Converged,
    /// Weights or scores became infinite or NaN; the model is the best epoch before that.
    Diverged,
    /// The caller ended training.
    Stopped,
}

/// Identity and result of a training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// A hash of the settings and the data; runs with the same identity give the same model.
    pub identity: String,
    /// Why training ended; a stopped run can be resumed.
    pub finish: Finish,
    /// Validation metric of the best epoch; `None` before the first epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_value: Option<f64>,
}

/// One epoch, as a line of the training log.
///
/// Loss and training metric use the scores that were computed for each batch before its update. Values that are not
/// finite are null in JSON, and NaN when read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Epoch number, from 1, counted over all restarts.
    pub epoch: usize,
    /// Member of an ensemble, from 0; `None` for a single model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<usize>,
    /// The settings of this run, if model selection compared several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// Number of the run with these settings, from 1; each run is trained on other queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting_run: Option<usize>,
    /// Number of restarts from new weights so far.
    pub restart: usize,
    /// Mean training loss over queries.
    #[serde(deserialize_with = "null_is_nan")]
    pub loss: f64,
    /// Metric on the training queries.
    #[serde(deserialize_with = "null_is_nan")]
    pub train: f64,
    /// Metric on the validation queries after the epoch.
    #[serde(deserialize_with = "null_is_nan")]
    pub valid: f64,
    /// Whether this is the best epoch so far.
    pub best: bool,
    /// Learning rate of this epoch.
    pub learning_rate: f64,
    /// Number of pairs with a nonzero lambda.
    pub effective_pairs: u64,
    /// Number of these pairs whose sigmoid factor is below 0.001.
    pub saturated_pairs: u64,
    /// Duration of the epoch in seconds.
    pub seconds: f64,
}

/// Reads null, which JSON has for numbers that are not finite, as NaN.
fn null_is_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|value| value.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_diverged_epoch_can_be_read() {
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
