//! The linear net: `s = x . w`.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

/// One weight per feature, `s = x . w`.
///
/// There is no bias: adding a constant to all scores changes no ranking, and its gradient is always zero.
#[derive(Module, Debug)]
pub struct LinearRanker {
    /// `[features, 1]`
    pub weight: Param<Tensor<2>>,
}

impl LinearRanker {
    /// Scores documents.
    ///
    /// # Shapes
    /// - features: `[documents, features]`
    /// - output: `[documents]`
    pub fn forward(&self, features: Tensor<2>) -> Tensor<1> {
        let [documents, _] = features.dims();
        features.matmul(self.weight.val()).reshape([documents])
    }
}
