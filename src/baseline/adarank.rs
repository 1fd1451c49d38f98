//! AdaRank: boosting of single features with query weights that follow the metric.
//!
//! Xu and Li, "AdaRank: a boosting algorithm for information retrieval", SIGIR 2007. E(f) is the metric of a query. Round t
//! selects the feature h with the largest φ = Σ P(q) E(h), adds it with α = ½ ln((1 + φ) / (1 - φ)), and sets
//! P(q) ∝ exp(-E(f)) for the sum f of all features added so far; P is uniform at first. This minimises Σ exp(-E(f)).
//!
//! The paper stops when a round does not increase the mean of the metric. The feature with the largest φ is often the last one
//! added, which changes no ranking. Here the next best feature is then tried, and training ends when no feature increases the
//! mean. Queries without relevant documents have no weight.

use super::algebra::scores;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::memory;
use crate::metric::{Conventions, Empty, MetricKind, evaluate};
use crate::model::{Architecture, Scorer};
use crate::numeric::mean;
use crate::setting::{Kinds, ModelKind};
use crate::train::Learner;
use burn::tensor::Device;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(super) const KIND: ModelKind = ModelKind {
    name: "adarank",
    help: "AdaRank: boosting of single features",
    optimises: Some("the chosen metric on the training queries, by boosting; for MAP and NDCG"),
    parameters: &[],
    epochs: 500,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// φ is limited to 1 minus this, so that α is finite.
const MARGIN: f64 = 1e-6;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct AdaRank {
    /// Sum of α over the rounds that selected a feature.
    weights: Vec<f64>,
    /// Metric of each feature alone, shaped `[features][queries]`; computed on first use.
    #[serde(skip)]
    alone: Option<Arc<Vec<Vec<f64>>>>,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    if !matches!(start.metric.kind(), MetricKind::Ap { .. } | MetricKind::Ndcg { .. }) {
        return Err(Error::Config(format!(
            "adarank: supports MAP and NDCG, not {}: set `metric` to one of them, such as ndcg@10 or map",
            start.metric.name()
        )));
    }
    Rounds::start(start, AdaRank { weights: vec![0.0; start.train.n_features()], alone: None })
}

impl Baseline for AdaRank {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let alone = self.alone(round)?;
        let values = evaluate_queries(round, &scores(round.train, &self.weights))?;
        let phi = phi(&alone, &query_weights(&self.weights, &values));
        for feature in descending(&phi) {
            round.stop.check()?;
            let mut weights = self.weights.clone();
            weights[feature] += alpha(phi[feature]);
            let next = evaluate_queries(round, &scores(round.train, &weights))?;
            if mean(&next) > mean(&values) {
                self.weights = weights;
                return Ok(RoundEnd { loss: loss(&next), converged: false });
            }
        }
        Ok(RoundEnd { loss: loss(&values), converged: true })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

impl AdaRank {
    /// Metric of each feature alone, shaped `[features][queries]`.
    fn alone(&mut self, round: &Round<'_>) -> Result<Arc<Vec<Vec<f64>>>> {
        if let Some(alone) = &self.alone {
            return Ok(alone.clone());
        }
        let (data, width) = (round.train, round.train.n_features());
        let numbers = (width as u64).saturating_mul(data.n_queries() as u64);
        memory::ask(
            memory::bytes_of::<f64>(numbers),
            "the metric of each feature for each query",
            "train on fewer queries",
        )?;
        let of = |feature: usize| {
            round.stop.check()?;
            let scores: Vec<f64> = data.features().chunks_exact(width).map(|row| row[feature].into()).collect();
            evaluate_queries(round, &scores)
        };
        let values: Vec<Vec<f64>> = (0..width).into_par_iter().map(of).collect::<Result<_>>()?;
        if values.iter().flatten().all(|&value| value == 0.0) {
            return Err(Error::Data(format!(
                "adarank: no feature has a {} above 0 for any training query: the training data has no relevant documents",
                round.metric.name()
            )));
        }
        Ok(self.alone.insert(Arc::new(values)).clone())
    }
}

/// Metric of each query with relevant documents.
fn evaluate_queries(round: &Round<'_>, scores: &[f64]) -> Result<Vec<f64>> {
    let (data, conventions) = (round.train, Conventions { empty: Empty::Skip, ..Conventions::default() });
    let values = evaluate(round.metric, scores, data.labels(), data.offsets(), &conventions)?;
    Ok(values.into_iter().flatten().collect())
}

/// P(q) ∝ exp(-E), or uniform before the first feature.
fn query_weights(weights: &[f64], values: &[f64]) -> Vec<f64> {
    let first = weights.iter().all(|&weight| weight == 0.0);
    let weight = |value: &f64| if first { 1.0 } else { (-value).exp() };
    let sum: f64 = values.iter().map(weight).sum();
    values.iter().map(|value| weight(value) / sum).collect()
}

/// φ of each feature: the weighted sum of its metric over queries.
fn phi(alone: &[Vec<f64>], query_weights: &[f64]) -> Vec<f64> {
    alone.iter().map(|values| values.iter().zip(query_weights).map(|(value, weight)| value * weight).sum()).collect()
}

/// Features with positive φ in descending order; ties go to the first.
fn descending(phi: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..phi.len()).filter(|&feature| phi[feature] > 0.0).collect();
    order.sort_by(|&a, &b| phi[b].total_cmp(&phi[a]));
    order
}

/// α = ½ ln((1 + φ) / (1 - φ)).
fn alpha(phi: f64) -> f64 {
    let phi = phi.min(1.0 - MARGIN);
    0.5 * ((1.0 + phi) / (1.0 - phi)).ln()
}

/// The mean of exp(-E), which boosting minimises.
fn loss(values: &[f64]) -> f64 {
    values.iter().map(|value| (-value).exp()).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{self, Metric};
    use crate::stop::Stop;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn round_on<'a>(train: &'a Dataset, metric: &'a dyn Metric, stop: &'a Stop) -> Round<'a> {
        Round { train, metric, number: 1, seed: 1, stop }
    }

    fn empty(features: usize) -> AdaRank {
        AdaRank { weights: vec![0.0; features], alone: None }
    }

    #[test]
    fn two_rounds_by_hand() {
        // Three queries of two documents, the first relevant; the reciprocal rank is 1 or 1/2. Feature 1 is right for queries a and
        // b, feature 2 for c, and feature 3 (constant) for none.
        let rows =
            [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 9.0, 0.0], [1.0, 0.0, 0.0]];
        let queries = ["a", "b", "c"].map(|id| (id.to_owned(), 2)).to_vec();
        let data = Dataset::new(3, rows.concat(), vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0], queries).unwrap();
        let (metric, stop) = (metric::parse("mrr").unwrap(), Stop::new());
        let round = round_on(&data, &*metric, &stop);
        let mut system = empty(3);

        // Uniform: φ = (1 + 1 + 1/2) / 3, so α = ½ ln((1 + 5/6) / (1 - 5/6)) = ½ ln 11.
        let end = system.round(&round).unwrap();
        assert!((system.weights[0] - 0.5 * 11f64.ln()).abs() < 1e-12 && system.weights[1..] == [0.0, 0.0]);
        assert!((end.loss - (2.0 * (-1f64).exp() + (-0.5f64).exp()) / 3.0).abs() < 1e-12 && !end.converged);

        // Feature 1 is still the best but changes no ranking, so feature 2 is selected. With its value of 9 it corrects query c and
        // does not change a and b while its weight is below that of feature 1.
        let (low, high) = ((-1f64).exp(), (-0.5f64).exp());
        let sum = 2.0 * low + high;
        let phi = (0.5 * 2.0 * low + high) / sum;
        let end = system.round(&round).unwrap();
        assert!((system.weights[1] - 0.5 * ((1.0 + phi) / (1.0 - phi)).ln()).abs() < 1e-12);
        assert!((end.loss - low).abs() < 1e-12 && !end.converged);

        let before = system.weights.clone();
        assert!(system.round(&round).unwrap().converged);
        assert_eq!(system.weights, before);
    }

    fn random(seed: u64) -> Dataset {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (queries, documents, width) = (12, 7, 5);
        let labels: Vec<f32> = (0..queries * documents).map(|_| random.random_range(0..3u8).into()).collect();
        let noisy = |label: f32, random: &mut ChaCha8Rng| label * 0.3 + random.random_range(-1.0f32..1.0);
        let features = labels.iter().flat_map(|&label| [(); 5].map(|()| noisy(label, &mut random))).collect();
        let queries = (0..queries).map(|query| (query.to_string(), documents)).collect();
        Dataset::new(width, features, labels, queries).unwrap()
    }

    #[test]
    fn each_round_selects_the_best_feature_that_helps() {
        for (seed, name) in [(1, "ndcg@5"), (2, "map"), (3, "ndcg@5")] {
            let data = random(seed);
            let (metric, stop) = (metric::parse(name).unwrap(), Stop::new());
            let round = round_on(&data, &*metric, &stop);
            let mut system = empty(5);
            let mut before = f64::NEG_INFINITY;
            loop {
                let expected = brute_force(&data, &*metric, &system.weights);
                let end = system.round(&round).unwrap();
                assert_eq!(end.converged, expected.is_none());
                let Some(weights) = expected else { break };
                assert!(system.weights.iter().zip(&weights).all(|(a, b)| (a - b).abs() < 1e-12));
                let value = mean(&evaluate_queries(&round, &scores(&data, &weights)).unwrap());
                assert!(value > before, "{value} after {before}");
                before = value;
            }
        }
    }

    /// Weights after the next round, from the definitions.
    fn brute_force(data: &Dataset, metric: &dyn Metric, weights: &[f64]) -> Option<Vec<f64>> {
        let values = |weights: &[f64]| -> Vec<f64> {
            let value = |query: crate::data::QueryView<'_>| {
                let rows = query.features.chunks(weights.len());
                let scores: Vec<f64> =
                    rows.map(|row| row.iter().zip(weights).map(|(&x, w)| f64::from(x) * w).sum()).collect();
                let order = metric::rank_order(&scores, query.labels, metric::Ties::Pessimistic).unwrap();
                metric.value(&order.iter().map(|&at| query.labels[at]).collect::<Vec<_>>())
            };
            data.queries().filter(|query| query.labels.iter().any(|&label| label > 0.0)).map(value).collect()
        };
        let current = values(weights);
        let uniform = weights.iter().all(|&weight| weight == 0.0);
        let raw: Vec<f64> = current.iter().map(|value| if uniform { 1.0 } else { (-value).exp() }).collect();
        let candidate = |feature: usize| {
            let axis: Vec<f64> = (0..weights.len()).map(|at| f64::from(u8::from(at == feature))).collect();
            let (plus, minus) = values(&axis).iter().zip(&raw).fold((0.0, 0.0), |(plus, minus), (value, share)| {
                (plus + share * (1.0 + value), minus + share * (1.0 - value))
            });
            let mut next = weights.to_vec();
            next[feature] += 0.5 * (plus / minus).ln();
            (plus / minus, next)
        };
        let mut candidates: Vec<_> = (0..weights.len()).map(candidate).collect();
        candidates.retain(|(_, next)| mean(&values(next)) > mean(&current));
        candidates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, next)| next)
    }

    #[test]
    fn a_perfect_feature_is_selected_once_and_irrelevant_data_is_rejected() {
        let data = Dataset::new(1, vec![1.0, 0.0], vec![1.0, 0.0], vec![("a".into(), 2)]).unwrap();
        let (metric, stop) = (metric::parse("map").unwrap(), Stop::new());
        let mut system = empty(1);
        assert!(!system.round(&round_on(&data, &*metric, &stop)).unwrap().converged);
        assert!(system.weights[0] > 0.0 && system.weights[0].is_finite());
        assert!(system.round(&round_on(&data, &*metric, &stop)).unwrap().converged);

        let none = Dataset::new(1, vec![1.0, 0.0], vec![0.0, 0.0], vec![("a".into(), 2)]).unwrap();
        let error = empty(1).round(&round_on(&none, &*metric, &stop)).unwrap_err().to_string();
        assert!(error.contains("the training data has no relevant documents"), "{error}");
    }
}
