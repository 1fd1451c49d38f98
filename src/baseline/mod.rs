//! The systems that the papers compare with, one file each.
//!
//! Each says how one round of it works and what scores after that; validation, the best round, stopping, checkpoints and
//! everything else are those of any [training run](crate::train). A system is one file here and one line in [`BASELINES`].

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

/// Starts to train a baseline.
type Start = fn(&BaselineStart<'_>) -> Result<Box<dyn Learner>>;

/// All of them, in the order of the list of models.
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

/// The learner of the baseline that is named in the settings.
pub(crate) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let name = start.settings.name.as_str();
    match BASELINES.iter().find(|(kind, _)| kind.name == name) {
        Some((_, begin)) => begin(start),
        None => Err(Error::Config(format!("unknown baseline '{name}'"))),
    }
}

/// A system that learns in rounds. What it has learnt is its own value: it is copied before a round, and written to
/// checkpoints as JSON.
pub(crate) trait Baseline: Clone + Send + Serialize + DeserializeOwned + 'static {
    /// One round, on from the last one.
    ///
    /// # Errors
    /// When it fails, or the run is to stop: `round.stop.check()?` is to be called at least once a second.
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd>;

    /// What scores after the last round; `train` are the training queries.
    ///
    /// # Errors
    /// When it cannot be made.
    fn scorer(&self, train: &Dataset, device: &Device) -> Result<Scorer>;
}

/// What a system starts with.
pub(crate) struct BaselineStart<'a> {
    pub settings: &'a BaselineSettings,
    /// The measure that chooses the best round; systems that optimise a measure optimise this one.
    pub metric: Arc<dyn Metric>,
    /// The training queries, scaled.
    pub train: &'a Dataset,
    pub device: &'a Device,
}

impl BaselineStart<'_> {
    /// The setting of this name; the registry makes sure that it is there.
    pub fn number(&self, key: &str) -> f64 {
        self.settings.numbers.get(key).copied().unwrap_or(f64::NAN)
    }
}

/// What a round works on.
pub(crate) struct Round<'a> {
    /// The training queries, scaled.
    pub train: &'a Dataset,
    pub metric: &'a dyn Metric,
    /// Counted from 1.
    pub number: usize,
    /// Of this run; a round draws from (seed, number), so that a resumed run draws the same.
    pub seed: u64,
    pub stop: &'a Stop,
}

/// What a round ends in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundEnd {
    /// What it makes small, the mean over queries; NaN where there is no such number.
    pub loss: f64,
    /// Whether further rounds would change nothing.
    pub converged: bool,
}

/// A linear net of these weights, one per feature.
pub(crate) fn linear(weights: &[f64], device: &Device) -> Result<Scorer> {
    let shape = RankerConfig::linear(weights.len());
    let weights = weights.iter().map(|&weight| weight as f32).collect();
    shape.from_weights(&[weights], device).map(Scorer::Net)
}
