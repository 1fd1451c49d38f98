//! Trained models, which score unscaled features.

use super::Scorer;
use super::folder::ModelInfo;
use super::run::EpochRecord;
use crate::data::Dataset;
use crate::data::scale::refuse_missing;
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric, Summary, evaluate};
use crate::stop::Stop;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scorer with its feature scaling and metadata. It scores unscaled features, and can be saved and loaded.
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
    /// Scores scaled features.
    pub scorer: Scorer,
    /// The scaling and metadata.
    pub info: ModelInfo,
    /// The epochs of its training run; empty after loading, because the log stays in the folder.
    pub history: Vec<EpochRecord>,
}

/// Maximum number of feature values that are copied and scaled at a time, unless one query has more.
const MAX_COPIED_VALUES: usize = 1 << 22;

impl Model {
    /// Scores all documents of a data set with unscaled features; sparse data with fewer features is padded with zeros.
    ///
    /// # Errors
    /// If the data has more features than the model, fewer without being sparse, or other feature names; if the device
    /// fails.
    pub fn score(&self, data: &Dataset) -> Result<Vec<f32>> {
        let width = self.info.n_features();
        let is_read_alike = !data.is_sparse() || data.is_sparse_missing() == self.info.sparse_missing;
        let is_scaled =
            self.info.scaler.is_identity() && (matches!(self.scorer, Scorer::Trees(_)) || !data.has_missing());
        if data.n_features() == width && data.feature_names().is_none() && is_scaled && is_read_alike {
            return self.scorer.score(data);
        }
        self.score_in_parts(data, &Stop::new())
    }

    /// Like [`Model::score`], checking `stop` between parts of the data.
    fn score_in_parts(&self, data: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        let (width, offsets) = (self.info.n_features(), data.offsets());
        if data.n_queries() == 0 {
            return self.info.fit(data.clone()).map(|_| Vec::new());
        }
        // A few queries at a time: a scaled copy of all could need more memory than the data.
        let mut scores = Vec::with_capacity(data.n_documents());
        let mut start = 0;
        while start < data.n_queries() {
            stop.check()?;
            let fits = |end: &usize| (offsets[end + 1] - offsets[start]).saturating_mul(width) <= MAX_COPIED_VALUES;
            let end = (start + 1..data.n_queries()).take_while(fits).last().unwrap_or(start) + 1;
            let part = self.scaled(data.select(&(start..end).collect::<Vec<_>>()))?;
            scores.extend(self.scorer.score(&part)?);
            start = end;
        }
        Ok(scores)
    }

    /// Scores the documents of one query from their unscaled features, one row per document.
    ///
    /// # Errors
    /// If `features` is not a whole number of rows, or the device fails.
    pub fn score_query(&self, features: &[f32]) -> Result<Vec<f32>> {
        self.check_missing(features, 0)?;
        let inputs = self.info.scaler.inputs_of(features.to_vec())?;
        self.scorer.score_rows(&inputs, self.info.scaler.n_inputs())
    }

    /// Scales data for the scorer, and pads sparse data that has fewer features with zeros.
    ///
    /// # Errors
    /// If the data has more features than the model, or fewer without being sparse.
    pub fn scaled(&self, data: Dataset) -> Result<Dataset> {
        let mut data = self.info.fit(data)?;
        if !matches!(self.scorer, Scorer::Trees(_)) && self.info.scaler.medians().is_empty() && data.has_missing() {
            data.for_rows(MAX_COPIED_VALUES, |rows, values| self.check_missing(values, rows.start))?;
        }
        self.info.scaler.apply(&mut data)?;
        Ok(data)
    }

    /// Refuses missing values that the scorer cannot take. `first` is the number of the first row.
    fn check_missing(&self, rows: &[f32], first: usize) -> Result<()> {
        match self.scorer {
            Scorer::Trees(_) => Ok(()),
            Scorer::Net(_) | Scorer::Kernel(_) => refuse_missing(&self.info.scaler, rows, first),
        }
    }

    /// Returns the mean of each metric over the queries of a data set with unscaled features, by the metric's name.
    ///
    /// Metrics without a finite value are left out.
    ///
    /// # Errors
    /// The errors of [`Model::score`].
    pub fn evaluate(&self, data: &Dataset, metrics: &[Arc<dyn Metric>]) -> Result<BTreeMap<String, f64>> {
        Ok(means(metrics, &self.score(data)?, data))
    }

    /// Like [`Model::evaluate`], with a stop flag.
    ///
    /// # Errors
    /// The errors of [`Model::evaluate`], and [`Error::Stopped`].
    pub fn evaluate_until(
        &self,
        data: &Dataset,
        metrics: &[Arc<dyn Metric>],
        stop: &Stop,
    ) -> Result<BTreeMap<String, f64>> {
        let scores = self.score_in_parts(data, stop)?;
        means_until(metrics, &scores, data, stop).ok_or(Error::Stopped)
    }

    /// Validation metric of the best epoch, if the model comes from a training run.
    pub fn best_value(&self) -> Option<f64> {
        self.info.run.as_ref().and_then(|run| run.best_value)
    }
}

/// The mean of each metric over queries under the default conventions; metrics without a finite value are left out.
pub(crate) fn means(metrics: &[Arc<dyn Metric>], scores: &[f32], data: &Dataset) -> BTreeMap<String, f64> {
    metrics.iter().filter_map(|metric| mean(metric, scores, data)).collect()
}

/// Like [`means`]; `None` if stopped before all values are computed.
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
