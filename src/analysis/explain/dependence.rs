//! Partial dependence: the mean score of documents as a function of one feature.

use super::explainer::{evenly_spaced, row_of};
use crate::data::scale::Input;
use crate::data::{Dataset, Scaler};
use crate::error::{Error, Result};
use crate::model::Model;
use rayon::prelude::*;
use serde::Serialize;

/// Unit of the values of a [`Dependence`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Raw feature values.
    Raw,
    /// Scaled feature values, used if the scaling depends on the query.
    Scaled,
}

/// Mean score of documents if all of them have the same value of one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// Column of the feature, from 0.
    pub feature: usize,
    /// Unit of `values`.
    pub axis: Axis,
    /// Number of documents that scores are averaged over.
    pub documents: usize,
    /// Quantiles of the feature in the data, ascending.
    pub values: Vec<f64>,
    /// Mean score at each value.
    pub scores: Vec<f64>,
    /// Mean score if the feature is missing in all of them, if it is in some document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
}

/// Quantile levels of a grid.
const SHARES: [f64; 11] = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99];
/// Maximum number of documents for the quantiles.
const QUANTILES: usize = 20_000;
/// Maximum number of documents that scores are averaged over.
const AVERAGED: usize = 1_000;

/// Returns the distinct quantiles of each feature, ascending, over at most 20,000 documents evenly spaced in the data.
///
/// ```
/// use burnrank::Dataset;
/// use burnrank::analysis::explain::grids;
/// let data = Dataset::new(1, vec![0.0, 0.0, 0.0, 9.0], vec![0.0; 4], vec![("a".into(), 4)])?;
/// assert_eq!(grids(&data), [[0.0, 9.0]]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub fn grids(data: &Dataset) -> Vec<Vec<f32>> {
    let rows: Vec<usize> = evenly_spaced(data.n_documents(), QUANTILES).collect();
    let grid = |feature: usize| {
        let mut values: Vec<f32> =
            rows.iter().map(|&row| row_of(data, row)[feature]).filter(|x| x.is_finite()).collect();
        values.sort_by(f32::total_cmp);
        let last = values.len().saturating_sub(1);
        let mut grid: Vec<f32> =
            SHARES.iter().filter_map(|share| values.get((share * last as f64).round() as usize)).copied().collect();
        // -0 and 0 are equal.
        grid.dedup_by(|a, b| a == b);
        grid
    };
    (0..data.n_features()).into_par_iter().map(grid).collect()
}

/// Returns the partial dependence on one feature, over at most 1,000 documents evenly spaced in the data; `None` if the feature
/// has only one value.
///
/// `data` is scaled as the model expects. `grid` is the feature's row of [`grids`] for the raw data, or for the scaled data if the
/// scaling depends on the query.
///
/// # Errors
/// If the data does not fit the model, or the device fails.
pub fn dependence(model: &Model, data: &Dataset, feature: usize, grid: &[f32]) -> Result<Option<Dependence>> {
    dependence_of(model, data, feature, grid, false)
}

/// Like [`dependence`]; `has_missing`: whether the feature is missing in some documents, which is a value of its own.
pub(super) fn dependence_of(
    model: &Model,
    data: &Dataset,
    feature: usize,
    grid: &[f32],
    has_missing: bool,
) -> Result<Option<Dependence>> {
    if grid.len() < 2 {
        return Ok(None);
    }
    let (width, scaler) = (data.n_features(), &model.info.scaler);
    let (axis, list) = (axis(scaler), scaler.inputs());
    let columns: Vec<usize> = (0..list.len()).filter(|&column| list[column].feature() == feature).collect();
    let rows: Vec<usize> = evenly_spaced(data.n_documents(), AVERAGED).collect();
    let mut documents: Vec<f32> = rows.iter().flat_map(|&row| row_of(data, row)).copied().collect();
    let mut score = |value: f32| {
        let inputs = inputs(scaler, feature, value)?;
        for document in documents.chunks_exact_mut(width) {
            for &column in &columns {
                let is_scaled = axis == Axis::Scaled && !value.is_nan() && matches!(list[column], Input::Scaled(_));
                document[column] = if is_scaled { value } else { inputs[column] };
            }
        }
        let values = model.scorer.score_rows(&documents, width)?;
        Ok::<f64, Error>(values.iter().map(|&score| f64::from(score)).sum::<f64>() / values.len() as f64)
    };
    let scores = grid.iter().map(|&value| score(value)).collect::<Result<Vec<_>>>()?;
    let missing = if has_missing && axis == Axis::Raw { Some(score(f32::NAN)?) } else { None };
    let values = grid.iter().map(|&value| f64::from(value)).collect();
    Ok(Some(Dependence { feature, axis, documents: rows.len(), values, scores, missing }))
}

/// Returns the unit of a model's feature grids.
pub(super) fn axis(scaler: &Scaler) -> Axis {
    if scaler.is_per_query() { Axis::Scaled } else { Axis::Raw }
}

/// Returns the inputs of a document with one value of a feature, and 0 for all others.
fn inputs(scaler: &Scaler, feature: usize, value: f32) -> Result<Vec<f32>> {
    let mut row = vec![0.0; scaler.n_features()];
    row[feature] = value;
    scaler.inputs_of(row)
}
