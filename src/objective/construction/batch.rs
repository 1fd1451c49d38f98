//! Training with a field: lambdas of many queries, in parallel.

use super::LambdaField;
use crate::error::{Error, Result};
use crate::metric::order;
use crate::objective::{Batch, LARGEST_SCORE, QueryResult};
use crate::stop::Stop;
use rayon::prelude::*;

/// A force below this is called saturated, as a pair's sigmoid is.
const SATURATED: f64 = 1e-3;

impl dyn LambdaField {
    /// Overwrites `gradient` with `-lambda` of each document. The result counts documents where others count pairs: a field
    /// need not be made of pairs.
    ///
    /// # Errors
    /// When lengths do not fit together, or the field gives another number of forces than documents or one that is not finite, and
    /// when `stop` is set.
    pub(crate) fn batch(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        gradient: &mut [f32],
        stop: &Stop,
    ) -> Result<QueryResult> {
        let Batch { labels, offsets } = batch;
        let n = scores.len();
        let fits = offsets.first() == Some(&0) && offsets.last() == Some(&n) && offsets.is_sorted();
        if !fits || labels.len() != n || gradient.len() != n {
            return Err(Error::Mismatch(format!("{n} scores and {} labels do not fit the queries", labels.len())));
        }
        let mut rest = gradient;
        let mut tasks = Vec::with_capacity(batch.n_queries());
        for query in 0..batch.n_queries() {
            let rows = batch.rows(query);
            let (own, behind) = std::mem::take(&mut rest).split_at_mut(rows.len());
            rest = behind;
            tasks.push((&scores[rows.clone()], &labels[rows], own));
        }
        let run = |(scores, labels, gradient): (&[f32], &[f32], &mut [f32])| {
            stop.check()?;
            let result = self.query(scores, labels, gradient);
            // Whatever a field that was stopped gave is not whole.
            stop.check().and(result)
        };
        // Added up in the order of the queries, so that the number of threads never shows.
        let results: Result<Vec<QueryResult>> = tasks.into_par_iter().map(run).collect();
        Ok(results?.into_iter().sum())
    }

    fn query(&self, scores: &[f32], labels: &[f32], gradient: &mut [f32]) -> Result<QueryResult> {
        let scores: Vec<f64> = scores.iter().map(|&score| safe(score)).collect();
        let order = order(&scores);
        let lambdas = self.lambdas(&scores, labels, &order);
        if lambdas.len() != scores.len() {
            let (lambdas, scores) = (lambdas.len(), scores.len());
            return Err(Error::Mismatch(format!("{}: {lambdas} lambdas for {scores} documents", self.name())));
        }
        let mut result =
            QueryResult { loss: self.cost(&scores, labels, &order).unwrap_or(0.0), pairs: 0, saturated: 0 };
        for (slope, lambda) in gradient.iter_mut().zip(lambdas) {
            *slope = -lambda as f32;
            if !slope.is_finite() {
                return Err(Error::Mismatch(format!("{}: a lambda of {lambda}, not a finite number", self.name())));
            }
            result.pairs += u64::from(lambda != 0.0);
            result.saturated += u64::from(lambda != 0.0 && lambda.abs() < SATURATED);
        }
        Ok(result)
    }
}

/// NaN is the lowest score, and differences are finite.
fn safe(score: f32) -> f64 {
    let largest = f64::from(LARGEST_SCORE);
    if score.is_nan() { -largest } else { f64::from(score).clamp(-largest, largest) }
}
