//! A ranker's shape, checked before anything is built from it.

use super::{Init, LinearRanker, MlpRanker, Ranker};
use crate::error::{Error, Result};
use crate::memory;
use burn::module::{Param, ParamId};
use burn::tensor::{Device, Shape, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The function of the hidden units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// `1 / (1 + e^-x)`
    Sigmoid,
    /// `tanh(x)`
    Tanh,
    /// `max(x, 0)`
    Relu,
}

impl FromStr for Activation {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "sigmoid" => Ok(Activation::Sigmoid),
            "tanh" => Ok(Activation::Tanh),
            "relu" => Ok(Activation::Relu),
            _ => Err(Error::Config(format!("unknown activation '{name}': expected sigmoid, tanh or relu"))),
        }
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activation::Sigmoid => "sigmoid",
            Activation::Tanh => "tanh",
            Activation::Relu => "relu",
        })
    }
}

/// Which net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Architecture {
    /// One weight per feature.
    Linear,
    /// One hidden layer.
    Mlp {
        /// The number of hidden units.
        hidden: usize,
        /// Their function.
        activation: Activation,
    },
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Architecture::Linear => f.write_str("linear net"),
            Architecture::Mlp { hidden, activation } => write!(f, "two-layer net, {hidden} {activation} hidden units"),
        }
    }
}

/// Everything needed to build a [`Ranker`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankerConfig {
    /// The number of features of a document.
    pub features: usize,
    /// Which net.
    pub architecture: Architecture,
}

/// More hidden units than this is a typing error, not a ranker.
const MOST_HIDDEN: usize = 65_536;

impl RankerConfig {
    /// A linear net.
    pub fn linear(features: usize) -> Self {
        RankerConfig { features, architecture: Architecture::Linear }
    }

    /// A two-layer net.
    pub fn mlp(features: usize, hidden: usize, activation: Activation) -> Self {
        RankerConfig { features, architecture: Architecture::Mlp { hidden, activation } }
    }

    /// The shapes of the parameters, in the order that [`RankerConfig::from_weights`] takes them.
    pub fn shapes(&self) -> Vec<Vec<usize>> {
        match self.architecture {
            Architecture::Linear => vec![vec![self.features, 1]],
            Architecture::Mlp { hidden, .. } => vec![vec![self.features, hidden], vec![hidden], vec![hidden, 1]],
        }
    }

    /// The number of weights.
    pub fn n_weights(&self) -> usize {
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
        self.check()?;
        // The weights, the same on the device, and what the optimiser keeps for each.
        let bytes = self.weight_bytes().saturating_mul(4);
        let what = format!("a {} over {} features", self.architecture, self.features);
        memory::ask(bytes, &what, "use fewer features or --hidden units")?;
        self.from_weights(&init.weights(self, seed), device)
    }

    /// A ranker whose weights are still to be loaded. It takes no memory for them: what is loaded brings its own, and must
    /// be of these shapes.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub(crate) fn unfilled(&self, device: &Device) -> Result<Ranker> {
        self.check()?;
        Ok(match self.architecture {
            Architecture::Linear => Ranker::Linear(LinearRanker { weight: absent(1, [self.features, 1], device) }),
            Architecture::Mlp { hidden, activation } => Ranker::Mlp(MlpRanker {
                hidden_weight: absent(1, [self.features, hidden], device),
                hidden_bias: absent(2, [hidden], device),
                output_weight: absent(3, [hidden, 1], device),
                activation,
            }),
        })
    }

    /// A ranker with given weights, in the order of [`RankerConfig::shapes`], row-major.
    ///
    /// # Errors
    /// When the number of weights is not the configuration's.
    pub fn from_weights(&self, weights: &[Vec<f32>], device: &Device) -> Result<Ranker> {
        self.check()?;
        let shapes = self.shapes();
        let fits = weights.len() == shapes.len()
            && weights.iter().zip(&shapes).all(|(w, shape)| w.len() == shape.iter().product::<usize>());
        if !fits {
            let lengths: Vec<usize> = weights.iter().map(Vec::len).collect();
            return Err(Error::Mismatch(format!("weights of lengths {lengths:?} for a net of shapes {shapes:?}")));
        }
        Ok(match self.architecture {
            Architecture::Linear => {
                Ranker::Linear(LinearRanker { weight: parameter(1, &weights[0], [self.features, 1], device) })
            }
            Architecture::Mlp { hidden, activation } => Ranker::Mlp(MlpRanker {
                hidden_weight: parameter(1, &weights[0], [self.features, hidden], device),
                hidden_bias: parameter(2, &weights[1], [hidden], device),
                output_weight: parameter(3, &weights[2], [hidden, 1], device),
                activation,
            }),
        })
    }

    /// Refuses a shape that no net has.
    pub(crate) fn check(&self) -> Result<()> {
        if self.features == 0 {
            return Err(Error::Data("a ranker needs at least one feature".into()));
        }
        if let Architecture::Mlp { hidden, .. } = self.architecture
            && !(1..=MOST_HIDDEN).contains(&hidden)
        {
            return Err(Error::Config(format!("{hidden} hidden units: expected 1 to {MOST_HIDDEN}")));
        }
        Ok(())
    }
}

// Identities are fixed, not drawn, so that the same weights always make the same file.
fn parameter<const D: usize>(id: u64, values: &[f32], shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    let data = TensorData::new(values.to_vec(), shape);
    let tensor = Tensor::from_data(data, device);
    let tensor = if device.is_autodiff() { tensor.require_grad() } else { tensor };
    Param::initialized(ParamId::from(id), tensor)
}

/// A parameter of which only the shape is there.
fn absent<const D: usize>(id: u64, shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    let init = move |device: &Device, _: bool| Tensor::zeros(shape, device);
    Param::uninitialized(ParamId::from(id), init, device.clone(), device.is_autodiff(), Shape::from(shape.to_vec()))
}
