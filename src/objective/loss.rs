//! Losses: functions of one query's scores and labels with a gradient.

use super::lambda_field::LambdaField;
use super::pairwise::{LossScratch, PairLoss};
use super::tensor::TensorLoss;
use crate::error::{Error, Result};
use crate::stop::Stop;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::Add;

/// A loss that models can be trained with: pair losses, listwise losses, lambda constructions and custom losses.
///
/// Only [`Loss::name`] and [`Loss::query`] are required.
///
/// ```
/// use burnrank::objective::{Batch, Loss, Query, QueryResult, LossScratch, Gradients, Outputs};
/// use burnrank::{Objective, Result};
/// /// `sum of (s_i - y_i)^2 / 2`.
/// #[derive(Debug)]
/// struct Regression;
/// impl Loss for Regression {
///     fn name(&self) -> String {
///         "regression".to_owned()
///     }
///     fn query(&self, query: Query<'_>, to: Gradients<'_>, _: Outputs, _: &mut LossScratch) -> Result<QueryResult> {
///         let mut loss = 0.0;
///         for ((score, label), gradient) in query.scores.iter().zip(query.labels).zip(to.gradient) {
///             *gradient = score - label;
///             loss += f64::from(*gradient).powi(2) / 2.0;
///         }
///         Ok(QueryResult { loss, ..QueryResult::default() })
///     }
/// }
/// let mut gradient = [0.0; 2];
/// let batch = Batch { labels: &[1.0, 0.0], offsets: &[0, 2] };
/// let objective = Objective::of(std::sync::Arc::new(Regression));
/// objective.lambda_gradient(&[3.0, 0.5], batch, &mut gradient, Outputs::default(), &[])?;
/// assert_eq!(gradient, [2.0, 0.5]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub trait Loss: Debug + Send + Sync {
    /// Returns the full name of the loss, as in `ndcg-loss2++@10:mu=5`.
    fn name(&self) -> String;

    /// Overwrites the gradient of one query with `dC/ds` of each document, in document order.
    ///
    /// Scores may have any value, including NaN; gradients must be finite, and 0 if there is nothing to learn. A loss
    /// over pairs is the sum over the pairs.
    ///
    /// # Errors
    /// Returns an error if lengths differ, a label is invalid, or [`Query::stop`] is set.
    fn query(
        &self,
        query: Query<'_>,
        to: Gradients<'_>,
        outputs: Outputs,
        scratch: &mut LossScratch,
    ) -> Result<QueryResult>;

    /// Returns whether the loss is a fixed function of the scores, so that it can be compared between epochs. The pair
    /// weights of other losses change with the ranking.
    fn is_cost(&self) -> bool {
        false
    }

    /// Returns whether single documents contribute, so that queries whose labels are all equal are used for training.
    fn is_pointwise(&self) -> bool {
        false
    }

    /// Returns whether the loss depends on [`Query::seed`].
    fn is_random(&self) -> bool {
        false
    }

    /// Returns the same loss in tensor operations, if there is one.
    fn tensors(&self) -> Option<&dyn TensorLoss> {
        None
    }

    /// Returns the lambdas in double precision, for analysing whether they have a cost function.
    fn field(&self) -> Option<&dyn LambdaField> {
        None
    }

    /// Returns the loss as a sum over weighted pairs, if it is one.
    fn as_pairs(&self) -> Option<&PairLoss> {
        None
    }
}

/// The input of a loss: one query.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// One score per document.
    pub scores: &'a [f32],
    /// One label per document.
    pub labels: &'a [f32],
    /// Seed of random numbers.
    pub seed: u64,
    /// When set, the computation ends within a second with [`Error::Stopped`].
    pub stop: &'a Stop,
}

impl Query<'_> {
    /// Checks that the lengths are equal and that the absolute value of every label is at most `largest`.
    ///
    /// # Errors
    /// Returns an error if they are not.
    pub fn check(&self, to: &Gradients<'_>, largest: f32) -> Result<()> {
        let n = self.scores.len();
        let hessian = to.hessian.as_ref().map_or(n, |hessian| hessian.len());
        if self.labels.len() != n || to.gradient.len() != n || hessian != n {
            let (labels, gradients) = (self.labels.len(), to.gradient.len().min(hessian));
            return Err(Error::Mismatch(format!("{n} scores, {labels} labels, {gradients} gradients of one query")));
        }
        let is_valid = |label: &f32| label.abs() <= largest;
        // No early exit, so that the loop vectorises.
        if self.labels.iter().fold(true, |all, label| all & is_valid(label)) {
            return Ok(());
        }
        let document = self.labels.iter().take_while(|label| is_valid(label)).count();
        let label = self.labels[document];
        Err(Error::Mismatch(format!("document {document} has label {label}: expected a number of at most {largest}")))
    }
}

/// Output buffers for the gradient of a query: one number per document.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// `dC/ds`.
    pub gradient: &'a mut [f32],
    /// Diagonal of the hessian, if requested: `sum over j of w sigma^2 p (1 - p)` for pairs.
    pub hessian: Option<&'a mut [f32]>,
}

impl<'a> Gradients<'a> {
    /// Requests the gradient only.
    pub fn gradient(gradient: &'a mut [f32]) -> Self {
        Gradients { gradient, hessian: None }
    }
}

/// Optional outputs besides the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outputs {
    /// Compute the loss.
    pub loss: bool,
    /// Count the pairs.
    pub pairs: bool,
}

/// Sums over the pairs of one or more queries.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct QueryResult {
    /// Loss; 0 unless requested.
    pub loss: f64,
    /// Number of pairs with a nonzero weight, or, for losses without pairs, of documents with a nonzero gradient; 0
    /// unless requested.
    pub pairs: u64,
    /// Number of these pairs whose gradient is below a thousandth of their weight; 0 unless requested.
    pub saturated: u64,
}

impl Add for QueryResult {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        QueryResult {
            loss: self.loss + other.loss,
            pairs: self.pairs + other.pairs,
            saturated: self.saturated + other.saturated,
        }
    }
}

impl Sum for QueryResult {
    fn sum<I: Iterator<Item = Self>>(results: I) -> Self {
        results.fold(QueryResult::default(), Add::add)
    }
}

/// Pairs whose gradient is below this fraction of their weight are saturated.
pub(super) const SATURATED: f64 = 1e-3;
