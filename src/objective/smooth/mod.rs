//! Smooth losses, given by a formula of a query's scores: listwise, pairwise and pointwise, one per file.

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

/// A loss given by a formula, in double precision on the host and in tensor operations.
pub(super) trait Formula: Debug + Send + Sync {
    /// The name, as it parses.
    fn name(&self) -> String;

    /// Returns the loss of one query. Adds `dC/ds` to `gradient`, and the diagonal of the second derivatives to
    /// `hessian`, which is empty unless requested; both are 0 before.
    ///
    /// Scores are at most 1e30 in size. Gradients must be finite.
    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], stop: &Stop) -> f64;

    /// The same loss for the rows of a tile, as tensors, summed over its queries.
    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart>;

    /// Returns whether a query's loss is not a sum over its rows.
    fn needs_whole_queries(&self) -> bool {
        false
    }

    /// Returns whether adding a constant to all scores has no effect.
    fn ignores_shifts(&self) -> bool {
        true
    }

    /// Returns whether single documents contribute.
    fn is_pointwise(&self) -> bool {
        false
    }

    /// Difference of scores over which the gradient changes smoothly.
    fn width(&self) -> f64 {
        1.0
    }

    /// Maximum label with a finite loss.
    fn largest_label(&self) -> f32 {
        1e9
    }
}

/// Adapts a formula to the traits of losses.
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
        let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; if to.hessian.is_some() { n } else { 0 }]);
        let loss = self.0.evaluate(&scores, query.labels, &mut gradient, &mut hessian, query.stop);
        query.stop.check()?;
        let mut result = QueryResult { loss, ..QueryResult::default() };
        for (to, derivative) in to.gradient.iter_mut().zip(&gradient) {
            *to = *derivative as f32;
            if !to.is_finite() {
                return Err(Error::Mismatch(format!("{}: gradient {derivative} is not finite", self.0.name())));
            }
            result.pairs += u64::from(*derivative != 0.0);
            result.saturated += u64::from(*derivative != 0.0 && derivative.abs() < SATURATED);
        }
        to.hessian.into_iter().flatten().zip(&hessian).for_each(|(to, second)| *to = *second as f32);
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
        let mut gradient = vec![0.0; scores.len()];
        self.0.evaluate(scores, labels, &mut gradient, &mut [], &Stop::new());
        gradient.iter().map(|derivative| -derivative).collect()
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
