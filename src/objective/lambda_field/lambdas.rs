//! Custom lambda functions, whether or not they are the gradient of a cost.

use crate::error::{Error, Result};
use crate::metric::order;
use crate::numeric::order::safe;
use crate::objective::loss::{Gradients, Loss, Outputs, Query, QueryResult, SATURATED};
use crate::objective::pairwise::LossScratch;
use std::fmt::Debug;
use std::sync::Arc;

/// A lambda function: the direction and strength in which each document's score should change, given scores, labels and
/// the ranking by score (Learning to Rank with Nonsmooth Cost Functions, section 4).
///
/// It need not be the gradient of a function; [`FieldReport`](crate::analysis::lambda_field::FieldReport) reports
/// whether it is. Train with it through [`Objective::field`](crate::Objective::field).
///
/// ```
/// use burnrank::analysis::lambda_field::FieldReport;
/// use burnrank::objective::LambdaField;
/// /// Pulls every score towards its label, like a spring.
/// #[derive(Debug)]
/// struct Springs;
/// impl LambdaField for Springs {
///     fn name(&self) -> String {
///         "springs".into()
///     }
///     fn lambdas(&self, scores: &[f64], labels: &[f32], _order: &[usize]) -> Vec<f64> {
///         scores.iter().zip(labels).map(|(score, &label)| f64::from(label) - score).collect()
///     }
/// }
/// let report = FieldReport::new(&Springs, &[0.5, -1.0], &[0.0, 2.0])?;
/// assert!(report.conservative() && report.convex() && !report.balanced());
/// assert!((report.smallest_eigenvalue - 1.0).abs() < 1e-6);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub trait LambdaField: Debug + Send + Sync {
    /// Name of the function in reports.
    fn name(&self) -> String;

    /// Returns one lambda per document, in document order; positive lambdas raise the score. If there is a cost `C`,
    /// `lambda_i = -dC/ds_i`.
    ///
    /// `order` holds the documents in descending order of scores, equal scores in document order.
    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64>;

    /// Returns the cost whose negative gradient the lambdas are, if known. Training records it as its loss.
    fn cost(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<f64> {
        let _ = (scores, labels, order);
        None
    }

    /// Returns `d lambda_i / d s_j`, row-major, if there is a closed form. It need only hold where no scores are equal.
    fn jacobian(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<Vec<f64>> {
        let _ = (scores, labels, order);
        None
    }

    /// Returns whether lambdas depend only on differences of scores. Analyses then shift the scores to where
    /// floating-point numbers are densest.
    fn ignores_shifts(&self) -> bool {
        false
    }

    /// Strength of a spring to the origin in the lambdas, `-spring s_i`. It is linear in the scores, so analyses do not
    /// measure jumps and asymmetries relative to it.
    fn spring(&self) -> f64 {
        0.0
    }

    /// Difference of scores over which lambdas change smoothly. Analyses use a small fraction of it as their step.
    fn width(&self) -> f64 {
        1.0
    }
}

impl<F: LambdaField + ?Sized> LambdaField for &F {
    fn name(&self) -> String {
        (**self).name()
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        (**self).lambdas(scores, labels, order)
    }

    fn cost(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<f64> {
        (**self).cost(scores, labels, order)
    }

    fn jacobian(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<Vec<f64>> {
        (**self).jacobian(scores, labels, order)
    }

    fn ignores_shifts(&self) -> bool {
        (**self).ignores_shifts()
    }

    fn spring(&self) -> f64 {
        (**self).spring()
    }

    fn width(&self) -> f64 {
        (**self).width()
    }
}

/// Computes the lambdas for some scores.
pub(crate) fn lambdas_at(field: &dyn LambdaField, scores: &[f64], labels: &[f32]) -> Vec<f64> {
    field.lambdas(scores, labels, &order(scores))
}

/// Training with a custom lambda function.
#[derive(Debug)]
pub(in super::super) struct FieldLoss(pub Arc<dyn LambdaField>);

impl Loss for FieldLoss {
    fn name(&self) -> String {
        format!("field:{}", self.0.name())
    }

    fn query(&self, query: Query<'_>, to: Gradients<'_>, _: Outputs, _: &mut LossScratch) -> Result<QueryResult> {
        train_with(&*self.0, query, to, |scores, order| self.0.lambdas(scores, query.labels, order))
    }

    fn field(&self) -> Option<&dyn LambdaField> {
        Some(&*self.0)
    }
}

/// Computes the gradient of a lambda function for training: its negative lambdas.
///
/// The hessian is that of the function's Jacobian; without one it is 1, so that a Newton step follows the lambdas.
pub(super) fn train_with(
    field: &dyn LambdaField,
    query: Query<'_>,
    to: Gradients<'_>,
    lambdas: impl FnOnce(&[f64], &[usize]) -> Vec<f64>,
) -> Result<QueryResult> {
    query.check(&to, f32::MAX)?;
    let scores: Vec<f64> = query.scores.iter().map(|&score| f64::from(safe(score))).collect();
    let order = order(&scores);
    let lambdas = lambdas(&scores, &order);
    if lambdas.len() != scores.len() {
        let (lambdas, scores) = (lambdas.len(), scores.len());
        return Err(Error::Mismatch(format!("{}: {lambdas} lambdas for {scores} documents", field.name())));
    }
    let mut result =
        QueryResult { loss: field.cost(&scores, query.labels, &order).unwrap_or(0.0), pairs: 0, saturated: 0 };
    for (gradient, lambda) in to.gradient.iter_mut().zip(lambdas) {
        *gradient = -lambda as f32;
        if !gradient.is_finite() {
            return Err(Error::Mismatch(format!("{}: lambda {lambda} is not a finite number", field.name())));
        }
        result.pairs += u64::from(lambda != 0.0);
        result.saturated += u64::from(lambda != 0.0 && lambda.abs() < SATURATED);
    }
    if let Some(hessian) = to.hessian {
        match field.jacobian(&scores, query.labels, &order) {
            Some(jacobian) => {
                let diagonal = jacobian.iter().step_by(scores.len() + 1);
                hessian.iter_mut().zip(diagonal).for_each(|(to, derivative)| *to = -derivative as f32);
            }
            None => hessian.fill(1.0),
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::{Batch, Objective};

    #[test]
    fn field_of_an_objective_is_its_negative_gradient() {
        let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
        for name in [
            "ranknet",
            "ranknet:ties",
            "arp-loss1",
            "ndcg-loss1",
            "ndcg-loss2++@3:mu=5",
            "lambdarank:ndcg@2:sigma=2",
            "lambdarank:map",
            "lambdarank:err",
            "lambdarank:mrr:springsmooth",
            "lambdarank:ndcg:localcost",
        ] {
            let objective = Objective::parse(name).unwrap();
            let field = objective.as_field().unwrap();
            let single = scores.map(|s| s as f32);
            let mut gradient = [0.0; 5];
            let batch = Batch { labels: &labels, offsets: &[0, 5] };
            let outputs = Outputs { loss: true, pairs: true };
            let result = objective.lambda_gradient(&single, batch, &mut gradient, outputs, &[]).unwrap();
            let order = order(&scores);
            for (lambda, derivative) in field.lambdas(&scores, &labels, &order).iter().zip(gradient) {
                assert!((lambda + f64::from(derivative)).abs() < 1e-5, "{name}: {lambda} {derivative}");
            }
            if let Some(cost) = field.cost(&scores, &labels, &order) {
                assert!((cost - result.loss).abs() < 1e-5 * cost.max(1.0), "{name}");
            }
        }
        assert!(Objective::parse("ndcg-loss2:gaussian=4").unwrap().as_field().is_err());
    }
}
