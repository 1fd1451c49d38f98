//! The random two-layer net of the RankNet paper's section 5.1.

use crate::name::words;
use crate::numeric::sigmoid;
use rand::{Rng, RngExt};

words! {
    /// Activation function of hidden units. The paper does not state its choice.
    #[derive(Default)]
    pub enum TargetActivation: "activation" {
        /// 1 / (1 + e^-z).
        #[default]
        Sigmoid = "sigmoid",
        /// tanh z.
        Tanh = "tanh",
    }
}

impl TargetActivation {
    fn of(self, z: f64) -> f64 {
        match self {
            TargetActivation::Sigmoid => sigmoid(z),
            TargetActivation::Tanh => z.tanh(),
        }
    }
}

/// f(x) = b + sum_h v_h g(b_h + w_h . x), with weights and biases uniform in [-1, 1].
///
/// The paper mentions weights only; biases are drawn from the same distribution. The output unit is linear: a monotonic
/// activation would change neither the order of documents nor the bins.
#[derive(Debug, Clone)]
pub(super) struct RandomNet {
    activation: TargetActivation,
    /// One row per hidden unit.
    weights: Vec<f64>,
    biases: Vec<f64>,
    output: Vec<f64>,
    output_bias: f64,
}

impl RandomNet {
    pub(super) fn random(
        features: usize,
        hidden: usize,
        activation: TargetActivation,
        rng: &mut impl Rng,
    ) -> RandomNet {
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.random_range(-1.0..=1.0)).collect() };
        let (weights, biases, output) = (draw(features * hidden), draw(hidden), draw(hidden));
        let output_bias = draw(1)[0];
        RandomNet { activation, weights, biases, output, output_bias }
    }

    pub(super) fn target(&self, x: &[f32]) -> f64 {
        let mut sum = self.output_bias;
        for ((row, bias), output) in self.weights.chunks_exact(x.len()).zip(&self.biases).zip(&self.output) {
            sum += output * self.activation.of(bias + dot(row, x));
        }
        sum
    }
}

/// Computes a dot product in eight partial sums, so that the compiler can use vector registers and the order is fixed.
pub(super) fn dot(w: &[f64], x: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (w8, x8) = (w.chunks_exact(8), x.chunks_exact(8));
    let rest: f64 = w8.remainder().iter().zip(x8.remainder()).map(|(w, x)| w * f64::from(*x)).sum();
    for (w, x) in w8.zip(x8) {
        for lane in 0..8 {
            sums[lane] += w[lane] * f64::from(x[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_follows_its_formula() {
        let net = |activation| RandomNet {
            activation,
            weights: vec![1.0, -0.5, 0.25, 0.75],
            biases: vec![0.5, -1.0],
            output: vec![0.4, -0.6],
            output_bias: 0.1,
        };
        let (first, second) = (0.5 + 0.5 + 0.5, -1.0 + 0.125 - 0.75);
        let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
        let x = [0.5, -1.0];
        let (s, t) = (net(TargetActivation::Sigmoid).target(&x), net(TargetActivation::Tanh).target(&x));
        assert!((s - (0.1 + 0.4 * sigmoid(first) - 0.6 * sigmoid(second))).abs() < 1e-15);
        assert!((t - (0.1 + 0.4 * f64::tanh(first) - 0.6 * f64::tanh(second))).abs() < 1e-15);
    }

    #[test]
    fn dot_products_of_all_lengths() {
        for n in 0..30 {
            let w: Vec<f64> = (0..n).map(f64::from).collect();
            let x: Vec<f32> = (0..n).map(|i| (i + 1) as f32).collect();
            let expected: f64 = (0..n).map(|i| f64::from(i * (i + 1))).sum();
            assert_eq!(dot(&w, &x), expected);
        }
    }
}
