//! The worked example of the 2006 paper: lambdas with a margin.

use crate::objective::LambdaField;

/// A constant lambda while a pair is in the wrong order, which decreases to 0 at the margin `delta`
/// (Ranking as Function Approximation, Eq. 26-28). With `x = s_1 - s_2` for `y_1 > y_2`,
///
/// ```text
/// x < 0:           lambda_1 = 1 = -lambda_2             C = -x                     (26, 29)
/// 0 <= x <= delta: lambda_1 = delta - x = -lambda_2     C = x^2 / 2 - delta x      (27, 30)
/// x > delta:       lambda_1 = lambda_2 = 0              C = -delta^2 / 2           (28, 31)
/// ```
///
/// summed over all pairs of different labels. The cost is continuous for every `delta`. Unless `delta` is 1, the lambda jumps from
/// 1 to `delta` where a pair ties; for `delta` above 1 the cost is therefore not convex there.
///
/// ```
/// use burnrank::LambdaField;
/// use burnrank::analysis::lambda_field::{FieldReport, MarginLambda};
/// let margin = MarginLambda { delta: 0.5 };
/// assert_eq!(margin.lambdas(&[0.2, 0.0], &[1.0, 0.0], &[0, 1]), [0.3, -0.3]);
/// let report = FieldReport::new(&margin, &[0.2, 0.0], &[1.0, 0.0])?;
/// assert!(report.conservative() && report.convex() && report.balanced());
/// assert!((report.crossings[0].jump - 0.5).abs() < 1e-6); // from 1 to delta, along the pair
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginLambda {
    /// Margin.
    pub delta: f64,
}

impl MarginLambda {
    fn lambda(&self, x: f64) -> f64 {
        if x < 0.0 { 1.0 } else { (self.delta - x).max(0.0) }
    }

    fn pair_cost(&self, x: f64) -> f64 {
        if x < 0.0 {
            -x
        } else if x <= self.delta {
            0.5 * x * x - self.delta * x
        } else {
            -0.5 * self.delta * self.delta
        }
    }
}

/// The pairs `(i, j)` with `y_i > y_j`.
fn pairs(labels: &[f32]) -> impl Iterator<Item = (usize, usize)> {
    let n = labels.len();
    (0..n).flat_map(move |i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| labels[i] > labels[j])
}

impl LambdaField for MarginLambda {
    fn name(&self) -> String {
        format!("margin {}", self.delta)
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], _order: &[usize]) -> Vec<f64> {
        let mut lambdas = vec![0.0; scores.len()];
        for (i, j) in pairs(labels) {
            let lambda = self.lambda(scores[i] - scores[j]);
            lambdas[i] += lambda;
            lambdas[j] -= lambda;
        }
        lambdas
    }

    fn cost(&self, scores: &[f64], labels: &[f32], _order: &[usize]) -> Option<f64> {
        Some(pairs(labels).map(|(i, j)| self.pair_cost(scores[i] - scores[j])).sum())
    }

    fn ignores_shifts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_two_documents() {
        // Eq. 26 to 31.
        let delta = 0.75;
        let margin = MarginLambda { delta };
        let labels = [1.0, 0.0];
        for (s1, s2, lambda, cost) in [
            (-0.5, 0.0, 1.0, 0.5),
            (1.0, 3.0, 1.0, 2.0),
            (0.0, 0.0, delta, 0.0),
            (0.25, 0.0, delta - 0.25, 0.5 * 0.0625 - delta * 0.25),
            (delta, 0.0, 0.0, -0.5 * delta * delta),
            (2.0, 0.0, 0.0, -0.5 * delta * delta),
        ] {
            assert_eq!(margin.lambdas(&[s1, s2], &labels, &[0, 1]), [lambda, -lambda]);
            assert_eq!(margin.cost(&[s1, s2], &labels, &[0, 1]), Some(cost));
        }
    }

    #[test]
    fn the_lambdas_are_the_negative_gradient_of_the_cost() {
        let margin = MarginLambda { delta: 1.0 };
        let labels = [0.0, 2.0, 1.0, 0.0];
        let scores = [0.3, 0.1, 0.85, -1.4];
        let lambdas = margin.lambdas(&scores, &labels, &[]);
        for document in 0..4 {
            let cost = |shift: f64| {
                let mut moved = scores;
                moved[document] += shift;
                margin.cost(&moved, &labels, &[]).unwrap()
            };
            let slope = (cost(1e-6) - cost(-1e-6)) / 2e-6;
            assert!((lambdas[document] + slope).abs() < 1e-8);
        }
    }
}
