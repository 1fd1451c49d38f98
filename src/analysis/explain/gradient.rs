//! The slope of a score in each feature, by hand, in f64: of nets layer by layer backwards, of kernels by their formulas.

use crate::error::Result;
use crate::model::{Activation, KernelKind, KernelRanker, Ranker};

/// What has slopes.
#[derive(Debug)]
pub(super) enum Smooth {
    Net(Net),
    Kernel(KernelRanker),
}

/// The layers of a net in f64.
#[derive(Debug)]
pub(super) struct Net {
    /// Weights, `[inputs, units]` row-major, and biases of each hidden layer.
    hidden: Vec<(Vec<f64>, Vec<f64>)>,
    output: Vec<f64>,
    activation: Option<Activation>,
}

impl Net {
    pub fn of(ranker: &Ranker) -> Result<Self> {
        let (shape, all) = (ranker.config(), ranker.weights()?);
        let mut rest = all.iter().map(|&weight| f64::from(weight));
        let mut take = |count: usize| -> Vec<f64> { rest.by_ref().take(count).collect() };
        let hidden = shape.hidden_layers().map(|[inputs, units]| (take(inputs * units), take(units))).collect();
        let activation = shape.architecture.activation();
        Ok(Net { hidden, output: rest.collect(), activation })
    }

    /// The weights of a linear net.
    pub fn weights(&self) -> &[f64] {
        &self.output
    }

    fn score_and_slopes(&self, document: &[f64]) -> (f64, Vec<f64>) {
        let mut values = document.to_vec();
        // The slopes of the units' functions, layer by layer.
        let mut units = Vec::with_capacity(self.hidden.len());
        for (weights, bias) in &self.hidden {
            let mut sums = bias.clone();
            for (value, row) in values.iter().zip(weights.chunks_exact(bias.len())) {
                sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
            }
            let (next, slopes): (Vec<f64>, Vec<f64>) = sums.iter().map(|&sum| self.function(sum)).unzip();
            units.push(slopes);
            values = next;
        }
        let score = values.iter().zip(&self.output).map(|(value, weight)| value * weight).sum();
        let mut slopes = self.output.clone();
        for ((weights, bias), own) in self.hidden.iter().zip(&units).rev() {
            let at_sums: Vec<f64> = slopes.iter().zip(own).map(|(slope, own)| slope * own).collect();
            let dot = |row: &[f64]| row.iter().zip(&at_sums).map(|(weight, slope)| weight * slope).sum();
            slopes = weights.chunks_exact(bias.len()).map(dot).collect();
        }
        (score, slopes)
    }

    /// A unit's value and slope.
    fn function(&self, sum: f64) -> (f64, f64) {
        match self.activation {
            Some(Activation::Sigmoid) => {
                let value = 1.0 / (1.0 + (-sum).exp());
                (value, value * (1.0 - value))
            }
            Some(Activation::Tanh) => (sum.tanh(), 1.0 - sum.tanh().powi(2)),
            Some(Activation::Relu) => (sum.max(0.0), if sum > 0.0 { 1.0 } else { 0.0 }),
            None => (sum, 1.0),
        }
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
            Smooth::Net(net) => net.score_and_slopes(document),
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
