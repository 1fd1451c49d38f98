//! Weighted sums of nets as a single net.

use super::shape::{LINEAR_UNITS, shape_of_sum};
use crate::error::{Error, Result};
use crate::model::{Activation, Dense, HostNet, Ranker, RankerConfig};
use burn::module::Module;

/// The net of the weighted sum, with the shape of [`shape_of_sum`].
pub(super) fn sum(nets: &[(&Ranker, f64)]) -> Result<Ranker> {
    let shapes: Vec<RankerConfig> = nets.iter().map(|(net, _)| net.config()).collect();
    let shape = shape_of_sum(&shapes)?;
    let device = nets.first().and_then(|(net, _)| net.devices().into_iter().next());
    let device = device.ok_or_else(|| Error::Device("the ranker has no weights on any device".into()))?;
    let (mut linear, mut skip): (Option<Vec<f64>>, Option<Vec<f64>>) = (None, None);
    let mut deep = Vec::new();
    for (net, factor) in nets {
        let mut net = HostNet::of(net)?;
        if net.hidden().is_empty() {
            // A skip connection is a linear net.
            let sum = if shape.skip { &mut skip } else { &mut linear };
            add(sum, net.output(), *factor);
        } else {
            if !net.skip.is_empty() {
                add(&mut skip, &net.skip, *factor);
            }
            let output = net.layers.last_mut().into_iter().flat_map(|layer| &mut layer.weights);
            output.for_each(|weight| *weight = (factor * f64::from(*weight)) as f32);
            deep.push(net);
        }
    }
    let single = |sum: Vec<f64>| sum.into_iter().map(|weight| weight as f32).collect::<Vec<f32>>();
    let (linear, skip) = (linear.map(single), skip.map(single));
    let depth = shape.architecture.hidden().len();
    let weights = match linear {
        Some(weights) if depth == 0 => vec![weights],
        linear => {
            deep.extend(linear.map(|weights| relu_net(&weights)));
            deep.iter_mut().for_each(|net| deepen(net, depth));
            HostNet { skip: skip.unwrap_or_default(), ..side_by_side(&deep) }.into_weights()
        }
    };
    shape.from_weights(&weights, &device)
}

/// Adds weights times a factor.
fn add(sum: &mut Option<Vec<f64>>, weights: &[f32], factor: f64) {
    let sum = sum.get_or_insert_with(|| vec![0.0; weights.len()]);
    sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += factor * f64::from(*weight));
}

/// `w . x` as `relu(w . x) - relu(-w . x)`.
fn relu_net(weights: &[f32]) -> HostNet {
    let (inputs, units) = (weights.len(), LINEAR_UNITS);
    let weights = weights.iter().flat_map(|&weight| [weight, -weight]).collect();
    let hidden = Dense { inputs, units, weights, bias: vec![0.0; units] };
    let output = Dense { inputs: units, units: 1, weights: vec![1.0, -1.0], bias: vec![0.0] };
    HostNet { layers: vec![hidden, output], activation: Some(Activation::Relu), skip: Vec::new(), encoding: None }
}

/// Adds identity layers up to the given depth; relu units pass on the values of relu units, which are not negative.
fn deepen(net: &mut HostNet, depth: usize) {
    let units = net.output().len();
    while net.hidden().len() < depth {
        let weights = (0..units * units).map(|place| f32::from(u8::from(place / units == place % units))).collect();
        net.layers.insert(net.hidden().len(), Dense { inputs: units, units, weights, bias: vec![0.0; units] });
    }
}

/// Combines nets of equal depth, without weights between them.
fn side_by_side(nets: &[HostNet]) -> HostNet {
    let depth = nets.first().map_or(0, |net| net.hidden().len());
    let layer = |place: usize| {
        let parts: Vec<&Dense> = nets.iter().map(|net| &net.layers[place]).collect();
        match place {
            _ if place == depth => output(&parts),
            0 => shared_inputs(&parts),
            _ => separate_inputs(&parts),
        }
    };
    HostNet {
        layers: (0..=depth).map(layer).collect(),
        activation: nets.first().and_then(|net| net.activation),
        skip: Vec::new(),
        encoding: None,
    }
}

/// The output layer: the output weights of all nets.
fn output(parts: &[&Dense]) -> Dense {
    let weights: Vec<f32> = parts.iter().flat_map(|part| part.weights.iter().copied()).collect();
    Dense { inputs: weights.len(), units: 1, weights, bias: vec![0.0] }
}

/// The first layer: all units have weights for all features.
fn shared_inputs(parts: &[&Dense]) -> Dense {
    let inputs = parts.first().map_or(0, |part| part.inputs);
    let weights = (0..inputs).flat_map(|input| parts.iter().flat_map(move |part| part.row(input).to_vec())).collect();
    Dense { inputs, units: units(parts), weights, bias: biases(parts) }
}

/// Another hidden layer: units have weight 0 for the units of other nets.
fn separate_inputs(parts: &[&Dense]) -> Dense {
    let width = units(parts);
    let (mut weights, mut before) = (Vec::new(), 0);
    for part in parts {
        for row in part.weights.chunks_exact(part.units) {
            let start = weights.len();
            weights.resize(start + width, 0.0);
            weights[start + before..][..part.units].copy_from_slice(row);
        }
        before += part.units;
    }
    Dense { inputs: parts.iter().map(|part| part.inputs).sum(), units: width, weights, bias: biases(parts) }
}

fn units(parts: &[&Dense]) -> usize {
    parts.iter().map(|part| part.units).sum()
}

fn biases(parts: &[&Dense]) -> Vec<f32> {
    parts.iter().flat_map(|part| part.bias.iter().copied()).collect()
}
