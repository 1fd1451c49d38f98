//! Nets on the host, and the layout of their weights.

use super::{Activation, Ranker, RankerConfig};
use crate::data::Encoding;
use crate::data::scale::FeatureInputs;
use crate::error::Result;
use std::ops::Range;
use std::sync::Arc;

/// Position of a layer's weights in the flat weights of a net. The flat order is: for each hidden layer its weights,
/// row-major, then its biases; then the weights of the output, and those of the skip connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerPlace {
    pub inputs: usize,
    pub units: usize,
    /// Range of the matrix `[inputs, units]`.
    pub weights: Range<usize>,
    /// Range of the biases, one per unit; empty for the output.
    pub bias: Range<usize>,
}

impl RankerConfig {
    /// The layers of a net, from the first to the output, without the skip connection.
    pub(crate) fn layers(&self) -> Vec<LayerPlace> {
        let (mut layers, mut inputs, mut start) = (Vec::new(), self.n_inputs(), 0usize);
        let mut add = |units: usize, has_bias: bool| {
            // Shapes that do not fit into memory are refused later.
            let bias = start.saturating_add(inputs.saturating_mul(units));
            let end = if has_bias { bias.saturating_add(units) } else { bias };
            layers.push(LayerPlace { inputs, units, weights: start..bias, bias: bias..end });
            (inputs, start) = (units, end);
        };
        self.architecture.hidden().iter().for_each(|&units| add(units, true));
        add(1, false);
        layers
    }
}

/// One layer, `x W + b`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dense<T = f32> {
    pub inputs: usize,
    pub units: usize,
    /// `[inputs, units]`, row-major.
    pub weights: Vec<T>,
    /// One per unit; 0 for the output.
    pub bias: Vec<T>,
}

/// A net on the host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HostNet<T = f32> {
    /// All layers; the last is the output, with one unit and no activation function.
    pub layers: Vec<Dense<T>>,
    /// Activation function of the hidden units; `None` without hidden units.
    pub activation: Option<Activation>,
    /// Weights of the skip connection, one per input; empty without one.
    pub skip: Vec<T>,
    /// How features become inputs; `None` if each is one.
    pub encoding: Option<Arc<Encoding>>,
}

impl HostNet {
    /// # Errors
    /// If the weights cannot be copied from their device.
    pub fn of(ranker: &Ranker) -> Result<Self> {
        Ok(HostNet::new(&ranker.config(), &ranker.weights()?))
    }

    /// Splits flat weights in the order of [`RankerConfig::shapes`], whose number must match.
    pub fn new(config: &RankerConfig, weights: &[f32]) -> Self {
        let layer = |LayerPlace { inputs, units, weights: matrix, bias }: LayerPlace| {
            let bias = if bias.is_empty() { vec![0.0; units] } else { weights[bias].to_vec() };
            Dense { inputs, units, weights: weights[matrix].to_vec(), bias }
        };
        let layers = config.layers();
        let end = layers.last().map_or(0, |output| output.weights.end);
        HostNet {
            layers: layers.into_iter().map(layer).collect(),
            activation: config.architecture.activation(),
            skip: if config.skip { weights[end..end + config.n_inputs()].to_vec() } else { Vec::new() },
            encoding: config.encoding.clone(),
        }
    }

    /// The weights in the order of [`RankerConfig::shapes`].
    pub fn into_weights(self) -> Vec<Vec<f32>> {
        let mut weights: Vec<Vec<f32>> =
            self.layers.into_iter().flat_map(|layer| [layer.weights, layer.bias]).collect();
        // The output has no bias.
        weights.pop();
        if !self.skip.is_empty() {
            weights.push(self.skip);
        }
        weights
    }

    pub fn to_f64(&self) -> HostNet<f64> {
        let wide = |numbers: &[f32]| numbers.iter().map(|&number| f64::from(number)).collect();
        let layer = |layer: &Dense| Dense {
            inputs: layer.inputs,
            units: layer.units,
            weights: wide(&layer.weights),
            bias: wide(&layer.bias),
        };
        HostNet {
            layers: self.layers.iter().map(layer).collect(),
            activation: self.activation,
            skip: wide(&self.skip),
            encoding: self.encoding.clone(),
        }
    }
}

/// How features become inputs: each is one, or those of [`Encoding`].
impl HostNet<f64> {
    /// The inputs of a scaled document.
    pub fn inputs(&self, document: &[f64]) -> Vec<f64> {
        let Some(encoding) = &self.encoding else { return document.to_vec() };
        let mut inputs = Vec::with_capacity(encoding.n_inputs());
        for (feature, &position) in encoding.features().iter().zip(document) {
            let means = &encoding.means()[feature.first..feature.first + feature.bins];
            let input = |(bin, mean): (usize, &f32)| match position.is_nan() {
                true => 0.0,
                false => (position - bin as f64).clamp(0.0, 1.0) - f64::from(*mean),
            };
            inputs.extend(means.iter().enumerate().map(input));
        }
        inputs
    }

    /// Converts the gradient by the inputs of a document to that by its features.
    pub fn by_features(&self, document: &[f64], gradient: Vec<f64>) -> Vec<f64> {
        let Some(encoding) = &self.encoding else { return gradient };
        let of_feature = |(feature, &position): (&FeatureInputs, &f64)| match feature.bins {
            0 => 0.0,
            _ if position.is_nan() => 0.0,
            bins => gradient[feature.first + (position.max(0.0) as usize).min(bins - 1)],
        };
        encoding.features().iter().zip(document).map(of_feature).collect()
    }

    /// Sums numbers of inputs by feature.
    pub fn sums_of_features(&self, numbers: Vec<f64>) -> Vec<f64> {
        let Some(encoding) = &self.encoding else { return numbers };
        let sum = |feature: &FeatureInputs| numbers[feature.first..feature.first + feature.bins].iter().sum();
        encoding.features().iter().map(sum).collect()
    }
}

impl<T> HostNet<T> {
    /// The hidden layers.
    pub fn hidden(&self) -> &[Dense<T>] {
        &self.layers[..self.layers.len().saturating_sub(1)]
    }

    /// The weights of the output, one per unit of the last hidden layer, or per feature of a linear net.
    pub fn output(&self) -> &[T] {
        self.layers.last().map_or(&[], |layer| &layer.weights)
    }
}

impl<T: Copy> Dense<T> {
    /// The weights of an input, one per unit.
    pub fn row(&self, input: usize) -> &[T] {
        &self.weights[input * self.units..(input + 1) * self.units]
    }

    /// The weights of a unit, one per input.
    pub fn column(&self, unit: usize) -> impl Iterator<Item = T> {
        self.weights.iter().skip(unit).step_by(self.units).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_split_and_joined_in_the_order_of_the_shapes() {
        for hidden in [&[][..], &[3], &[3, 2], &[1, 2, 3]] {
            let config = match hidden {
                [] => RankerConfig::linear(4),
                _ => RankerConfig::mlp(4, hidden, Activation::Tanh),
            };
            let weights: Vec<f32> = (0..config.n_weights()).map(|i| i as f32).collect();
            let net = HostNet::new(&config, &weights);
            assert_eq!((net.hidden().len(), net.output().len()), (hidden.len(), *hidden.last().unwrap_or(&4)));
            let lengths: Vec<usize> = config.shapes().iter().map(|shape| shape.iter().product()).collect();
            let cut = net.into_weights();
            assert_eq!(cut.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
            assert_eq!(cut.concat(), weights);
        }
        let net = HostNet::new(
            &RankerConfig::mlp(2, &[3], Activation::Relu),
            &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.],
        );
        assert_eq!((net.layers[0].row(1), &net.layers[0].bias[..]), (&[3., 4., 5.][..], &[6., 7., 8.][..]));
        assert!(net.layers[0].column(1).eq([1., 4.]) && net.output() == [9., 10., 11.]);
    }
}
