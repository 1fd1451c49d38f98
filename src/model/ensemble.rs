//! Models whose scores are averaged, as one model.

use super::{Architecture, EpochRecord, Finish, Model, ModelInfo, Scorer};
use crate::data::Dataset;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One of the models that a model is the average of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberInfo {
    /// What it was trained with.
    pub objective: String,
    /// What it was.
    pub architecture: Architecture,
    /// The seed of its run, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The epoch that its weights are from.
    pub best_epoch: usize,
    /// Its own value on its own validation queries at that epoch, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_value: Option<f64>,
    /// Why its training ended, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// What its scores were multiplied by; 0 where they do not tell the documents of any query apart.
    pub factor: f64,
    /// The settings of its run, where they are not but for the seed those of the whole model.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
}

impl Model {
    /// One model that scores as the average of several, each brought to the same spread; it costs no more to use than a
    /// single one with as many units or trees as all of them have.
    ///
    /// The score is the mean over models of `score / spread`. The spread of a model is the square root of the mean over
    /// queries of `train` (raw features) of the variance of its scores within the query. A model that gives the documents
    /// of each query the same score has factor 0: see [`MemberInfo::factor`].
    ///
    /// What is known of training and data is that of the first model; measures are left out, because what was a validation
    /// query to one may have been a training query to another.
    ///
    /// # Errors
    /// When there is no model, when they scale features differently, when [`Scorer::weighted_sum`] refuses them, and when
    /// they cannot score the data.
    ///
    /// ```
    /// use burnrank::{Dataset, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, device};
    /// let data = Dataset::new(2, vec![0.0, 0.0, 2.0, 4.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
    /// let device = device::open("auto")?;
    /// let linear = |weights: Vec<f32>| -> burnrank::Result<Model> {
    ///     let shape = RankerConfig::linear(2);
    ///     let info = ModelInfo::new(shape.clone(), Scaler::fit(ScaleKind::None, &data), "by hand");
    ///     Ok(Model { scorer: Scorer::Net(shape.from_weights(&[weights], &device)?), info, history: vec![] })
    /// };
    /// // Scores of 0 and 2, of spread 1; and of 0 and 12, of spread 6.
    /// let both = Model::ensemble(&[linear(vec![1.0, 0.0])?, linear(vec![0.0, 3.0])?], &data)?;
    /// assert_eq!(both.info.members.iter().map(|member| member.factor).collect::<Vec<_>>(), [1.0 / 2.0, 1.0 / 12.0]);
    /// assert_eq!(both.score(&data)?, [0.0, 2.0]);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub fn ensemble(models: &[Model], train: &Dataset) -> Result<Model> {
        check_scalings(models)?;
        let spreads: Result<Vec<f64>> =
            models.iter().map(|model| Ok(spread(&model.score(train)?, train.offsets()))).collect();
        fold(models, &spreads?)
    }
}

/// How much of the size of scores may be rounding: what differs by no more than that does not differ.
const ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// The square root of the mean over queries of the variance of scores within a query; 0 where that is but rounding, and
/// where scores are not finite.
pub(crate) fn spread(scores: &[f32], offsets: &[usize]) -> f64 {
    let (mut variances, mut squares) = (0.0, 0.0);
    for rows in offsets.windows(2).map(|pair| &scores[pair[0]..pair[1]]) {
        let n = rows.len().max(1) as f64;
        let mean = rows.iter().map(|&score| f64::from(score)).sum::<f64>() / n;
        variances += rows.iter().map(|&score| (f64::from(score) - mean).powi(2)).sum::<f64>() / n;
        squares += rows.iter().map(|&score| f64::from(score).powi(2)).sum::<f64>() / n;
    }
    let queries = offsets.len().saturating_sub(1).max(1) as f64;
    let (spread, size) = ((variances / queries).sqrt(), (squares / queries).sqrt());
    if spread.is_finite() && spread > ROUNDING * size { spread } else { 0.0 }
}

/// The mean of models of these spreads; those of spread 0 have no part in it.
pub(crate) fn fold(models: &[Model], spreads: &[f64]) -> Result<Model> {
    check_scalings(models)?;
    let Some(first) = models.first() else {
        return Err(Error::Config("an ensemble of no models: give at least one".into()));
    };
    let count = spreads.iter().filter(|spread| **spread > 0.0).count() as f64;
    let factors = spreads.iter().map(|&spread| if spread > 0.0 { 1.0 / (spread * count) } else { 0.0 });
    let factors: Vec<f64> = factors.collect();
    let scorers: Vec<(&Scorer, f64)> = models.iter().map(|model| &model.scorer).zip(factors.iter().copied()).collect();
    let scorer = Scorer::weighted_sum(&scorers)?;
    let mut info = ModelInfo::new(scorer.config(), first.info.scaler.clone(), objectives(models));
    info.settings = first.info.settings.clone();
    info.data = first.info.data.clone();
    info.conventions = first.info.conventions.clone();
    info.best_epoch = models.iter().map(|model| model.info.best_epoch).max().unwrap_or(0);
    info.members =
        models.iter().zip(&factors).map(|(model, &factor)| member(model, factor, &first.info.settings)).collect();
    let numbered = |(place, model): (usize, &Model)| {
        let number = move |epoch: &EpochRecord| EpochRecord { member: Some(place), ..epoch.clone() };
        model.history.iter().map(number).collect::<Vec<_>>()
    };
    let mut history: Vec<EpochRecord> = models.iter().enumerate().flat_map(numbered).collect();
    history.sort_by_key(|epoch| (epoch.epoch, epoch.member));
    Ok(Model { scorer, info, history })
}

/// Refuses models that see the same features differently.
fn check_scalings(models: &[Model]) -> Result<()> {
    let Some((first, others)) = models.split_first() else { return Ok(()) };
    let scaler = &first.info.scaler;
    match others.iter().find(|other| other.info.scaler != *scaler) {
        None => Ok(()),
        Some(other) if other.info.scaler.kind() == scaler.kind() => Err(Error::Mismatch(format!(
            "models whose {} scaling was fitted on other data cannot be one model: train all on the same data, or with a \
             scaling by query, as query-minmax",
            scaler.kind()
        ))),
        Some(other) => Err(Error::Mismatch(format!(
            "models of features scaled by {} and by {} cannot be one model: train all with the same `scale`",
            scaler.kind(),
            other.info.scaler.kind()
        ))),
    }
}

/// What all models were trained with, each once.
fn objectives(models: &[Model]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for model in models {
        if !names.contains(&model.info.objective.as_str()) {
            names.push(&model.info.objective);
        }
    }
    names.join(", ")
}

fn member(model: &Model, factor: f64, whole: &Value) -> MemberInfo {
    let (info, run) = (&model.info, model.info.run.as_ref());
    let settings = if seedless(&info.settings) == seedless(whole) { Value::Null } else { info.settings.clone() };
    MemberInfo {
        objective: info.objective.clone(),
        architecture: info.ranker.architecture.clone(),
        seed: info.settings.get("seed").and_then(Value::as_u64),
        best_epoch: info.best_epoch,
        best_value: run.and_then(|run| run.best_value).filter(|value| value.is_finite()),
        finish: run.map(|run| run.finish),
        factor,
        settings,
    }
}

/// Settings without their seed.
fn seedless(settings: &Value) -> Value {
    let mut settings = settings.clone();
    if let Value::Object(fields) = &mut settings {
        fields.shift_remove("seed");
    }
    settings
}
