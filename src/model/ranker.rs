//! Nets of any depth as a Burn module: `s = g(... g(x W1 + b1) W2 + b2 ...) . v`.

use super::encoding;
use super::units::units;
use super::{Activation, Architecture, RankerConfig, to_host};
use crate::data::Encoding;
use crate::error::Result;
use burn::module::{Module, Param};
use burn::tensor::module::linear;
use burn::tensor::{Device, Tensor};
use std::sync::Arc;

/// A net with any number of hidden layers; without hidden layers it is linear, `s = x . v`. A skip connection adds `x . w`.
///
/// The output has no bias, because adding a constant to all scores changes no ranking.
///
/// ```
/// use burnrank::{RankerConfig, Tensor, device};
/// let device = device::open("auto")?;
/// let ranker = RankerConfig::linear(2).from_weights(&[vec![0.5, -1.0]], &device)?;
/// let scores = ranker.forward(Tensor::from_floats([[2.0, 1.0], [0.0, 1.0]], &device));
/// assert_eq!(scores.into_data().to_vec::<f32>().unwrap(), [0.0, -1.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Module, Debug)]
pub struct Ranker {
    /// The hidden layers and the output layer.
    pub(super) layers: Vec<Layer>,
    /// Weights of the linear path from the inputs to the score, `[inputs, 1]`.
    pub(super) skip: Option<Param<Tensor<2>>>,
    /// Activation function of the hidden units; `None` without hidden units.
    #[module(skip)]
    pub(super) activation: Option<Activation>,
    /// How features scaled by `piecewise` become inputs.
    #[module(skip)]
    pub(super) encoding: Option<Arc<Encoding>>,
}

/// One layer: `x W + b`, or `x W` for the output.
#[derive(Module, Debug)]
pub(super) struct Layer {
    /// `[inputs, units]`
    pub weight: Param<Tensor<2>>,
    /// `[units]`; `None` for the output.
    pub bias: Option<Param<Tensor<1>>>,
}

impl Ranker {
    /// Scores documents; a higher score ranks higher.
    ///
    /// On the backend Flex this is one operation of Burn's autodiff with a hand-written backward pass; on other backends it is
    /// a chain of Burn's operations. Its rounding can depend on the CPU and on the other documents in the batch.
    /// [`score`](crate::score) does not have this dependence.
    ///
    /// # Shapes
    /// - features: `[documents, features]`, the documents of any number of queries, without padding
    /// - output: `[documents]`
    pub fn forward(&self, features: Tensor<2>) -> Tensor<1> {
        #[cfg(feature = "flex")]
        if let Some(scores) = super::fused::fused_scores(self, &features) {
            return scores;
        }
        self.forward_by_burn(features)
    }

    /// The same by Burn's operations, one by one.
    pub(crate) fn forward_by_burn(&self, features: Tensor<2>) -> Tensor<1> {
        let [documents, _] = features.dims();
        let inputs = match &self.encoding {
            Some(encoding) => encoding::inputs(encoding, features),
            None => features,
        };
        let linear = self.skip.as_ref().map(|skip| inputs.clone().matmul(skip.val()));
        let scores = self.layers.iter().fold(inputs, |input, layer| self.layer(layer, input));
        linear.into_iter().fold(scores, |scores, linear| scores + linear).reshape([documents])
    }

    fn layer(&self, layer: &Layer, input: Tensor<2>) -> Tensor<2> {
        match (&layer.bias, self.activation) {
            (Some(bias), Some(activation)) => units(linear(input, layer.weight.val(), Some(bias.val())), activation),
            _ => input.matmul(layer.weight.val()),
        }
    }

    /// The shape of the net.
    pub fn config(&self) -> RankerConfig {
        let size = |layer: &Layer| layer.weight.lazy_shape().dims::<2>();
        let hidden = self.layers.iter().filter(|layer| layer.bias.is_some()).map(|layer| size(layer)[1]).collect();
        RankerConfig {
            features: match &self.encoding {
                Some(encoding) => encoding.n_features(),
                None => self.layers.first().map_or(0, |layer| size(layer)[0]),
            },
            architecture: match self.activation {
                None => Architecture::Linear,
                Some(activation) => Architecture::Mlp { hidden, activation },
            },
            skip: self.skip.is_some(),
            encoding: self.encoding.clone(),
        }
    }

    /// The device of the weights.
    pub(crate) fn device(&self) -> Option<Device> {
        self.layers.first().map(|layer| layer.weight.val().device())
    }

    /// All weights on the host, in the order of [`RankerConfig::shapes`], row-major.
    ///
    /// # Errors
    /// If they cannot be copied from their device.
    pub fn weights(&self) -> Result<Vec<f32>> {
        let mut weights = Vec::with_capacity(self.config().n_weights());
        for tensor in self.flat() {
            weights.extend(to_host(tensor)?);
        }
        Ok(weights)
    }

    /// All weights on their device, in the same order, one flat tensor per parameter.
    pub(crate) fn flat(&self) -> Vec<Tensor<1>> {
        let of_layer = |layer: &Layer| {
            let weight = layer.weight.val().flatten(0, 1);
            [Some(weight), layer.bias.as_ref().map(Param::val)].into_iter().flatten().collect::<Vec<_>>()
        };
        self.layers.iter().flat_map(of_layer).chain(self.skip.iter().map(|skip| skip.val().flatten(0, 1))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::model::{HostRanker, Init};

    /// `x W + b` by its formula.
    fn affine(x: &[f64], weights: &[f32], bias: &[f32]) -> Vec<f64> {
        let units = bias.len();
        let sum = |(unit, bias): (usize, &f32)| {
            let products = x.iter().enumerate().map(|(i, x)| x * f64::from(weights[i * units + unit]));
            products.sum::<f64>() + f64::from(*bias)
        };
        bias.iter().enumerate().map(sum).collect()
    }

    #[test]
    fn three_layers_match_their_formula() {
        let device = device::open("auto").unwrap();
        let rows = [[0.5f32, -1.0, 2.0, 0.25], [0.0, 0.0, 0.0, 0.0], [-3.0, 1.5, 0.125, 1.0]];
        for activation in [Activation::Sigmoid, Activation::Tanh, Activation::Relu] {
            let shape = RankerConfig::mlp(4, &[3, 2], activation);
            let weights = Init::Burn.weights(&shape, 11);
            let ranker = shape.from_weights(&weights, &device).unwrap();
            let scores = to_host(ranker.forward(Tensor::from_floats(rows, &device))).unwrap();
            let mut host = [0.0; 3];
            HostRanker::of(&ranker).unwrap().score_blocks(rows.as_flattened(), &mut host);
            for ((row, score), host) in rows.iter().zip(scores).zip(host) {
                let function = |z: f64| match activation {
                    Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
                    Activation::Tanh => z.tanh(),
                    Activation::Relu => z.max(0.0),
                };
                let layer = |x: &[f64], place: usize| -> Vec<f64> {
                    affine(x, &weights[place], &weights[place + 1]).into_iter().map(function).collect()
                };
                let hidden = layer(&layer(&row.map(f64::from), 0), 2);
                let expected = affine(&hidden, &weights[4], &[0.0])[0];
                assert!((f64::from(score) - expected).abs() < 1e-6, "{activation}: {score}, not {expected}");
                assert!((f64::from(host) - expected).abs() < 1e-6, "{activation}: {host}, not {expected}");
            }
        }
    }

    #[test]
    fn config_and_weights_are_those_of_the_net() {
        let device = device::open("auto").unwrap();
        for hidden in [&[][..], &[4], &[4, 3], &[1, 2, 3, 4, 5]] {
            let shape = match hidden {
                [] => RankerConfig::linear(6),
                _ => RankerConfig::mlp(6, hidden, Activation::Relu),
            };
            let ranker = shape.init(Init::Burn, 2, &device).unwrap();
            assert_eq!(ranker.config(), shape);
            assert_eq!(ranker.weights().unwrap(), Init::Burn.weights(&shape, 2).concat());
            assert_eq!((ranker.num_params(), ranker.weights().unwrap().len()), (shape.n_weights(), shape.n_weights()));
        }
    }
}
