//! Gradient of a score with respect to the features, in f64: backpropagation for nets, closed form for kernels.

use crate::model::{Activation, HostNet, KernelKind, KernelRanker};

/// A differentiable scorer.
#[derive(Debug)]
pub(super) enum Smooth {
    Net(HostNet<f64>),
    Kernel(KernelRanker),
}

fn net_gradient(net: &HostNet<f64>, document: &[f64]) -> (f64, Vec<f64>) {
    let inputs = net.inputs(document);
    let mut values = inputs.clone();
    // Derivatives of the units' activations, layer by layer.
    let mut derivatives = Vec::with_capacity(net.hidden().len());
    for layer in net.hidden() {
        let mut sums = layer.bias.clone();
        for (value, row) in values.iter().zip(layer.weights.chunks_exact(layer.units)) {
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
        }
        let (next, partials): (Vec<f64>, Vec<f64>) = sums.iter().map(|&sum| activate(net.activation, sum)).unzip();
        derivatives.push(partials);
        values = next;
    }
    let dot =
        |values: &[f64], weights: &[f64]| values.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>();
    let score = dot(&values, net.output()) + dot(&inputs, &net.skip);
    let mut gradient = net.output().to_vec();
    for (layer, derivatives) in net.hidden().iter().zip(&derivatives).rev() {
        let at_sums: Vec<f64> = gradient.iter().zip(derivatives).map(|(a, b)| a * b).collect();
        let dot = |row: &[f64]| row.iter().zip(&at_sums).map(|(weight, sum)| weight * sum).sum();
        gradient = layer.weights.chunks_exact(layer.units).map(dot).collect();
    }
    gradient.iter_mut().zip(&net.skip).for_each(|(sum, weight)| *sum += weight);
    (score, net.by_features(document, gradient))
}

/// A unit's value and derivative.
fn activate(activation: Option<Activation>, sum: f64) -> (f64, f64) {
    match activation {
        Some(Activation::Sigmoid) => {
            let value = 1.0 / (1.0 + (-sum).exp());
            (value, value * (1.0 - value))
        }
        Some(Activation::Tanh) => (sum.tanh(), 1.0 - sum.tanh().powi(2)),
        Some(Activation::Relu) => (sum.max(0.0), if sum > 0.0 { 1.0 } else { 0.0 }),
        None => (sum, 1.0),
    }
}

impl Smooth {
    /// Returns whether the gradient is piecewise constant, as for nets of ReLUs.
    pub fn is_piecewise_linear(&self) -> bool {
        matches!(self, Smooth::Net(net) if matches!(net.activation, Some(Activation::Relu) | None))
    }

    /// Returns the score of a scaled document and its gradient with respect to the features.
    pub fn score_and_gradient(&self, document: &[f64]) -> (f64, Vec<f64>) {
        match self {
            Smooth::Net(net) => net_gradient(net, document),
            Smooth::Kernel(kernel) => kernel_gradient(kernel, document),
        }
    }
}

fn kernel_gradient(ranker: &KernelRanker, document: &[f64]) -> (f64, Vec<f64>) {
    let (mut score, mut gradient) = (0.0, vec![0.0; document.len()]);
    let points = ranker.points().chunks_exact(document.len().max(1));
    for (place, (point, &weight)) in points.zip(ranker.weights()).enumerate() {
        let (weight, point) = (f64::from(weight), point.iter().map(|&x| f64::from(x)));
        match ranker.kernel() {
            KernelKind::Gaussian { gamma } => {
                let differences: Vec<f64> = document.iter().zip(point).map(|(x, p)| x - p).collect();
                let value = weight * (-gamma * differences.iter().map(|x| x * x).sum::<f64>()).exp();
                score += value;
                gradient.iter_mut().zip(differences).for_each(|(to, x)| *to -= 2.0 * gamma * x * value);
            }
            KernelKind::Polynomial { degree } => {
                let offset = ranker.offsets().get(place).copied().map_or(0.0, f64::from);
                let sum = offset + document.iter().zip(point.clone()).map(|(x, p)| x * p).sum::<f64>();
                score += weight * sum.powi(degree as i32);
                let derivative = weight * f64::from(degree) * sum.powi(degree as i32 - 1);
                gradient.iter_mut().zip(point).for_each(|(to, p)| *to += derivative * p);
            }
        }
    }
    (score, gradient)
}
