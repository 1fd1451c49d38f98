//! A scorer with all that is needed to use it on raw features.

use super::Scorer;
use super::folder::ModelInfo;
use super::run::EpochRecord;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric, Summary, evaluate};
use crate::stop::Stop;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scorer, the scaling of its features, and what is known about it. It scores raw features, saves and loads.
///
/// ```
/// use burnrank::{Dataset, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, device};
/// let data = Dataset::new(2, vec![1.0, 5.0, 3.0, 5.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
/// let shape = RankerConfig::linear(2);
/// let model = Model {
///     scorer: Scorer::Net(shape.from_weights(&[vec![2.0, 1.0]], &device::open("auto")?)?),
///     info: ModelInfo::new(shape, Scaler::fit(ScaleKind::ZScore, &data), "by hand"),
///     history: vec![],
/// };
/// // Scaled, the two documents are (-1, 0) and (1, 0).
/// assert_eq!(model.score(&data)?, [-2.0, 2.0]);
/// assert_eq!(model.score_query(&[1.0, 5.0, 3.0, 5.0])?, [-2.0, 2.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    /// What scores scaled features.
    pub scorer: Scorer,
    /// The scaling, and what is known about the model.
    pub info: ModelInfo,
    /// Every epoch of the run that it is from; empty after loading, because the log stays in the folder.
    pub history: Vec<EpochRecord>,
}

/// Feature values that are copied and scaled at once, at most, unless one query has more.
const AT_ONCE: usize = 1 << 22;

impl Model {
    /// Scores every document of a data set with raw features; sparse data of fewer features is filled up with zeros.
    ///
    /// # Errors
    /// When the data has more features than the model, or fewer and is not sparse, or calls them otherwise, or the device fails.
    pub fn score(&self, data: &Dataset) -> Result<Vec<f32>> {
        let width = self.info.ranker.features;
        if data.n_features() == width && data.feature_names().is_none() && self.info.scaler.steps().is_empty() {
            return self.scorer.score(data);
        }
        self.score_in_parts(data, &Stop::new())
    }

    /// As [`Model::score`], with a look at whether to stop between parts of the data.
    fn score_in_parts(&self, data: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        let (width, offsets) = (self.info.ranker.features, data.offsets());
        if data.n_queries() == 0 {
            return self.info.fit(data.clone()).map(|_| Vec::new());
        }
        // A few queries at a time: a scaled copy of all could take as much memory as the data, or more.
        let mut scores = Vec::with_capacity(data.n_documents());
        let mut start = 0;
        while start < data.n_queries() {
            stop.check()?;
            let fits = |end: &usize| (offsets[end + 1] - offsets[start]).saturating_mul(width) <= AT_ONCE;
            let end = (start + 1..data.n_queries()).take_while(fits).last().unwrap_or(start) + 1;
            let part = self.scaled(data.select(&(start..end).collect::<Vec<_>>()))?;
            scores.extend(self.scorer.score(&part)?);
            start = end;
        }
        Ok(scores)
    }

    /// Scores the documents of one query: their raw features, one row per document.
    ///
    /// # Errors
    /// When `features` is not a whole number of rows, or the device fails.
    pub fn score_query(&self, features: &[f32]) -> Result<Vec<f32>> {
        let mut rows = features.to_vec();
        self.info.scaler.apply_rows(&mut rows)?;
        self.scorer.score_rows(&rows, self.info.ranker.features)
    }

    /// The data as the scorer sees it: scaled, and filled up with zeros where it is sparse and of fewer features.
    ///
    /// # Errors
    /// When the data has more features than the model, or fewer and is not sparse.
    pub fn scaled(&self, data: Dataset) -> Result<Dataset> {
        let mut data = self.info.fit(data)?;
        self.info.scaler.apply(&mut data)?;
        Ok(data)
    }

    /// The mean of each measure over the queries of a data set with raw features, by the measure's name.
    ///
    /// A measure without a finite value is left out.
    ///
    /// # Errors
    /// As [`Model::score`].
    pub fn evaluate(&self, data: &Dataset, metrics: &[Arc<dyn Metric>]) -> Result<BTreeMap<String, f64>> {
        Ok(means(metrics, &self.score(data)?, data))
    }

    /// As [`Model::evaluate`], unless it is asked to stop before.
    ///
    /// # Errors
    /// As [`Model::evaluate`], and [`Error::Stopped`].
    pub fn evaluate_until(
        &self,
        data: &Dataset,
        metrics: &[Arc<dyn Metric>],
        stop: &Stop,
    ) -> Result<BTreeMap<String, f64>> {
        let scores = self.score_in_parts(data, stop)?;
        means_until(metrics, &scores, data, stop).ok_or(Error::Stopped)
    }

    /// The value on the validation queries that chose the best epoch, where the model is from a training run.
    pub fn best_value(&self) -> Option<f64> {
        self.info.run.as_ref().and_then(|run| run.best_value)
    }
}

/// The mean of each measure over queries, under the default conventions; those without a finite value are left out.
pub(crate) fn means(metrics: &[Arc<dyn Metric>], scores: &[f32], data: &Dataset) -> BTreeMap<String, f64> {
    metrics.iter().filter_map(|metric| mean(metric, scores, data)).collect()
}

/// As [`means`]; `None` if stopped before all values are computed.
pub(crate) fn means_until(
    metrics: &[Arc<dyn Metric>],
    scores: &[f32],
    data: &Dataset,
    stop: &Stop,
) -> Option<BTreeMap<String, f64>> {
    let means = metrics.iter().map(|metric| stop.check().map(|()| mean(metric, scores, data)));
    Some(means.collect::<Result<Vec<_>>>().ok()?.into_iter().flatten().collect())
}

fn mean(metric: &Arc<dyn Metric>, scores: &[f32], data: &Dataset) -> Option<(String, f64)> {
    let values = evaluate(&**metric, scores, data.labels(), data.offsets(), &Conventions::default()).ok()?;
    Some((metric.name(), Summary::of(&values).mean)).filter(|(_, mean)| mean.is_finite())
}
