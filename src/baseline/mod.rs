//! The baselines of the papers, one file each.
//!
//! Each baseline defines one training round and the resulting scorer. Validation, the best round, early stopping and checkpoints
//! are shared with every [training run](crate::train). A baseline is one file here and one row in [`BASELINES`].

mod adarank;
mod algebra;
mod conjugate;
mod coordinate_ascent;
mod cutting_plane;
mod feature;
mod kernel_matrix;
mod kernel_ranknet;
mod least_squares;
mod margins;
mod oap_bpm;
mod pair_logistic;
mod prank;
mod prank_quadratic;
mod rankboost;
mod rankprop;
mod ranksvm;
mod rounds;
mod smoothrank;
mod svm_map;
#[cfg(test)]
mod tests;
mod thresholds;
mod worst_ranking;

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::model::{RankerConfig, Scorer};
use crate::setting::{BaselineSettings, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
pub(crate) use feature::best_feature;
pub(crate) use rounds::Rounds;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Creates the learner of a baseline.
type Start = fn(&BaselineStart<'_>) -> Result<Box<dyn Learner>>;

/// All baselines, in the order of the list of models.
pub(crate) const BASELINES: &[(ModelKind, Start)] = &[
    (feature::KIND, feature::start),
    (prank::KIND, prank::start),
    (prank_quadratic::KIND, prank_quadratic::start),
    (oap_bpm::KIND, oap_bpm::start),
    (rankprop::KIND, rankprop::start),
    (ranksvm::KIND, ranksvm::start),
    (svm_map::KIND, svm_map::start),
    (rankboost::KIND, rankboost::start),
    (adarank::KIND, adarank::start),
    (coordinate_ascent::KIND, coordinate_ascent::start),
    (smoothrank::KIND, smoothrank::start),
    (kernel_ranknet::KIND, kernel_ranknet::start),
];

/// Creates the learner of the baseline named in the settings.
pub(crate) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let name = start.settings.name.as_str();
    match BASELINES.iter().find(|(kind, _)| kind.name == name) {
        Some((_, create)) => create(start),
        None => Err(Error::Config(format!("unknown baseline '{name}'"))),
    }
}

/// A system that learns in rounds. The value holds everything that is learned: it is cloned before each round and written to
/// checkpoints as JSON.
pub(crate) trait Baseline: Clone + Send + Serialize + DeserializeOwned + 'static {
    /// Runs one round, starting from the result of the previous one.
    ///
    /// # Errors
    /// If training fails or is stopped; implementations call `round.stop.check()?` at least once per second.
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd>;

    /// Returns the scorer after the last round; `train` is the training data.
    ///
    /// # Errors
    /// If it cannot be created.
    fn scorer(&self, train: &Dataset, device: &Device) -> Result<Scorer>;
}

/// Input for creating a baseline.
pub(crate) struct BaselineStart<'a> {
    pub settings: &'a BaselineSettings,
    /// The metric that selects the best round. Baselines that optimise a metric optimise this one.
    pub metric: Arc<dyn Metric>,
    /// The training queries, scaled.
    pub train: &'a Dataset,
    pub device: &'a Device,
}

impl BaselineStart<'_> {
    /// Returns the setting of this name. The registry guarantees that it exists.
    pub fn number(&self, key: &str) -> f64 {
        self.settings.numbers.get(key).copied().unwrap_or(f64::NAN)
    }
}

/// Input of a round.
pub(crate) struct Round<'a> {
    /// The training queries, scaled.
    pub train: &'a Dataset,
    pub metric: &'a dyn Metric,
    /// Number of the round, from 1.
    pub number: usize,
    /// Seed of the run. A round seeds its generator with `(seed, number)`, so that a resumed run draws the same random
    /// numbers.
    pub seed: u64,
    pub stop: &'a Stop,
}

/// Result of a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundEnd {
    /// Training loss, the mean over queries; NaN if the system has none.
    pub loss: f64,
    /// Whether further rounds would change nothing.
    pub converged: bool,
}

/// Returns a linear net with these weights, one per feature.
pub(crate) fn linear(weights: &[f64], device: &Device) -> Result<Scorer> {
    let shape = RankerConfig::linear(weights.len());
    let weights = weights.iter().map(|&weight| weight as f32).collect();
    shape.from_weights(&[weights], device).map(Scorer::Net)
}
