//! What a run ends in: a model.

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

/// How long the model of a run that was asked to stop is evaluated.
pub(super) const WHEN_STOPPED: Duration = Duration::from_millis(300);

impl Trainer<'_> {
    /// The ranker of the best epoch, with its scaling and all that is known about the run: a model to score with and to save.
    ///
    /// It is evaluated on training and validation data. The model is there without these values where that fails, and where
    /// [`Trainer::with_stop`] has ended the run and they would take longer than a moment.
    ///
    /// # Errors
    /// When the settings cannot be written as JSON.
    pub fn finish(self) -> Result<Model> {
        let finish = self.finished().unwrap_or(Finish::Stopped);
        let best_value = Some(self.state.best_value).filter(|_| self.state.best_epoch > 0);
        let scorer = self.learner.best(&self.data.train)?;
        let mut info = ModelInfo::new(scorer.config(), self.data.scaler.clone(), self.config.aim());
        info.settings = serde_json::to_value(&self.config).map_err(|error| Error::Record(error.to_string()))?;
        info.best_epoch = self.state.best_epoch;
        info.run = Some(RunInfo { identity: self.identity(), finish, best_value });
        info.conventions = Conventions::default().to_string();
        let hurry = self.hurry();
        let splits = [("train", &self.data.train), ("valid", &self.data.valid)];
        for ((split, data), about) in splits.into_iter().zip(&self.data.info) {
            info.data.insert(split.into(), about.clone());
            let means = match &self.partition {
                Some(partition) => partition.means(&self.metrics, scores(&scorer, data, &hurry).as_deref(), data)?,
                None => evaluated(&scorer, data, &self.metrics, &hurry),
            };
            info.metrics.extend(means.map(|means| (split.into(), means)));
        }
        Ok(Model { scorer, info, history: self.state.history })
    }

    /// The flag that ends the evaluation of a model whose run was asked to stop.
    pub(super) fn hurry(&self) -> Option<Stop> {
        self.stop.asked().then(|| Stop::after(WHEN_STOPPED))
    }
}

/// The scores of documents, unless they take too long.
fn scores(scorer: &Scorer, data: &Dataset, hurry: &Option<Stop>) -> Option<Vec<f32>> {
    match hurry {
        Some(stop) => score_all(data, stop, scorer.cost(), |rows, width| scorer.score_rows(rows, width)).ok(),
        None => scorer.score(data).ok(),
    }
}

/// The mean of each metric, unless they take too long.
pub(super) fn evaluated(
    scorer: &Scorer,
    data: &Dataset,
    metrics: &[Arc<dyn Metric>],
    hurry: &Option<Stop>,
) -> Option<BTreeMap<String, f64>> {
    let scores = scores(scorer, data, hurry)?;
    match hurry {
        Some(stop) => means_until(metrics, &scores, data, stop),
        None => Some(means(metrics, &scores, data)),
    }
}
