//! One pass over the training queries.

use super::config::{GradientPath, TrainConfig};
use super::score::to_host;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Ranker;
use crate::objective::{Batch, QueryResult, Targets, Want, surrogate};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};

/// What stays the same over all epochs of a run.
pub(super) struct Ground<'a> {
    pub config: &'a TrainConfig,
    pub data: &'a Dataset,
    pub targets: Option<&'a Targets>,
    /// Lambda or tensor, never auto.
    pub path: GradientPath,
    /// With autodiff.
    pub device: &'a Device,
}

/// What an epoch found out on its way.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// The sum over queries.
    pub loss: f64,
    pub pairs: u64,
    pub saturated: u64,
    /// The scores that each batch saw before its own update, in the order of the data set.
    pub scores: Vec<f32>,
}

/// Visits all queries once, in the given order, and steps after each batch.
pub(super) fn run(
    ground: &Ground<'_>,
    mut ranker: Ranker,
    optimizer: &mut ModuleOptimizer,
    order: &[usize],
    step_size: f64,
    seed: u64,
) -> Result<(Ranker, Pass)> {
    let mut pass = Pass { scores: vec![0.0; ground.data.n_documents()], ..Pass::default() };
    let mut batch = Gathered::default();
    for queries in order.chunks(ground.config.batch_queries) {
        let features = batch.gather(ground.data, queries);
        let features = TensorData::new(features, [batch.labels.len(), ground.data.n_features()]);
        let scores = ranker.forward(Tensor::from_data(features, ground.device));
        let host = to_host(scores.clone())?;
        let mut rest = host.as_slice();
        for &query in queries {
            let rows = ground.data.offsets()[query]..ground.data.offsets()[query + 1];
            let (own, after) = rest.split_at(rows.len());
            pass.scores[rows].copy_from_slice(own);
            rest = after;
        }
        let surrogate = objective_surrogate(ground, scores, &host, &batch, queries, seed, &mut pass)?;
        let gradients = GradientsParams::from_grads(surrogate.backward(), &ranker);
        ranker = optimizer.step(step_size, ranker, gradients);
    }
    Ok((ranker, pass))
}

/// A tensor whose backward pass carries the objective's gradient into the weights.
fn objective_surrogate(
    ground: &Ground<'_>,
    scores: Tensor<1>,
    host: &[f32],
    batch: &Gathered,
    queries: &[usize],
    seed: u64,
    pass: &mut Pass,
) -> Result<Tensor<1>> {
    let objective = &ground.config.objective;
    let whole = Batch { labels: &batch.labels, offsets: &batch.offsets };
    if ground.path == GradientPath::Tensor && ground.targets.is_none() {
        let tensors = objective.tensor_gradient(scores.clone(), whole, ground.config.pair_budget);
        let (pairs, saturated) = tensors.pairs();
        let loss = f64::from(to_host(tensors.loss)?.first().copied().unwrap_or(0.0));
        pass.add(QueryResult { loss, pairs, saturated }, queries.len());
        return Ok((scores * tensors.gradient).sum());
    }
    let mut slopes = vec![0.0; host.len()];
    let result = match ground.targets {
        Some(targets) => {
            let pairs = queries.iter().map(|&query| targets.query(query));
            objective.target_gradient(host, whole, pairs, &mut slopes)?
        }
        None => {
            // One seed a query, whatever batch it is in.
            let seeds: Vec<u64> = match objective.is_sampled() {
                true => {
                    queries.iter().map(|&query| seed ^ (query as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
                }
                false => vec![],
            };
            objective.lambda_gradient(host, whole, &mut slopes, Want { loss: true, pairs: true }, &seeds)?
        }
    };
    pass.add(result, queries.len());
    Ok(surrogate(scores, slopes))
}

impl Pass {
    fn add(&mut self, mean: QueryResult, queries: usize) {
        self.loss += mean.loss * queries as f64;
        self.pairs += mean.pairs;
        self.saturated += mean.saturated;
    }
}

/// The documents of a batch, copied together.
#[derive(Debug, Default)]
struct Gathered {
    labels: Vec<f32>,
    offsets: Vec<usize>,
}

impl Gathered {
    /// Fills in labels and offsets, and returns the features, which the tensor will own.
    fn gather(&mut self, data: &Dataset, queries: &[usize]) -> Vec<f32> {
        self.labels.clear();
        self.offsets.clear();
        self.offsets.push(0);
        let documents: usize = queries.iter().map(|&query| data.query(query).labels.len()).sum();
        let mut features = Vec::with_capacity(documents * data.n_features());
        for &query in queries {
            let query = data.query(query);
            self.labels.extend_from_slice(query.labels);
            self.offsets.push(self.labels.len());
            features.extend_from_slice(query.features);
        }
        features
    }
}
