//! AdaRank: boosting of single features, with weights over queries that follow the measure itself.
//!
//! Xu and Li, "AdaRank: a boosting algorithm for information retrieval", SIGIR 2007. With E(f) the measure of a query,
//! round t takes the feature h with the largest φ = Σ P(q) E(h), adds it with α = ½ ln((1 + φ) / (1 - φ)), and sets
//! P(q) ∝ exp(-E(f)) for the sum f of all that was added; P is uniform at first. This makes Σ exp(-E(f)) small.
//!
//! The paper stops as soon as a round does not raise the mean of the measure. The feature of the largest φ is often the one
//! that was added last, which changes no ranking: here the next best feature is then tried, and training ends when no feature
//! raises the mean. Queries with nothing to find have no weight.

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
    help: "AdaRank: features are added one by one, by boosting",
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

/// φ of a perfect feature is taken to be this much below 1, so that its α is finite.
const SHORT_OF_PERFECT: f64 = 1e-6;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct AdaRank {
    /// The sum of α over the rounds that took a feature.
    weights: Vec<f64>,
    /// The measure of each query for each feature alone; computed when it is first needed.
    #[serde(skip)]
    alone: Option<Arc<Vec<Vec<f64>>>>,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    if !matches!(start.metric.kind(), MetricKind::Ap { .. } | MetricKind::Ndcg { .. }) {
        return Err(Error::Config(format!(
            "adarank: it is for MAP and NDCG, not for {}: set `metric` to one, as ndcg@10 or map",
            start.metric.name()
        )));
    }
    Rounds::start(start, AdaRank { weights: vec![0.0; start.train.n_features()], alone: None })
}

impl Baseline for AdaRank {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let alone = self.alone(round)?;
        let now = measure(round, &scores(round.train, &self.weights))?;
        let worth = worth(&alone, &shares(&self.weights, &now));
        for feature in by_worth(&worth) {
            round.stop.check()?;
            let mut weights = self.weights.clone();
            weights[feature] += alpha(worth[feature]);
            let next = measure(round, &scores(round.train, &weights))?;
            if mean(&next) > mean(&now) {
                self.weights = weights;
                return Ok(RoundEnd { loss: bound(&next), converged: false });
            }
        }
        Ok(RoundEnd { loss: bound(&now), converged: true })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

impl AdaRank {
    /// The measure of each query, for each feature alone.
    fn alone(&mut self, round: &Round<'_>) -> Result<Arc<Vec<Vec<f64>>>> {
        if let Some(known) = &self.alone {
            return Ok(known.clone());
        }
        let (data, width) = (round.train, round.train.n_features());
        let numbers = (width as u64).saturating_mul(data.n_queries() as u64);
        memory::ask(
            memory::bytes_of::<f64>(numbers),
            "the measure of each feature for each query",
            "train on fewer queries",
        )?;
        let of = |feature: usize| {
            round.stop.check()?;
            let scores: Vec<f64> = data.features().chunks_exact(width).map(|row| row[feature].into()).collect();
            measure(round, &scores)
        };
        let found: Vec<Vec<f64>> = (0..width).into_par_iter().map(of).collect::<Result<_>>()?;
        if found.iter().flatten().all(|&value| value == 0.0) {
            return Err(Error::Data(format!(
                "adarank: no feature has a {} above 0 for any training query: nothing in them is relevant",
                round.metric.name()
            )));
        }
        Ok(self.alone.insert(Arc::new(found)).clone())
    }
}

/// The measure of each query that has something to find.
fn measure(round: &Round<'_>, scores: &[f64]) -> Result<Vec<f64>> {
    let (data, conventions) = (round.train, Conventions { empty: Empty::Skip, ..Conventions::default() });
    let values = evaluate(round.metric, scores, data.labels(), data.offsets(), &conventions)?;
    Ok(values.into_iter().flatten().collect())
}

fn scores(data: &Dataset, weights: &[f64]) -> Vec<f64> {
    let score = |row: &[f32]| row.iter().zip(weights).map(|(&x, weight)| f64::from(x) * weight).sum();
    data.features().par_chunks_exact(weights.len().max(1)).map(score).collect()
}

/// P(q) ∝ exp(-E), or uniform before any feature is there.
fn shares(weights: &[f64], now: &[f64]) -> Vec<f64> {
    let first = weights.iter().all(|&weight| weight == 0.0);
    let share = |value: &f64| if first { 1.0 } else { (-value).exp() };
    let sum: f64 = now.iter().map(share).sum();
    now.iter().map(|value| share(value) / sum).collect()
}

/// φ of each feature: the sum of its measure over queries, each with its share.
fn worth(alone: &[Vec<f64>], shares: &[f64]) -> Vec<f64> {
    alone.iter().map(|values| values.iter().zip(shares).map(|(value, share)| value * share).sum()).collect()
}

/// Features with a worth, the best first; of equal ones, the first.
fn by_worth(worth: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..worth.len()).filter(|&feature| worth[feature] > 0.0).collect();
    order.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]));
    order
}

/// α = ½ ln((1 + φ) / (1 - φ)).
fn alpha(worth: f64) -> f64 {
    let worth = worth.min(1.0 - SHORT_OF_PERFECT);
    0.5 * ((1.0 + worth) / (1.0 - worth)).ln()
}

/// The mean of exp(-E), which all rounds together make small.
fn bound(values: &[f64]) -> f64 {
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
        // Three queries of two documents, the first relevant; reciprocal rank is 1 or 1/2. Feature 1 is right for the
        // queries a and b, feature 2 for c, feature 3 (constant) for none.
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

        // Feature 1 is still the best, but changes no ranking, so feature 2 is taken; with its 9 it puts query c right and
        // leaves a and b alone as long as its weight is below that of feature 1.
        let (low, high) = ((-1f64).exp(), (-0.5f64).exp());
        let sum = 2.0 * low + high;
        let worth = (0.5 * 2.0 * low + high) / sum;
        let end = system.round(&round).unwrap();
        assert!((system.weights[1] - 0.5 * ((1.0 + worth) / (1.0 - worth)).ln()).abs() < 1e-12);
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
    fn each_round_takes_the_best_feature_that_helps() {
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
                let now = mean(&measure(&round, &scores(&data, &weights)).unwrap());
                assert!(now > before, "{now} after {before}");
                before = now;
            }
        }
    }

    /// The weights after the next round, from the definitions, query by query.
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
        let now = values(weights);
        let uniform = weights.iter().all(|&weight| weight == 0.0);
        let raw: Vec<f64> = now.iter().map(|value| if uniform { 1.0 } else { (-value).exp() }).collect();
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
        candidates.retain(|(_, next)| mean(&values(next)) > mean(&now));
        candidates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, next)| next)
    }

    #[test]
    fn a_perfect_feature_is_taken_once_and_nothing_relevant_is_refused() {
        let data = Dataset::new(1, vec![1.0, 0.0], vec![1.0, 0.0], vec![("a".into(), 2)]).unwrap();
        let (metric, stop) = (metric::parse("map").unwrap(), Stop::new());
        let mut system = empty(1);
        assert!(!system.round(&round_on(&data, &*metric, &stop)).unwrap().converged);
        assert!(system.weights[0] > 0.0 && system.weights[0].is_finite());
        assert!(system.round(&round_on(&data, &*metric, &stop)).unwrap().converged);

        let none = Dataset::new(1, vec![1.0, 0.0], vec![0.0, 0.0], vec![("a".into(), 2)]).unwrap();
        let error = empty(1).round(&round_on(&none, &*metric, &stop)).unwrap_err().to_string();
        assert!(error.contains("nothing in them is relevant"), "{error}");
    }
}
