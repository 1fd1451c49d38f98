//! The model that an ensemble ends with.

use super::{Ensemble, first_reason};
use crate::error::Result;
use crate::model::{Finish, Model, RunInfo, fold, score_deviation};
use crate::numeric::mean;
use crate::train::finish::evaluated;
use crate::train::trainer::Trainer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Added to the conventions of a model whose members have different queries.
const OWN_QUERIES: &str = "train and valid: mean over members, each evaluated on its own queries";

impl Ensemble<'_> {
    /// Averages the members' models of their best epochs into one: see [`Model::ensemble`](crate::Model::ensemble).
    /// Members without a finished epoch are left out.
    ///
    /// If all members share their data, the model is evaluated on it. Otherwise one member's validation queries are
    /// another's training queries, so the values are means over the members' values, and the conventions say so.
    ///
    /// # Errors
    /// If settings cannot be serialised as JSON, or the models cannot be averaged.
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
        let (metrics, deadline) = (members[0].metrics.clone(), members[0].deadline());
        let shared = members.iter().all(|member| Arc::ptr_eq(&member.data, &data));
        let (mut models, mut deviations) = (Vec::new(), Vec::new());
        for member in members {
            let data = member.data.clone();
            let model = member.finish()?;
            let scores = model.scorer.score(&data.train)?;
            deviations.push(score_deviation(&scores, data.train.offsets()));
            models.push(model);
        }
        let mut model = fold(&models, &deviations)?;
        model.history = history;
        let best_value = if shared {
            for (split, data) in [("train", &data.train), ("valid", &data.valid)] {
                if let Some(means) = evaluated(&model.scorer, data, &metrics, &deadline) {
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

/// The mean over models of each metric that all of them have.
fn mean_metrics(models: &[Model]) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut all: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for (split, metrics) in models.iter().flat_map(|model| &model.info.metrics) {
        for (metric, value) in metrics {
            all.entry(split.clone()).or_default().entry(metric.clone()).or_default().push(*value);
        }
    }
    let means = |values: BTreeMap<String, Vec<f64>>| {
        let complete = values.into_iter().filter(|(_, values)| values.len() == models.len());
        complete.map(|(metric, values)| (metric, mean(&values))).collect()
    };
    all.into_iter().map(|(split, values)| (split, means(values))).collect()
}
