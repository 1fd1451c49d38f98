//! L2 regularisation of scores, which can make a field's cost convex.

use crate::objective::LambdaField;

/// `lambda_j - alpha s_j`: adds `alpha s^2 / 2` to the cost and thereby `alpha` to every eigenvalue of its Hessian.
///
/// The papers write `lambda_j + alpha s_j` because they use the Jacobian of the cost's gradient, which is `-lambda`.
///
/// ```
/// use burnrank::Objective;
/// use burnrank::analysis::lambda_field::{FieldReport, Regularised};
/// let objective = Objective::parse("ranknet")?;
/// let (scores, labels) = ([0.5, -0.5, 0.1], [0.0, 1.0, 2.0]);
/// let regularised = Regularised { field: objective.as_field()?, alpha: 0.25 };
/// // RankNet's cost does not depend on a shift of all scores; the regularised cost does.
/// assert!(FieldReport::new(&objective.as_field()?, &scores, &labels)?.smallest_eigenvalue.abs() < 1e-9);
/// assert!((FieldReport::new(&regularised, &scores, &labels)?.smallest_eigenvalue - 0.25).abs() < 1e-9);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Regularised<F> {
    /// The field to regularise.
    pub field: F,
    /// Regularisation strength.
    pub alpha: f64,
}

impl<F: LambdaField> LambdaField for Regularised<F> {
    fn name(&self) -> String {
        format!("{} - {} s", self.field.name(), self.alpha)
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        let lambdas = self.field.lambdas(scores, labels, order);
        lambdas.iter().zip(scores).map(|(lambda, score)| lambda - self.alpha * score).collect()
    }

    fn cost(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<f64> {
        let springs = 0.5 * self.alpha * scores.iter().map(|score| score * score).sum::<f64>();
        self.field.cost(scores, labels, order).map(|cost| cost + springs)
    }

    fn jacobian(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Option<Vec<f64>> {
        let mut jacobian = self.field.jacobian(scores, labels, order)?;
        jacobian.iter_mut().step_by(scores.len() + 1).for_each(|diagonal| *diagonal -= self.alpha);
        Some(jacobian)
    }

    /// The regularisation term depends on the absolute scores.
    fn ignores_shifts(&self) -> bool {
        self.alpha == 0.0 && self.field.ignores_shifts()
    }

    fn spring(&self) -> f64 {
        self.alpha + self.field.spring()
    }

    fn width(&self) -> f64 {
        self.field.width()
    }
}
