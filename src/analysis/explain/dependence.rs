//! Partial dependence: the mean score of documents as a function of one feature.

use super::explainer::{row_of, spread};
use crate::data::{Dataset, Scaler};
use crate::error::Result;
use crate::model::Model;
use rayon::prelude::*;
use serde::Serialize;

/// What the values of a [`Dependence`] are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// The feature as the data has it.
    Raw,
    /// The feature as the model sees it, where scaling depends on the query.
    Scaled,
}

/// The mean score of documents when all of them have the same value of one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// The feature's column, counted from 0.
    pub feature: usize,
    /// What the values are.
    pub axis: Axis,
    /// The documents that scores are averaged over.
    pub documents: usize,
    /// Quantiles of the feature in the data, ascending.
    pub values: Vec<f64>,
    /// The mean score at each value.
    pub scores: Vec<f64>,
}

/// The shares of documents below the values of a grid.
const SHARES: [f64; 11] = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99];
/// Documents that quantiles are of.
const QUANTILES: usize = 20_000;
/// Documents that scores are averaged over.
const AVERAGED: usize = 1_000;

/// Quantiles of each feature, ascending and different, over at most 20,000 documents evenly spread over the data.
///
/// ```
/// use burnrank::Dataset;
/// use burnrank::analysis::explain::grids;
/// let data = Dataset::new(1, vec![0.0, 0.0, 0.0, 9.0], vec![0.0; 4], vec![("a".into(), 4)])?;
/// assert_eq!(grids(&data), [[0.0, 9.0]]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub fn grids(data: &Dataset) -> Vec<Vec<f32>> {
    let rows: Vec<usize> = spread(data.n_documents(), QUANTILES).collect();
    let grid = |feature: usize| {
        let mut values: Vec<f32> =
            rows.iter().map(|&row| row_of(data, row)[feature]).filter(|x| x.is_finite()).collect();
        values.sort_by(f32::total_cmp);
        let last = values.len().saturating_sub(1);
        let mut grid: Vec<f32> =
            SHARES.iter().filter_map(|share| values.get((share * last as f64).round() as usize)).copied().collect();
        // -0 and 0 are one value.
        grid.dedup_by(|a, b| a == b);
        grid
    };
    (0..data.n_features()).into_par_iter().map(grid).collect()
}

/// The partial dependence on one feature, over at most 1,000 documents evenly spread over the data; nothing where the feature
/// has but one value.
///
/// `data` are documents as the model sees them, scaled; `grid` is the feature's row of [`grids`], of the raw data, or of the
/// scaled data where the scaling depends on the query.
///
/// # Errors
/// When the data do not fit the model, or the device fails.
pub fn dependence(model: &Model, data: &Dataset, feature: usize, grid: &[f32]) -> Result<Option<Dependence>> {
    if grid.len() < 2 {
        return Ok(None);
    }
    let (width, scaler) = (data.n_features(), &model.info.scaler);
    let axis = axis(scaler);
    let rows: Vec<usize> = spread(data.n_documents(), AVERAGED).collect();
    let mut documents: Vec<f32> = rows.iter().flat_map(|&row| row_of(data, row)).copied().collect();
    let mut scores = Vec::with_capacity(grid.len());
    for &value in grid {
        let value = match axis {
            Axis::Raw => scaled(scaler, feature, value)?,
            Axis::Scaled => value,
        };
        documents.chunks_exact_mut(width).for_each(|document| document[feature] = value);
        let found = model.scorer.score_rows(&documents, width)?;
        scores.push(found.iter().map(|&score| f64::from(score)).sum::<f64>() / found.len() as f64);
    }
    let values = grid.iter().map(|&value| f64::from(value)).collect();
    Ok(Some(Dependence { feature, axis, documents: rows.len(), values, scores }))
}

/// Which grid a model's features are told on.
pub(super) fn axis(scaler: &Scaler) -> Axis {
    if scaler.is_per_query() { Axis::Scaled } else { Axis::Raw }
}

/// A value of a feature as the model sees it.
fn scaled(scaler: &Scaler, feature: usize, value: f32) -> Result<f32> {
    let mut row = vec![0.0; scaler.n_features()];
    row[feature] = value;
    scaler.apply_rows(&mut row)?;
    Ok(row[feature])
}
