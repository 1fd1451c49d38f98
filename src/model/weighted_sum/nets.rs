//! Nets side by side in one net.

use super::shape::{LINEAR_UNITS, shape_of_sum};
use crate::error::{Error, Result};
use crate::model::{Ranker, RankerConfig};
use burn::module::Module;

/// The net of the weighted sum, whose shape must be that of [`shape_of_sum`].
pub(super) fn sum(nets: &[(&Ranker, f64)]) -> Result<Ranker> {
    let shapes: Vec<RankerConfig> = nets.iter().map(|(net, _)| net.config()).collect();
    let shape = shape_of_sum(&shapes)?;
    let device = nets.first().and_then(|(net, _)| net.devices().into_iter().next());
    let device = device.ok_or_else(|| Error::Device("the ranker has no weights on any device".into()))?;
    let mut linear: Option<Vec<f64>> = None;
    let mut deep = Vec::new();
    for ((net, factor), config) in nets.iter().zip(&shapes) {
        let weights = net.weights()?;
        if config.architecture.hidden().is_empty() {
            let sum = linear.get_or_insert_with(|| vec![0.0; weights.len()]);
            sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += factor * f64::from(weight));
        } else {
            deep.push(Layers::of(config, &weights, *factor));
        }
    }
    let linear: Option<Vec<f32>> = linear.map(|sum| sum.into_iter().map(|weight| weight as f32).collect());
    let depth = shape.architecture.hidden().len();
    let weights = match linear {
        Some(weights) if depth == 0 => vec![weights],
        linear => {
            deep.extend(linear.map(|weights| Layers::linear(&weights)));
            deep.iter_mut().for_each(|net| net.deepen(depth));
            side_by_side(&deep)
        }
    };
    shape.from_weights(&weights, &device)
}

/// The weights of one net.
struct Layers {
    hidden: Vec<Hidden>,
    output: Vec<f32>,
}

/// One hidden layer, its weights row-major, a row per input.
struct Hidden {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Layers {
    /// From weights in the order of [`RankerConfig::shapes`]; those of the output times a factor.
    fn of(config: &RankerConfig, weights: &[f32], factor: f64) -> Self {
        let mut rest = weights;
        let mut hidden = Vec::new();
        for [inputs, units] in config.hidden_layers() {
            let (matrix, after) = rest.split_at(inputs * units);
            let (bias, after) = after.split_at(units);
            hidden.push(Hidden { weights: matrix.to_vec(), bias: bias.to_vec() });
            rest = after;
        }
        Layers { hidden, output: rest.iter().map(|&weight| (factor * f64::from(weight)) as f32).collect() }
    }

    /// `w . x` as `relu(w . x) - relu(-w . x)`.
    fn linear(weights: &[f32]) -> Self {
        let weights = weights.iter().flat_map(|&weight| [weight, -weight]).collect();
        Layers { hidden: vec![Hidden { weights, bias: vec![0.0; LINEAR_UNITS] }], output: vec![1.0, -1.0] }
    }

    /// Adds layers that hand on what the last one gives, which relu units that are not negative do.
    fn deepen(&mut self, depth: usize) {
        let units = self.output.len();
        while self.hidden.len() < depth {
            let weights = (0..units * units).map(|place| f32::from(u8::from(place / units == place % units))).collect();
            self.hidden.push(Hidden { weights, bias: vec![0.0; units] });
        }
    }
}

/// The weights of all nets, which are equally deep, in the order of [`RankerConfig::shapes`].
fn side_by_side(nets: &[Layers]) -> Vec<Vec<f32>> {
    let depth = nets.first().map_or(0, |net| net.hidden.len());
    let mut weights = Vec::new();
    for layer in 0..depth {
        let parts: Vec<&Hidden> = nets.iter().map(|net| &net.hidden[layer]).collect();
        weights.push(if layer == 0 { shared_inputs(&parts) } else { own_inputs(&parts) });
        weights.push(parts.iter().flat_map(|part| part.bias.iter().copied()).collect());
    }
    weights.push(nets.iter().flat_map(|net| net.output.iter().copied()).collect());
    weights
}

/// Every part has a weight for each feature.
fn shared_inputs(parts: &[&Hidden]) -> Vec<f32> {
    let inputs = parts.first().map_or(0, |part| part.weights.len() / part.bias.len());
    let row = |part: &&Hidden, input: usize| part.weights[input * part.bias.len()..][..part.bias.len()].to_vec();
    (0..inputs).flat_map(|input| parts.iter().flat_map(move |part| row(part, input))).collect()
}

/// Every part has weights for the units of its own net, and 0 for those of others.
fn own_inputs(parts: &[&Hidden]) -> Vec<f32> {
    let width: usize = parts.iter().map(|part| part.bias.len()).sum();
    let (mut weights, mut before) = (Vec::new(), 0);
    for part in parts {
        let units = part.bias.len();
        for own in part.weights.chunks_exact(units) {
            let start = weights.len();
            weights.resize(start + width, 0.0);
            weights[start + before..][..units].copy_from_slice(own);
        }
        before += units;
    }
    weights
}
