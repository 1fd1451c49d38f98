//! Averaging the scores of several models in one model.

use super::{Architecture, EpochRecord, Finish, Model, ModelInfo, Scorer};
use crate::data::Dataset;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A member of an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberInfo {
    /// Training objective.
    pub objective: String,
    /// Architecture of the member.
    pub architecture: Architecture,
    /// Seed of its run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Epoch of its weights.
    pub best_epoch: usize,
    /// Metric on the member's validation queries at that epoch, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_value: Option<f64>,
    /// Why its training ended, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// Factor of its scores in the ensemble; 0 if it scores all documents of each query equally.
    pub factor: f64,
    /// This member's settings; omitted if they equal the ensemble's except for the seed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
}

impl Model {
    /// Averages several models, normalised to the same score deviation, into one. Scoring costs as much as a single
    /// model with the units or trees of all of them.
    ///
    /// The score is the mean over models of `score / deviation`. The deviation of a model is the square root of the
    /// mean over the queries of `train` (unscaled features) of the variance of its scores within the query. A model
    /// that scores all documents of each query equally has factor 0: see [`MemberInfo::factor`].
    ///
    /// Training settings and data descriptions are those of the first model. Metrics are left out, because one model's
    /// validation queries may be another's training queries.
    ///
    /// # Errors
    /// If there is no model, the models scale features differently, [`Scorer::weighted_sum`] refuses them, or they
    /// cannot score the data.
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
    /// // Scores of 0 and 2, with deviation 1; and of 0 and 12, with deviation 6.
    /// let both = Model::ensemble(&[linear(vec![1.0, 0.0])?, linear(vec![0.0, 3.0])?], &data)?;
    /// assert_eq!(both.info.members.iter().map(|member| member.factor).collect::<Vec<_>>(), [1.0 / 2.0, 1.0 / 12.0]);
    /// assert_eq!(both.score(&data)?, [0.0, 2.0]);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub fn ensemble(models: &[Model], train: &Dataset) -> Result<Model> {
        check_scalings(models)?;
        let deviations: Result<Vec<f64>> =
            models.iter().map(|model| Ok(score_deviation(&model.score(train)?, train.offsets()))).collect();
        fold(models, &deviations?)
    }
}

/// Differences below this fraction of the scores' size count as rounding errors.
const ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// The square root of the mean over queries of the variance of scores within a query; 0 if it is only rounding, or if
/// scores are not finite.
pub(crate) fn score_deviation(scores: &[f32], offsets: &[usize]) -> f64 {
    let (mut variances, mut squares) = (0.0, 0.0);
    for rows in offsets.windows(2).map(|pair| &scores[pair[0]..pair[1]]) {
        let n = rows.len().max(1) as f64;
        let mean = rows.iter().map(|&score| f64::from(score)).sum::<f64>() / n;
        variances += rows.iter().map(|&score| (f64::from(score) - mean).powi(2)).sum::<f64>() / n;
        squares += rows.iter().map(|&score| f64::from(score).powi(2)).sum::<f64>() / n;
    }
    let queries = offsets.len().saturating_sub(1).max(1) as f64;
    let (deviation, size) = ((variances / queries).sqrt(), (squares / queries).sqrt());
    if deviation.is_finite() && deviation > ROUNDING * size { deviation } else { 0.0 }
}

/// Averages models with these score deviations; models with deviation 0 are ignored.
pub(crate) fn fold(models: &[Model], deviations: &[f64]) -> Result<Model> {
    check_scalings(models)?;
    let Some(first) = models.first() else {
        return Err(Error::Config("an ensemble without models: pass at least one".into()));
    };
    let count = deviations.iter().filter(|deviation| **deviation > 0.0).count() as f64;
    let factor = |&deviation: &f64| if deviation > 0.0 { 1.0 / (deviation * count) } else { 0.0 };
    let factors: Vec<f64> = deviations.iter().map(factor).collect();
    let scorers: Vec<(&Scorer, f64)> = models.iter().map(|model| &model.scorer).zip(factors.iter().copied()).collect();
    let scorer = Scorer::weighted_sum(&scorers)?;
    let mut info = ModelInfo::new(scorer.config(), first.info.scaler.clone(), objectives(models));
    info.sparse_missing = first.info.sparse_missing;
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

/// Refuses models with different scalings.
fn check_scalings(models: &[Model]) -> Result<()> {
    let Some((first, others)) = models.split_first() else { return Ok(()) };
    let scaler = &first.info.scaler;
    match others.iter().find(|other| other.info.scaler != *scaler) {
        None => Ok(()),
        Some(other) if other.info.scaler.kind() == scaler.kind() => Err(Error::Mismatch(format!(
            "models whose {} scaling was fitted on different data cannot be averaged: train all on the same data, or \
             use a scaling by query such as query-minmax",
            scaler.kind()
        ))),
        Some(other) => Err(Error::Mismatch(format!(
            "models with {} and {} scaling cannot be averaged: train all with the same `scale`",
            scaler.kind(),
            other.info.scaler.kind()
        ))),
    }
}

/// The distinct training objectives of all models.
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
