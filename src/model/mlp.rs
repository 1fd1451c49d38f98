//! The two-layer net: `s = g(x W + b) . v`.

use super::Activation;
use super::units::units;
use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::module::linear;

/// One hidden layer, `s = g(x W + b) . v`.
///
/// The output has no bias: adding a constant to all scores changes no ranking, and its gradient is always zero.
#[derive(Module, Debug)]
pub struct MlpRanker {
    /// `[features, hidden]`
    pub hidden_weight: Param<Tensor<2>>,
    /// `[hidden]`
    pub hidden_bias: Param<Tensor<1>>,
    /// `[hidden, 1]`
    pub output_weight: Param<Tensor<2>>,
    /// The hidden units' function g.
    #[module(skip)]
    pub activation: Activation,
}

impl MlpRanker {
    /// Scores documents.
    ///
    /// # Shapes
    /// - features: `[documents, features]`
    /// - output: `[documents]`
    pub fn forward(&self, features: Tensor<2>) -> Tensor<1> {
        let [documents, _] = features.dims();
        let hidden = linear(features, self.hidden_weight.val(), Some(self.hidden_bias.val()));
        units(hidden, self.activation).matmul(self.output_weight.val()).reshape([documents])
    }
}
