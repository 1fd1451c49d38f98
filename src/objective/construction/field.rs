//! A lambda function of one's own: forces on documents, whether or not they come from a cost.

use crate::error::{Error, Result};
use crate::metric::order;
use crate::numeric::{sigmoid, softplus};
use crate::objective::{Assignment, Objective, PairWeights};
use std::fmt::Debug;

/// A lambda function: what pushes each document of a query, given scores, labels and the order that scores make
/// (Learning to Rank with Nonsmooth Cost Functions, section 4).
///
/// It need not be the derivative of anything; [`FieldReport`](crate::FieldReport) says whether it is.
/// [`Objective::field`] trains with it.
///
/// ```
/// use burnrank::{FieldReport, LambdaField};
/// /// Every document is pulled towards its label, as by a spring.
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
    /// What it is called in reports.
    fn name(&self) -> String;

    /// One force a document, in document order: `lambda_i = -dC/ds_i` where there is a cost `C`, so positive is up.
    ///
    /// `order` holds the documents from the highest score to the lowest, equal scores in document order.
    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64>;

    /// The cost whose negative slope the lambdas are, where it is known; what training records as its loss.
    fn cost(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<f64> {
        let _ = (scores, labels, order);
        None
    }

    /// `d lambda_i / d s_j`, row-major, between ties, where there is a closed form.
    fn jacobian(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<Vec<f64>> {
        let _ = (scores, labels, order);
        None
    }

    /// Whether forces depend on differences of scores only, so that an analysis may move all of them to where numbers are
    /// finest.
    fn ignores_shifts(&self) -> bool {
        false
    }

    /// The strength of springs to the origin among the forces, `-spring s_i`. They are linear, so an analysis does not measure
    /// jumps and asymmetries by their size.
    fn spring(&self) -> f64 {
        0.0
    }

    /// The difference of scores over which forces change smoothly: analyses take steps that are a small part of it.
    fn width(&self) -> f64 {
        1.0
    }
}

/// The lambdas of an objective in f64, and their Jacobian in closed form where the weights of pairs are constant between ties.
#[derive(Debug, Clone)]
pub struct ObjectiveField<'a> {
    objective: &'a Objective,
}

impl Objective {
    /// This objective as a field, to be asked about.
    ///
    /// # Errors
    /// When its weights are averaged over sampled rankings: a random field has no Jacobian.
    pub fn as_field(&self) -> Result<ObjectiveField<'_>> {
        if self.assignment() != Assignment::Hard {
            return Err(Error::Config(format!(
                "{self}: sampled rankings make a random field, which cannot be analysed"
            )));
        }
        Ok(ObjectiveField { objective: self })
    }
}

impl ObjectiveField<'_> {
    /// Calls back with documents `i`, `j`, the weight of having `i` above `j`, and `sigma (s_i - s_j)`.
    fn each_pair(&self, scores: &[f64], labels: &[f32], order: &[usize], mut pair: impl FnMut(usize, usize, f64, f64)) {
        let kernel = self.objective.kernel();
        let ranked: Vec<f32> = order.iter().map(|&document| labels[document]).collect();
        let weights: PairWeights = kernel.weights(&ranked);
        for (above, &i) in order.iter().enumerate() {
            for (below, &j) in order.iter().enumerate() {
                let weight = weights.get(above, below);
                if weight != 0.0 {
                    pair(i, j, weight / kernel.base.nats(), kernel.sigma * (scores[i] - scores[j]));
                }
            }
        }
    }
}

impl LambdaField for ObjectiveField<'_> {
    fn name(&self) -> String {
        self.objective.name()
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        if let Some(field) = self.objective.own_field() {
            return field.lambdas(scores, labels, order);
        }
        let sigma = self.objective.kernel().sigma;
        let mut lambdas = vec![0.0; scores.len()];
        self.each_pair(scores, labels, order, |i, j, weight, difference| {
            let force = sigma * weight * sigmoid(-difference);
            lambdas[i] += force;
            lambdas[j] -= force;
        });
        lambdas
    }

    fn cost(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<f64> {
        if let Some(field) = self.objective.own_field() {
            return field.cost(scores, labels, order);
        }
        let mut cost = 0.0;
        self.each_pair(scores, labels, order, |_, _, weight, difference| {
            cost += weight * softplus(-difference);
        });
        Some(cost)
    }

    /// `J = -sum over pairs of w_ij sigma^2 p (1 - p) (e_i - e_j)(e_i - e_j)^T`, `p = 1 / (1 + exp(sigma (s_i - s_j)))`.
    fn jacobian(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<Vec<f64>> {
        if let Some(field) = self.objective.own_field() {
            return field.jacobian(scores, labels, order);
        }
        let (n, sigma) = (scores.len(), self.objective.kernel().sigma);
        let mut jacobian = vec![0.0; n * n];
        self.each_pair(scores, labels, order, |i, j, weight, difference| {
            let slope = weight * sigma * sigma * sigmoid(difference) * sigmoid(-difference);
            jacobian[i * n + i] -= slope;
            jacobian[j * n + j] -= slope;
            jacobian[i * n + j] += slope;
            jacobian[j * n + i] += slope;
        });
        Some(jacobian)
    }

    fn ignores_shifts(&self) -> bool {
        self.objective.own_field().is_none_or(|field| field.ignores_shifts())
    }

    fn width(&self) -> f64 {
        self.objective.own_field().map_or(1.0 / self.objective.kernel().sigma, |field| field.width())
    }
}

/// The forces at some scores, with the order taken from them.
pub(crate) fn forces(field: &dyn LambdaField, scores: &[f64], labels: &[f32]) -> Vec<f64> {
    field.lambdas(scores, labels, &order(scores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::{Batch, Want};

    #[test]
    fn an_objectives_field_is_its_gradient_turned_round() {
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
            let want = Want { loss: true, pairs: true };
            let result = objective.lambda_gradient(&single, batch, &mut gradient, want, &[]).unwrap();
            let order = order(&scores);
            for (lambda, slope) in field.lambdas(&scores, &labels, &order).iter().zip(gradient) {
                assert!((lambda + f64::from(slope)).abs() < 1e-5, "{name}: {lambda} {slope}");
            }
            if let Some(cost) = field.cost(&scores, &labels, &order) {
                assert!((cost - result.loss).abs() < 1e-5 * cost.max(1.0), "{name}");
            }
        }
        assert!(Objective::parse("ndcg-loss2:gaussian=4").unwrap().as_field().is_err());
    }
}
