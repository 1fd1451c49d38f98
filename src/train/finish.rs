//! The final model of a run.

use super::learner::score_all;
use super::trainer::Trainer;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric};
use crate::model::{Finish, Model, ModelInfo, RunInfo, Scorer, means, means_until};
use crate::stop::Stop;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for evaluating the model of an interrupted run.
pub(super) const WHEN_STOPPED: Duration = Duration::from_millis(300);

impl Trainer<'_> {
    /// Returns the model of the best epoch, with its scaling and metadata.
    ///
    /// The model is evaluated on training and validation data. The values are missing if evaluation fails, or if
    /// [`Trainer::with_stop`] ended the run and evaluation takes more than a moment.
    ///
    /// # Errors
    /// If the settings cannot be serialised as JSON.
    pub fn finish(self) -> Result<Model> {
        let finish = self.finished().unwrap_or(Finish::Stopped);
        let best_value = Some(self.state.best_value).filter(|_| self.state.best_epoch > 0);
        let scorer = self.learner.best(&self.data.train)?;
        let mut info = ModelInfo::new(scorer.config(), self.data.scaler.clone(), self.config.aim());
        info.settings = serde_json::to_value(&self.config).map_err(|error| Error::Record(error.to_string()))?;
        info.sparse_missing = self.data.train.is_sparse_missing();
        info.best_epoch = self.state.best_epoch;
        info.run = Some(RunInfo { identity: self.identity(), finish, best_value });
        info.conventions = Conventions::default().to_string();
        let deadline = self.deadline();
        let splits = [("train", &self.data.train), ("valid", &self.data.valid)];
        for ((split, data), about) in splits.into_iter().zip(&self.data.info) {
            info.data.insert(split.into(), about.clone());
            let means = match &self.partition {
                Some(partition) => partition.means(&self.metrics, scores(&scorer, data, &deadline).as_deref(), data)?,
                None => evaluated(&scorer, data, &self.metrics, &deadline),
            };
            info.metrics.extend(means.map(|means| (split.into(), means)));
        }
        Ok(Model { scorer, info, history: self.state.history })
    }

    /// The stop flag with a time limit for evaluating the model of an interrupted run.
    pub(super) fn deadline(&self) -> Option<Stop> {
        self.stop.asked().then(|| Stop::after(WHEN_STOPPED))
    }
}

/// Document scores; `None` if they fail or take too long.
fn scores(scorer: &Scorer, data: &Dataset, deadline: &Option<Stop>) -> Option<Vec<f32>> {
    match deadline {
        Some(stop) => score_all(data, stop, scorer.cost(), |rows, width| scorer.score_rows(rows, width)).ok(),
        None => scorer.score(data).ok(),
    }
}

/// The mean of each metric; `None` if scoring fails or takes too long.
pub(super) fn evaluated(
    scorer: &Scorer,
    data: &Dataset,
    metrics: &[Arc<dyn Metric>],
    deadline: &Option<Stop>,
) -> Option<BTreeMap<String, f64>> {
    let scores = scores(scorer, data, deadline)?;
    match deadline {
        Some(stop) => means_until(metrics, &scores, data, stop),
        None => Some(means(metrics, &scores, data)),
    }
}
