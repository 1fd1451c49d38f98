//! What an ensemble ends in: one model.

use super::{Ensemble, first_reason};
use crate::error::Result;
use crate::model::{Finish, Model, RunInfo, fold, spread};
use crate::numeric::mean;
use crate::train::finish::evaluated;
use crate::train::trainer::Trainer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Added to the conventions of a model whose members have queries of their own.
const OWN_QUERIES: &str = "train and valid: mean over members, each judged on queries of its own";

impl Ensemble<'_> {
    /// The average of the models of the members' best epochs, folded into one: see
    /// [`Model::ensemble`](crate::Model::ensemble). A member that has no epoch yet is left out.
    ///
    /// Where all members have the same data, the model is judged on it. Where they have not, what one was trained on is what
    /// another was validated with, so the values are the means over the members' own, and the conventions say so.
    ///
    /// # Errors
    /// When settings cannot be written as JSON, or the models do not add up to one after all.
    pub fn finish(self) -> Result<Model> {
        let (identity, history) = (self.identity(), self.history(0));
        let reasons: Vec<Finish> =
            self.members.iter().map(|member| member.finished().unwrap_or(Finish::Stopped)).collect();
        let mut members = self.members;
        if members.iter().any(|member| member.state.best_epoch > 0) {
            members.retain(|member| member.state.best_epoch > 0);
        } else {
            members.truncate(1);
        }
        if reasons.len() == 1 || members.iter().all(|member| member.state.best_epoch == 0) {
            let only = members.pop().map(Trainer::finish);
            return only.unwrap_or_else(|| Model::ensemble(&[], &Default::default()));
        }
        let data = members[0].data.clone();
        let (metrics, hurry) = (members[0].metrics.clone(), members[0].hurry());
        let shared = members.iter().all(|member| Arc::ptr_eq(&member.data, &data));
        let (mut models, mut spreads) = (Vec::new(), Vec::new());
        for member in members {
            let own = member.data.clone();
            let model = member.finish()?;
            let scores = model.scorer.score(&own.train)?;
            spreads.push(spread(&scores, own.train.offsets()));
            models.push(model);
        }
        let mut model = fold(&models, &spreads)?;
        model.history = history;
        let best_value = if shared {
            for (split, data) in [("train", &data.train), ("valid", &data.valid)] {
                if let Some(means) = evaluated(&model.scorer, data, &metrics, &hurry) {
                    model.info.metrics.insert(split.into(), means);
                }
            }
            model.info.metrics.get("valid").and_then(|values| values.get(&metrics[0].name())).copied()
        } else {
            model.info.metrics = mean_metrics(&models);
            model.info.conventions = format!("{}; {OWN_QUERIES}", model.info.conventions);
            let values: Vec<f64> = models.iter().filter_map(Model::best_value).collect();
            (!values.is_empty()).then(|| mean(&values))
        };
        let finish = first_reason(&reasons).unwrap_or(Finish::Stopped);
        model.info.run = Some(RunInfo { identity, finish, best_value });
        Ok(model)
    }
}

/// The means over models of what all of them were judged by.
fn mean_metrics(models: &[Model]) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut found: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for (split, metrics) in models.iter().flat_map(|model| &model.info.metrics) {
        for (measure, value) in metrics {
            found.entry(split.clone()).or_default().entry(measure.clone()).or_default().push(*value);
        }
    }
    let means = |values: BTreeMap<String, Vec<f64>>| {
        let whole = values.into_iter().filter(|(_, values)| values.len() == models.len());
        whole.map(|(measure, values)| (measure, mean(&values))).collect()
    };
    found.into_iter().map(|(split, values)| (split, means(values))).collect()
}
