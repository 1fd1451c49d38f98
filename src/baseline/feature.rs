//! A single feature as the score, such as BM25: a ranking without learning.
//!
//! The LambdaRank paper (2006, section 6.1) and later papers compare with such rankings. Without an index, all features are tried
//! in both directions, and the one with the best mean of the metric on the training queries is used.

use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric, Summary, evaluate};
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "feature",
    help: "a single feature: a given one or the best one",
    optimises: Some("the chosen metric on the training queries, by selecting a feature"),
    parameters: &[Parameter::number("index", 0.0, 0.0..=1e9, "column of the feature, from 1; 0 selects the best")],
    epochs: 1,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::None,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SingleFeature {
    weights: Vec<f64>,
    /// Column of the feature, from 1; 0 for the best.
    index: usize,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let (index, features) = (start.number("index") as usize, start.train.n_features());
    if index > features {
        return Err(Error::Config(format!("feature {index}: the data has {features} features")));
    }
    Rounds::start(start, SingleFeature { weights: vec![0.0; features], index })
}

impl Baseline for SingleFeature {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let (feature, weight) = match self.index {
            0 => best_feature(round.train, round.metric, &Conventions::default(), round.stop)?,
            index => (index - 1, 1.0),
        };
        self.weights.fill(0.0);
        self.weights[feature] = weight;
        Ok(RoundEnd { loss: f64::NAN, converged: true })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

/// Returns the feature with the best mean of a metric, and 1 or -1 for its direction. Ties go to the first feature.
pub(crate) fn best_feature(
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
    stop: &Stop,
) -> Result<(usize, f64)> {
    let width = data.n_features();
    let values: Vec<f64> = (0..2 * width)
        .into_par_iter()
        .map(|choice| {
            stop.check()?;
            let (feature, weight) = (choice / 2, if choice % 2 == 0 { 1.0 } else { -1.0 });
            let scores: Vec<f32> = data.features().chunks_exact(width).map(|row| weight * row[feature]).collect();
            let values = evaluate(metric, &scores, data.labels(), data.offsets(), conventions)?;
            Ok(Summary::of(&values).mean)
        })
        .collect::<Result<_>>()?;
    let sign = if metric.is_cost() { -1.0 } else { 1.0 };
    let mut best = 0;
    for (choice, value) in values.iter().enumerate() {
        if sign * value > sign * values[best] {
            best = choice;
        }
    }
    Ok((best / 2, if best % 2 == 0 { 1.0 } else { -1.0 }))
}
