//! What a run ends in: a model.

use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::metric::Conventions;
use crate::model::{Finish, Model, ModelInfo, RunInfo, means};

impl Trainer<'_> {
    /// The ranker of the best epoch, with its scaling and all that is known about the run: a model to score with and to save.
    ///
    /// It is judged on training and validation data; where that fails, the model is there without these values.
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
        let splits = [("train", &self.data.train), ("valid", &self.data.valid)];
        for ((split, data), about) in splits.into_iter().zip(&self.data.info) {
            info.data.insert(split.into(), about.clone());
            let scores = scorer.score(data).ok();
            let means = match &self.spread {
                Some(spread) => spread.means(&self.measures, scores.as_deref(), data)?,
                None => scores.map(|scores| means(&self.measures, &scores, data)),
            };
            info.metrics.extend(means.map(|means| (split.into(), means)));
        }
        Ok(Model { scorer, info, history: self.state.history })
    }
}
