//! What scores: a linear net and a two-layer net, as Burn modules, and the model that a folder holds.

mod columns;
mod complete;
mod config;
mod folder;
mod host;
mod init;
mod linear;
mod mlp;
mod record;
mod run;
mod score;
mod units;

pub(crate) use columns::{Columns, GROUP};
pub use complete::Model;
pub(crate) use complete::means;
pub use config::{Activation, Architecture, RankerConfig};
pub use folder::{DataInfo, ModelInfo, ModelPlace};
pub(crate) use host::to_host;
pub use init::Init;
pub use linear::LinearRanker;
pub use mlp::MlpRanker;
pub(crate) use record::{is_finite, ranker_from_bytes, ranker_to_bytes};
pub use run::{EpochRecord, Finish, RunInfo};
pub use score::score;
pub(crate) use score::score_rows;
pub(crate) use units::add_moved_unit;

use burn::module::Module;
use burn::tensor::Tensor;

/// Any of the rankers.
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
pub enum Ranker {
    /// One weight per feature.
    Linear(LinearRanker),
    /// One hidden layer.
    Mlp(MlpRanker),
}

impl Ranker {
    /// Scores documents; a higher score ranks higher.
    ///
    /// This is the forward pass of training, by Burn's matrix products, whose rounding may depend on what is scored
    /// together. [`score`](crate::score) is for scores that must not.
    ///
    /// # Shapes
    /// - features: `[documents, features]`, the documents of any number of queries, nothing padded
    /// - output: `[documents]`
    pub fn forward(&self, features: Tensor<2>) -> Tensor<1> {
        match self {
            Ranker::Linear(net) => net.forward(features),
            Ranker::Mlp(net) => net.forward(features),
        }
    }
}
