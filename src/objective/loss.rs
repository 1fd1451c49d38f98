//! What can be trained: a function of one query's scores and labels that has a gradient.

use super::lambda_field::LambdaField;
use super::pairwise::{LossScratch, PairLoss};
use super::tensor::TensorLoss;
use crate::error::{Error, Result};
use crate::stop::Stop;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::Add;

/// Everything that can be trained: pair losses, listwise losses, lambda constructions and a user's own.
///
/// Only [`Loss::name`] and [`Loss::query`] must be given.
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
///         for ((score, label), slope) in query.scores.iter().zip(query.labels).zip(to.gradient) {
///             *slope = score - label;
///             loss += f64::from(*slope).powi(2) / 2.0;
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
    /// The name that says everything about the loss, as in `ndcg-loss2++@10:mu=5`.
    fn name(&self) -> String;

    /// Overwrites the slopes of one query with `dC/ds` of each document, in document order.
    ///
    /// Scores may be anything, also NaN; slopes must be finite, and 0 where there is nothing to learn. A loss over pairs is
    /// the sum over them.
    ///
    /// # Errors
    /// When the lengths differ, a label makes no sense, or [`Query::stop`] is set.
    fn query(
        &self,
        query: Query<'_>,
        to: Gradients<'_>,
        outputs: Outputs,
        scratch: &mut LossScratch,
    ) -> Result<QueryResult>;

    /// Whether the loss is one function of the scores, so that its rise is bad news. The weights of all others change with
    /// the ranking, so that losses of two epochs do not compare.
    fn is_cost(&self) -> bool {
        false
    }

    /// Whether single documents teach something, so that queries whose labels are all equal can be trained on.
    fn is_pointwise(&self) -> bool {
        false
    }

    /// Whether [`Query::seed`] matters.
    fn is_random(&self) -> bool {
        false
    }

    /// The same loss in tensor operations, where there is one.
    fn tensors(&self) -> Option<&dyn TensorLoss> {
        None
    }

    /// The forces on documents in double precision, for the analysis of their costs.
    fn field(&self) -> Option<&dyn LambdaField> {
        None
    }

    /// The loss as a sum over weighted pairs, if it is one.
    fn as_pairs(&self) -> Option<&PairLoss> {
        None
    }
}

/// One query, as a loss sees it.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// One score per document.
    pub scores: &'a [f32],
    /// One label per document.
    pub labels: &'a [f32],
    /// What random numbers are drawn from.
    pub seed: u64,
    /// Whoever sets it ends a computation within a second, with [`Error::Stopped`].
    pub stop: &'a Stop,
}

impl Query<'_> {
    /// Refuses lists of different lengths and labels beyond `largest`.
    ///
    /// # Errors
    /// In these cases.
    pub fn check(&self, to: &Gradients<'_>, largest: f32) -> Result<()> {
        let n = self.scores.len();
        let hessian = to.hessian.as_ref().map_or(n, |hessian| hessian.len());
        if self.labels.len() != n || to.gradient.len() != n || hessian != n {
            let (labels, gradients) = (self.labels.len(), to.gradient.len().min(hessian));
            return Err(Error::Mismatch(format!("{n} scores, {labels} labels, {gradients} gradients of one query")));
        }
        let fine = |label: &f32| label.abs() <= largest;
        // All of them, without an early exit: that is a vector loop.
        if self.labels.iter().fold(true, |all, label| all & fine(label)) {
            return Ok(());
        }
        let document = self.labels.iter().take_while(|label| fine(label)).count();
        let label = self.labels[document];
        Err(Error::Mismatch(format!("document {document} has the label {label}, not a number of at most {largest}")))
    }
}

/// Where a query's slopes go: one number per document.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// `dC/ds`.
    pub gradient: &'a mut [f32],
    /// The diagonal of the second derivatives, where they are wanted: `sum over j of w sigma^2 p (1 - p)` for pairs.
    pub hessian: Option<&'a mut [f32]>,
}

impl<'a> Gradients<'a> {
    /// The gradient alone.
    pub fn gradient(gradient: &'a mut [f32]) -> Self {
        Gradients { gradient, hessian: None }
    }
}

/// What to compute besides the slopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outputs {
    /// The loss.
    pub loss: bool,
    /// The numbers of pairs.
    pub pairs: bool,
}

/// The sums over the pairs of a query, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct QueryResult {
    /// The loss; 0 unless asked for.
    pub loss: f64,
    /// How many pairs have a weight; 0 unless asked for. For what is not made of pairs: how many documents have a slope.
    pub pairs: u64,
    /// How many of them pull with less than a thousandth of their weight; 0 unless asked for.
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

/// What pulls with less than this is called saturated.
pub(super) const SATURATED: f64 = 1e-3;
