//! SmoothRank: gradient ascent on a smooth approximation of NDCG, with annealing of the smoothness.
//!
//! Chapelle and Wu, "Gradient descent optimization of smoothed information retrieval metrics", Information Retrieval 13, 2010.
//! The document at rank j, d(j), shares its rank with documents of similar scores: document i has the share
//! h_ij = exp(-(f_i - f_d(j))² / σ), divided by the sum over i, and DCG becomes A = Σ_j D(j) Σ_i G_i h_ij. The weights w minimise
//! λ |w - w0|² - mean A / maxDCG by conjugate gradients, where w0 is a regression on the gains. Each epoch halves σ, starting at 64,
//! and continues from the last weights; validation selects the final σ.

use super::algebra::scores;
use super::conjugate::minimise;
use super::least_squares::least_squares;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::metric::{Gain, MetricKind, discounts, max_dcg, order};
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "smoothrank",
    help: "SmoothRank: a smooth approximation of NDCG",
    optimises: Some("a smooth approximation of the chosen NDCG"),
    parameters: &[
        Parameter::number("sigma", 64.0, 1e-6..=1e9, "initial σ; halved every epoch"),
        Parameter::number("lambda", 0.001, 0.0..=1e9, "penalty on the distance from the regression"),
        Parameter::number("steps", 50.0, 1.0..=1e6, "conjugate gradient steps per epoch"),
    ],
    epochs: 20,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// Number of documents per partial sum.
const ROWS: usize = 4096;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SmoothRank {
    weights: Vec<f64>,
    /// Weights of the regression; computed in the first round.
    origin: Option<Vec<f64>>,
    sigma: f64,
    lambda: f64,
    steps: usize,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    ndcg(start.metric.kind(), &start.metric.name())?;
    let state = SmoothRank {
        weights: vec![0.0; start.train.n_features()],
        origin: None,
        sigma: start.number("sigma"),
        lambda: start.number("lambda"),
        steps: start.number("steps") as usize,
    };
    Rounds::start(start, state)
}

fn ndcg(kind: MetricKind, name: &str) -> Result<(Option<usize>, Gain)> {
    match kind {
        MetricKind::Ndcg { k, gain } => Ok((k, gain)),
        _ => Err(Error::Config(format!("smoothrank: supports NDCG only, not {name}: set `metric` to ndcg or ndcg@k"))),
    }
}

impl Baseline for SmoothRank {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let (data, stop) = (round.train, round.stop);
        let (k, gain) = ndcg(round.metric.kind(), &round.metric.name())?;
        let gains: Vec<f64> = data.labels().iter().map(|&label| gain.of(label)).collect();
        let origin = match self.origin.take() {
            Some(origin) => origin,
            None => {
                self.weights = least_squares(data, &gains, stop)?;
                self.weights.clone()
            }
        };
        let smooth = Smooth { data, gains, k, gain, sigma: self.sigma, stop };
        let function = |weights: &[f64]| smooth.loss(weights, &origin, self.lambda);
        let (weights, loss) = minimise(std::mem::take(&mut self.weights), self.steps, function)?;
        self.weights = weights;
        self.origin = Some(origin);
        self.sigma /= 2.0;
        // σ is halved until it is no longer a normal number.
        Ok(RoundEnd { loss, converged: self.sigma < f64::MIN_POSITIVE })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

/// The smooth approximation on the training queries.
struct Smooth<'a> {
    data: &'a Dataset,
    /// One per document.
    gains: Vec<f64>,
    k: Option<usize>,
    gain: Gain,
    sigma: f64,
    stop: &'a Stop,
}

impl Smooth<'_> {
    /// λ |w - w0|² minus the mean of the smooth NDCG, and its gradient.
    fn loss(&self, weights: &[f64], origin: &[f64], lambda: f64) -> Result<(f64, Vec<f64>)> {
        self.stop.check()?;
        let (rows, width) = (self.data.features(), weights.len());
        let scores = scores(self.data, weights);
        let queries = self.data.offsets().par_windows(2).map(|rows| self.query(&scores, rows[0]..rows[1]));
        let queries: Vec<(f64, Vec<f64>)> = queries.collect::<Result<_>>()?;
        let count = queries.len().max(1) as f64;
        let mut loss = -queries.iter().map(|(value, _)| value).sum::<f64>() / count;
        let score_gradient: Vec<f64> = queries.into_iter().flat_map(|(_, gradient)| gradient).collect();
        let parts: Vec<Vec<f64>> = rows
            .par_chunks(ROWS * width.max(1))
            .zip(score_gradient.par_chunks(ROWS))
            .map(|(rows, gradient)| weighted_sum(rows, gradient, width))
            .collect();
        let mut gradient = vec![0.0; width];
        for part in parts {
            gradient.iter_mut().zip(part).for_each(|(sum, x)| *sum -= x / count);
        }
        for ((sum, weight), origin) in gradient.iter_mut().zip(weights).zip(origin) {
            loss += lambda * (weight - origin).powi(2);
            *sum += 2.0 * lambda * (weight - origin);
        }
        Ok((loss, gradient))
    }

    /// The smooth NDCG of a query and its gradient with respect to the scores.
    fn query(&self, scores: &[f64], rows: std::ops::Range<usize>) -> Result<(f64, Vec<f64>)> {
        let (scores, gains) = (&scores[rows.clone()], &self.gains[rows.clone()]);
        let ideal = max_dcg(&self.data.labels()[rows], self.k, self.gain);
        let mut gradient = vec![0.0; scores.len()];
        if ideal <= 0.0 {
            return Ok((0.0, gradient));
        }
        let depth = self.k.unwrap_or(usize::MAX).min(scores.len());
        let mut shares = vec![0.0; scores.len()];
        let mut value = 0.0;
        for (&top, discount) in order(scores)[..depth].iter().zip(discounts(depth).iter()) {
            self.stop.check()?;
            let gap = |score: &f64| score - scores[top];
            shares.iter_mut().zip(scores).for_each(|(share, score)| *share = (-gap(score).powi(2) / self.sigma).exp());
            let sum: f64 = shares.iter().sum();
            let mean = shares.iter().zip(gains).map(|(share, gain)| share * gain).sum::<f64>() / sum;
            value += discount * mean / ideal;
            let factor = -2.0 * discount / (ideal * sum * self.sigma);
            let mut total = 0.0;
            for (((slope, share), score), gain) in gradient.iter_mut().zip(&shares).zip(scores).zip(gains) {
                let change = factor * share * (gain - mean) * gap(score);
                *slope += change;
                total += change;
            }
            gradient[top] -= total;
        }
        Ok((value, gradient))
    }
}

/// Sum of the rows multiplied by the gradient of their scores.
fn weighted_sum(rows: &[f32], gradient: &[f64], width: usize) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    for (row, factor) in rows.chunks_exact(width.max(1)).zip(gradient).filter(|(_, factor)| **factor != 0.0) {
        sum.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x) * factor);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn noisy(seed: u64, queries: usize) -> Dataset {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let documents = 9;
        let labels: Vec<f32> = (0..queries * documents).map(|_| random.random_range(0..4u8).into()).collect();
        let mut features = Vec::new();
        for label in &labels {
            let mut noise = || random.random_range(-1.0f32..1.0);
            features.extend([label * 0.4 + noise(), noise(), noise() - label * 0.2]);
        }
        let queries = (0..queries).map(|query| (query.to_string(), documents)).collect();
        Dataset::new(3, features, labels, queries).unwrap()
    }

    fn smooth<'a>(data: &'a Dataset, k: Option<usize>, sigma: f64, stop: &'a Stop) -> Smooth<'a> {
        let gain = Gain::Exponential;
        let gains = data.labels().iter().map(|&label| gain.of(label)).collect();
        Smooth { data, gains, k, gain, sigma, stop }
    }

    #[test]
    fn the_gradient_matches_finite_differences() {
        let (data, stop) = (noisy(1, 20), Stop::new());
        for (k, sigma, lambda) in [(None, 1.0, 0.0), (Some(3), 0.05, 0.1), (Some(20), 64.0, 2.0)] {
            let smooth = smooth(&data, k, sigma, &stop);
            let (weights, origin) = ([0.6, -0.3, 0.2], [0.1, 0.2, 0.3]);
            let (_, gradient) = smooth.loss(&weights, &origin, lambda).unwrap();
            for at in 0..3 {
                let moved = |step: f64| {
                    let mut moved = weights;
                    moved[at] += step;
                    smooth.loss(&moved, &origin, lambda).unwrap().0
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((slope - gradient[at]).abs() < 1e-6, "{slope}, expected {}", gradient[at]);
            }
        }
    }

    #[test]
    fn two_documents_by_hand() {
        // Scores 1 and 0, labels 0 and 1, σ = 2: each rank is shared in the ratio 1 to a = e^(-1/2).
        let data = Dataset::new(1, vec![1.0, 0.0], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
        let stop = Stop::new();
        let a = (-0.5f64).exp();
        let (value, _) = smooth(&data, None, 2.0, &stop).query(&[1.0, 0.0], 0..2).unwrap();
        assert!((value - (a / (1.0 + a) + 1.0 / (1.0 + a) / 3f64.log2())).abs() < 1e-12);
        let (value, _) = smooth(&data, Some(1), 2.0, &stop).query(&[1.0, 0.0], 0..2).unwrap();
        assert!((value - a / (1.0 + a)).abs() < 1e-12);
    }

    #[test]
    fn a_small_sigma_gives_the_metric_and_each_round_gains() {
        let (data, stop) = (noisy(2, 30), Stop::new());
        let metric = metric::Ndcg { k: Some(4), gain: Gain::Exponential };
        let scores: Vec<f64> = data.features().chunks(3).map(|row| f64::from(row[0] - row[2])).collect();
        let values = metric::evaluate(&metric, &scores, data.labels(), data.offsets(), &Default::default()).unwrap();
        let expected = values.iter().flatten().sum::<f64>() / 30.0;
        let (loss, _) = smooth(&data, Some(4), 1e-12, &stop).loss(&[1.0, 0.0, -1.0], &[0.0; 3], 0.0).unwrap();
        assert!((loss + expected).abs() < 1e-9, "{loss}, expected -{expected}");

        let mut system = SmoothRank { weights: vec![0.0; 3], origin: None, sigma: 1.0, lambda: 0.001, steps: 30 };
        for number in 1..=8 {
            let (before, sigma) = (system.weights.clone(), system.sigma);
            let end = system.round(&Round { train: &data, metric: &metric, number, seed: 1, stop: &stop }).unwrap();
            let origin = system.origin.clone().unwrap();
            let before = if number == 1 { origin.clone() } else { before };
            let (start, _) = smooth(&data, Some(4), sigma, &stop).loss(&before, &origin, 0.001).unwrap();
            assert!(end.loss <= start && system.sigma == sigma / 2.0, "{} after {start}", end.loss);
        }
        assert_ne!(system.weights, system.origin.unwrap());
    }

    #[test]
    fn other_metrics_are_rejected() {
        let map = metric::parse("map").unwrap();
        let error = ndcg(map.kind(), &map.name()).unwrap_err().to_string();
        assert_eq!(error, "smoothrank: supports NDCG only, not map: set `metric` to ndcg or ndcg@k");
    }
}
