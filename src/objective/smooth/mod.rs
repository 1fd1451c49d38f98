//! Losses that are one smooth formula of a query's scores: listwise, pairwise and pointwise ones, one per file.

pub(super) mod approx_ndcg;
mod common;
pub(super) mod exponential;
pub(super) mod hinge;
pub(super) mod listnet;
pub(super) mod rankcosine;
pub(super) mod softrank;
pub(super) mod squared_error;
#[cfg(test)]
mod tests;

use super::lambda_field::LambdaField;
use super::loss::{Gradients, Loss, Outputs, Query, QueryResult, SATURATED};
use super::pairwise::LossScratch;
use super::tensor::{TensorLoss, TensorTile, TilePart};
use crate::error::{Error, Result};
use crate::numeric::order::safe;
use crate::stop::Stop;
use std::fmt::Debug;

/// A loss as one formula, in double precision on the host and in tensor operations.
pub(super) trait Formula: Debug + Send + Sync {
    /// The name that parses.
    fn name(&self) -> String;

    /// The loss of one query. Adds `dC/ds` to `slopes`, and the diagonal of the second derivatives to `second`, which is
    /// empty unless they are wanted; both are 0 before.
    ///
    /// Scores are at most 1e30 in size, slopes must be finite.
    fn evaluate(&self, scores: &[f64], labels: &[f32], slopes: &mut [f64], hessian: &mut [f64], stop: &Stop) -> f64;

    /// The same loss of the rows of a tile, as tensors: the sum over its queries.
    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart>;

    /// Whether a query's loss is no sum over its rows.
    fn needs_whole_queries(&self) -> bool {
        false
    }

    /// Whether a shift of all scores changes nothing.
    fn ignores_shifts(&self) -> bool {
        true
    }

    /// Whether single documents teach something.
    fn is_pointwise(&self) -> bool {
        false
    }

    /// The difference of scores over which slopes change smoothly.
    fn width(&self) -> f64 {
        1.0
    }

    /// Labels beyond this have no finite loss.
    fn largest_label(&self) -> f32 {
        1e9
    }
}

/// What is trained with a formula.
#[derive(Debug)]
pub(super) struct SmoothLoss<F>(pub F);

impl<F: Formula> Loss for SmoothLoss<F> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn query(&self, query: Query<'_>, to: Gradients<'_>, _: Outputs, _: &mut LossScratch) -> Result<QueryResult> {
        query.check(&to, self.0.largest_label())?;
        let scores: Vec<f64> = query.scores.iter().map(|&score| f64::from(safe(score))).collect();
        let n = scores.len();
        let (mut slopes, mut hessian) = (vec![0.0; n], vec![0.0; if to.hessian.is_some() { n } else { 0 }]);
        let loss = self.0.evaluate(&scores, query.labels, &mut slopes, &mut hessian, query.stop);
        query.stop.check()?;
        let mut result = QueryResult { loss, ..QueryResult::default() };
        for (to, slope) in to.gradient.iter_mut().zip(&slopes) {
            *to = *slope as f32;
            if !to.is_finite() {
                return Err(Error::Mismatch(format!("{}: a slope of {slope}, not a finite number", self.0.name())));
            }
            result.pairs += u64::from(*slope != 0.0);
            result.saturated += u64::from(*slope != 0.0 && slope.abs() < SATURATED);
        }
        to.hessian.into_iter().flatten().zip(&hessian).for_each(|(to, slope)| *to = *slope as f32);
        Ok(result)
    }

    fn is_cost(&self) -> bool {
        true
    }

    fn is_pointwise(&self) -> bool {
        self.0.is_pointwise()
    }

    fn tensors(&self) -> Option<&dyn TensorLoss> {
        Some(self)
    }

    fn field(&self) -> Option<&dyn LambdaField> {
        Some(self)
    }
}

impl<F: Formula> TensorLoss for SmoothLoss<F> {
    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        self.0.tile(tile)
    }

    fn needs_whole_queries(&self) -> bool {
        self.0.needs_whole_queries()
    }
}

impl<F: Formula> LambdaField for SmoothLoss<F> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], _: &[usize]) -> Vec<f64> {
        let mut slopes = vec![0.0; scores.len()];
        self.0.evaluate(scores, labels, &mut slopes, &mut [], &Stop::new());
        slopes.iter().map(|slope| -slope).collect()
    }

    fn cost(&self, scores: &[f64], labels: &[f32], _: &[usize]) -> Option<f64> {
        Some(self.0.evaluate(scores, labels, &mut vec![0.0; scores.len()], &mut [], &Stop::new()))
    }

    fn ignores_shifts(&self) -> bool {
        self.0.ignores_shifts()
    }

    fn width(&self) -> f64 {
        self.0.width()
    }
}
