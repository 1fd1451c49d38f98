//! The slope of a score in each feature, by hand, in f64: of nets layer by layer backwards, of kernels by their formulas.

use crate::model::{Activation, HostNet, KernelKind, KernelRanker};

/// What has slopes.
#[derive(Debug)]
pub(super) enum Smooth {
    Net(HostNet<f64>),
    Kernel(KernelRanker),
}

fn net_slopes(net: &HostNet<f64>, document: &[f64]) -> (f64, Vec<f64>) {
    let mut values = document.to_vec();
    // The slopes of the units' functions, layer by layer.
    let mut units = Vec::with_capacity(net.hidden().len());
    for layer in net.hidden() {
        let mut sums = layer.bias.clone();
        for (value, row) in values.iter().zip(layer.weights.chunks_exact(layer.units)) {
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
        }
        let (next, slopes): (Vec<f64>, Vec<f64>) = sums.iter().map(|&sum| function(net.activation, sum)).unzip();
        units.push(slopes);
        values = next;
    }
    let score = values.iter().zip(net.output()).map(|(value, weight)| value * weight).sum();
    let mut slopes = net.output().to_vec();
    for (layer, own) in net.hidden().iter().zip(&units).rev() {
        let at_sums: Vec<f64> = slopes.iter().zip(own).map(|(slope, own)| slope * own).collect();
        let dot = |row: &[f64]| row.iter().zip(&at_sums).map(|(weight, slope)| weight * slope).sum();
        slopes = layer.weights.chunks_exact(layer.units).map(dot).collect();
    }
    (score, slopes)
}

/// A unit's value and slope.
fn function(activation: Option<Activation>, sum: f64) -> (f64, f64) {
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
    /// Whether slopes are constant between bends: those of a net of ReLUs.
    pub fn is_piecewise_linear(&self) -> bool {
        matches!(self, Smooth::Net(net) if matches!(net.activation, Some(Activation::Relu) | None))
    }

    /// The score of a scaled document, and its slope in each feature.
    pub fn score_and_slopes(&self, document: &[f64]) -> (f64, Vec<f64>) {
        match self {
            Smooth::Net(net) => net_slopes(net, document),
            Smooth::Kernel(kernel) => kernel_slopes(kernel, document),
        }
    }
}

fn kernel_slopes(ranker: &KernelRanker, document: &[f64]) -> (f64, Vec<f64>) {
    let (mut score, mut slopes) = (0.0, vec![0.0; document.len()]);
    let points = ranker.points().chunks_exact(document.len().max(1));
    for (place, (point, &weight)) in points.zip(ranker.weights()).enumerate() {
        let (weight, point) = (f64::from(weight), point.iter().map(|&x| f64::from(x)));
        match ranker.kernel() {
            KernelKind::Gaussian { gamma } => {
                let apart: Vec<f64> = document.iter().zip(point).map(|(x, p)| x - p).collect();
                let value = weight * (-gamma * apart.iter().map(|x| x * x).sum::<f64>()).exp();
                score += value;
                slopes.iter_mut().zip(apart).for_each(|(slope, apart)| *slope -= 2.0 * gamma * apart * value);
            }
            KernelKind::Polynomial { degree } => {
                let offset = ranker.offsets().get(place).copied().map_or(0.0, f64::from);
                let sum = offset + document.iter().zip(point.clone()).map(|(x, p)| x * p).sum::<f64>();
                score += weight * sum.powi(degree as i32);
                let slope = weight * f64::from(degree) * sum.powi(degree as i32 - 1);
                slopes.iter_mut().zip(point).for_each(|(to, p)| *to += slope * p);
            }
        }
    }
    (score, slopes)
}
