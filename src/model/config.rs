//! A ranker's shape, checked before anything is built from it.

use super::ranker::Layer;
use super::{Activation, Architecture, Init, Ranker};
use crate::error::{Error, Result};
use crate::memory;
use burn::module::{Param, ParamId};
use burn::tensor::{Device, Shape, Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// The shape of what scores documents: for a net, everything needed to build a [`Ranker`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankerConfig {
    /// The number of features of a document.
    pub features: usize,
    /// Which net, or what else scores them.
    pub architecture: Architecture,
}

impl RankerConfig {
    /// A linear net.
    pub fn linear(features: usize) -> Self {
        RankerConfig { features, architecture: Architecture::Linear }
    }

    /// A net with hidden layers of so many units each, as in `&[32, 16]`.
    pub fn mlp(features: usize, hidden: &[usize], activation: Activation) -> Self {
        RankerConfig { features, architecture: Architecture::Mlp { hidden: hidden.to_vec(), activation } }
    }

    /// The shapes of the parameters, in the order that [`RankerConfig::from_weights`] takes them: weights and biases of
    /// each hidden layer, then the weights of the output.
    ///
    /// What is no net has none.
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
        shapes
    }

    /// The number of weights; one per point for a sum of kernels.
    pub fn n_weights(&self) -> usize {
        if let Architecture::Kernel { points } = self.architecture {
            return points;
        }
        self.shapes().iter().map(|shape| shape.iter().product::<usize>()).sum()
    }

    /// The bytes of the weights, or the largest number where that overflows.
    pub(crate) fn weight_bytes(&self) -> u64 {
        let size = |shape: &Vec<usize>| shape.iter().fold(1u64, |size, &side| size.saturating_mul(side as u64));
        let weights = self.shapes().iter().fold(0u64, |sum, shape| sum.saturating_add(size(shape)));
        memory::bytes_of::<f32>(weights)
    }

    /// A ranker with random weights; the same seed gives the same weights on every backend.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn init(&self, init: Init, seed: u64, device: &Device) -> Result<Ranker> {
        self.check_net()?;
        // The weights, the same on the device, and what the optimiser keeps for each.
        let bytes = self.weight_bytes().saturating_mul(4);
        let what = format!("a {} over {} features", self.architecture, self.features);
        memory::ask(bytes, &what, "use fewer features or `hidden` units")?;
        self.from_weights(&init.weights(self, seed), device)
    }

    /// A ranker whose weights are still to be loaded. It takes no memory for them: what is loaded brings its own, and must
    /// be of these shapes.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub(crate) fn unfilled(&self, device: &Device) -> Result<Ranker> {
        self.check_net()?;
        Ok(self.build(|place, shape| absent(place, shape, device), |place, shape| absent(place, shape, device)))
    }

    /// A ranker with given weights, in the order of [`RankerConfig::shapes`], row-major.
    ///
    /// # Errors
    /// When the number of weights is not the configuration's.
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

    /// A ranker of parameters made from their places in [`RankerConfig::shapes`] and their shapes.
    fn build(
        &self,
        weight: impl Fn(usize, [usize; 2]) -> Param<Tensor<2>>,
        bias: impl Fn(usize, [usize; 1]) -> Param<Tensor<1>>,
    ) -> Ranker {
        let layers = self.layers().into_iter().enumerate().map(|(place, layer)| Layer {
            weight: weight(2 * place, [layer.inputs, layer.units]),
            bias: (!layer.bias.is_empty()).then(|| bias(2 * place + 1, [layer.units])),
        });
        Ranker { layers: layers.collect(), activation: self.architecture.activation() }
    }

    /// Refuses a shape that no net has.
    fn check_net(&self) -> Result<()> {
        if !self.architecture.is_net() {
            return Err(Error::Config(format!("{}: not a net", self.architecture)));
        }
        self.check()
    }

    /// Refuses a shape that nothing has.
    pub(crate) fn check(&self) -> Result<()> {
        if self.features == 0 {
            return Err(Error::Data("a ranker needs at least one feature".into()));
        }
        self.architecture.check()
    }
}

/// Identities are fixed, not drawn, so that the same weights always make the same file.
fn identity(place: usize) -> ParamId {
    ParamId::from(place as u64 + 1)
}

fn parameter<const D: usize>(place: usize, values: &[f32], shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    let data = TensorData::new(values.to_vec(), shape);
    let tensor = Tensor::from_data(data, device);
    let tensor = if device.is_autodiff() { tensor.require_grad() } else { tensor };
    Param::initialized(identity(place), tensor)
}

/// A parameter of which only the shape is there.
fn absent<const D: usize>(place: usize, shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    let init = move |device: &Device, _: bool| Tensor::zeros(shape, device);
    Param::uninitialized(identity(place), init, device.clone(), device.is_autodiff(), Shape::from(shape.to_vec()))
}
