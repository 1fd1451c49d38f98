//! Shapes of models, and construction of nets.

use super::ranker::Layer;
use super::{Activation, Architecture, Init, Ranker};
use crate::data::{Encoding, Scaler};
use crate::error::{Error, Result};
use crate::memory;
use burn::module::{Param, ParamId};
use burn::tensor::{Device, Shape, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The shape of a model: number of features and architecture. For a net, everything needed to build a [`Ranker`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankerConfig {
    /// Number of features per document.
    pub features: usize,
    /// Architecture and size.
    pub architecture: Architecture,
    /// Whether a net with hidden layers has a linear path from its inputs to the score, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip: bool,
    /// How a net reads features scaled by `piecewise`; `None` if each feature is one input. Model folders store it with the scaling.
    #[serde(skip)]
    pub encoding: Option<Arc<Encoding>>,
}

impl RankerConfig {
    /// A linear net.
    pub fn linear(features: usize) -> Self {
        RankerConfig::new(features, Architecture::Linear)
    }

    /// A net with hidden layers of the given sizes, such as `&[32, 16]`.
    pub fn mlp(features: usize, hidden: &[usize], activation: Activation) -> Self {
        RankerConfig::new(features, Architecture::Mlp { hidden: hidden.to_vec(), activation })
    }

    /// A model without skip connection that reads each feature as one input.
    pub fn new(features: usize, architecture: Architecture) -> Self {
        RankerConfig { features, architecture, skip: false, encoding: None }
    }

    /// Reads features as scaled by a scaler: a net has an input per bin of `piecewise`.
    #[must_use]
    pub fn encoded(self, scaler: &Scaler) -> Self {
        let encoding = if self.architecture.is_net() { scaler.encoding() } else { None };
        RankerConfig { encoding, ..self }
    }

    /// Number of inputs of a net's first layer.
    pub fn n_inputs(&self) -> usize {
        self.encoding.as_ref().map_or(self.features, |encoding| encoding.n_inputs())
    }

    /// The shapes of the parameters, in the order of [`RankerConfig::from_weights`]: weights and biases of each hidden
    /// layer, the weights of the output, then those of the skip connection.
    ///
    /// Empty if the architecture is not a net.
    pub fn shapes(&self) -> Vec<Vec<usize>> {
        let mut shapes = Vec::new();
        if !self.architecture.is_net() {
            return shapes;
        }
        for layer in self.layers() {
            shapes.push(vec![layer.inputs, layer.units]);
            if !layer.bias.is_empty() {
                shapes.push(vec![layer.units]);
            }
        }
        if self.skip {
            shapes.push(vec![self.n_inputs(), 1]);
        }
        shapes
    }

    /// Number of weights; for a sum of kernels, the number of points.
    pub fn n_weights(&self) -> usize {
        if let Architecture::Kernel { points } = self.architecture {
            return points;
        }
        self.shapes().iter().map(|shape| shape.iter().product::<usize>()).sum()
    }

    /// Size of the weights in bytes, saturating at the maximum.
    pub(crate) fn weight_bytes(&self) -> u64 {
        let size = |shape: &Vec<usize>| shape.iter().fold(1u64, |size, &side| size.saturating_mul(side as u64));
        let weights = self.shapes().iter().fold(0u64, |sum, shape| sum.saturating_add(size(shape)));
        memory::bytes_of::<f32>(weights)
    }

    /// Creates a ranker with random weights; the same seed gives the same weights on every backend.
    ///
    /// # Errors
    /// If the configuration is not a valid net.
    pub fn init(&self, init: Init, seed: u64, device: &Device) -> Result<Ranker> {
        self.check_net()?;
        // The weights on the host, on the device, and the optimiser's two moments.
        let bytes = self.weight_bytes().saturating_mul(4);
        let what = format!("a {} over {} features", self.architecture, self.features);
        memory::ask(bytes, &what, "use fewer features or `hidden` units")?;
        self.from_weights(&init.weights(self, seed), device)
    }

    /// Creates a ranker whose weights are loaded later and for which no memory is allocated; the loaded weights must
    /// have these shapes.
    ///
    /// # Errors
    /// If the configuration is not a valid net.
    pub(crate) fn unfilled(&self, device: &Device) -> Result<Ranker> {
        self.check_net()?;
        Ok(self.build(|place, shape| absent(place, shape, device), |place, shape| absent(place, shape, device)))
    }

    /// Creates a ranker from weights, row-major in the order of [`RankerConfig::shapes`].
    ///
    /// # Errors
    /// If the numbers of weights do not match the shapes.
    pub fn from_weights(&self, weights: &[Vec<f32>], device: &Device) -> Result<Ranker> {
        self.check_net()?;
        let shapes = self.shapes();
        let fits = weights.len() == shapes.len()
            && weights.iter().zip(&shapes).all(|(w, shape)| w.len() == shape.iter().product::<usize>());
        if !fits {
            let lengths: Vec<usize> = weights.iter().map(Vec::len).collect();
            return Err(Error::Mismatch(format!("weights of lengths {lengths:?} for a net of shapes {shapes:?}")));
        }
        Ok(self.build(
            |place, shape| parameter(place, &weights[place], shape, device),
            |place, shape| parameter(place, &weights[place], shape, device),
        ))
    }

    /// Creates a ranker from the weights of all parameters in one row.
    ///
    /// # Errors
    /// If their number does not match.
    pub(crate) fn ranker_of(&self, flat: &[f32], device: &Device) -> Result<Ranker> {
        let (mut rest, mut weights) = (flat, Vec::new());
        for shape in self.shapes() {
            let (own, others) = rest.split_at(shape.iter().product::<usize>().min(rest.len()));
            weights.push(own.to_vec());
            rest = others;
        }
        self.from_weights(&weights, device)
    }

    /// Builds a ranker from functions that create the parameter at a place in [`RankerConfig::shapes`].
    fn build(
        &self,
        weight: impl Fn(usize, [usize; 2]) -> Param<Tensor<2>>,
        bias: impl Fn(usize, [usize; 1]) -> Param<Tensor<1>>,
    ) -> Ranker {
        let layers = self.layers().into_iter().enumerate().map(|(place, layer)| Layer {
            weight: weight(2 * place, [layer.inputs, layer.units]),
            bias: (!layer.bias.is_empty()).then(|| bias(2 * place + 1, [layer.units])),
        });
        let layers: Vec<Layer> = layers.collect();
        let skip = self.skip.then(|| weight(2 * layers.len() - 1, [self.n_inputs(), 1]));
        Ranker { layers, skip, activation: self.architecture.activation(), encoding: self.encoding.clone() }
    }

    /// Checks that this is a valid net.
    fn check_net(&self) -> Result<()> {
        if !self.architecture.is_net() {
            return Err(Error::Config(format!("{}: not a net", self.architecture)));
        }
        self.check()
    }

    /// Checks that this is a valid shape.
    pub(crate) fn check(&self) -> Result<()> {
        if self.features == 0 {
            return Err(Error::Data("a ranker needs at least one feature".into()));
        }
        if self.n_inputs() == 0 {
            return Err(Error::Data(
                "all features are constant in the training data: there is nothing to learn from".into(),
            ));
        }
        if self.encoding.as_ref().is_some_and(|encoding| encoding.n_features() != self.features) {
            return Err(Error::Mismatch("the encoding has another number of features than the net".into()));
        }
        if self.skip && self.architecture.hidden().is_empty() {
            return Err(Error::Config("a skip connection needs hidden layers: a linear net is one".into()));
        }
        self.architecture.check()
    }
}

/// Parameter ids are fixed rather than random, so that equal weights give equal files.
fn identity(place: usize) -> ParamId {
    ParamId::from(place as u64 + 1)
}

fn parameter<const D: usize>(place: usize, values: &[f32], shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    let data = TensorData::new(values.to_vec(), shape);
    let tensor = Tensor::from_data(data, device);
    let tensor = if device.is_autodiff() { tensor.require_grad() } else { tensor };
    Param::initialized(identity(place), tensor)
}

/// A parameter with a shape but no values yet.
fn absent<const D: usize>(place: usize, shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    let init = move |device: &Device, _: bool| Tensor::zeros(shape, device);
    Param::uninitialized(identity(place), init, device.clone(), device.is_autodiff(), Shape::from(shape.to_vec()))
}
