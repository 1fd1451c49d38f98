//! A part of a batch: whole queries, few enough to stay in a core's cache from the forward pass to the backward pass.

use super::config::GradientPath;
use super::epoch::RunContext;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::{Ranker, to_host};
use crate::objective::{Batch, QueryResult, Slopes, Want, mean_over, surrogate};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};
use std::cell::Cell;

/// The documents of a part, about: fewer are not worth a graph of their own, more leave the cache.
///
/// The parts of a batch never depend on the number of threads, so neither do the sums over them.
const DOCUMENTS: usize = 2048;

thread_local! {
    static FEATURES: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// What a part of a batch adds to it.
pub(super) struct PartGradient {
    /// By the weights, of the mean over the queries of the whole batch.
    pub gradients: GradientsParams,
    /// Of the mean over the queries of the whole batch.
    pub result: QueryResult,
    /// One per document.
    pub scores: Vec<f32>,
}

/// Cuts a batch into parts of about the same size that can be worked on side by side.
pub(super) fn split<'q>(data: &Dataset, queries: &'q [usize]) -> Vec<&'q [usize]> {
    let length = |query: usize| data.offsets()[query + 1] - data.offsets()[query];
    let documents: usize = queries.iter().map(|&query| length(query)).sum();
    // An even number of parts leaves no core waiting for a last one.
    let count = match documents / DOCUMENTS {
        0 | 1 => 1,
        more => more.next_multiple_of(2),
    };
    let least = documents / count;
    let mut parts = Vec::new();
    let (mut start, mut gathered) = (0, 0);
    for (i, &query) in queries.iter().enumerate() {
        gathered += length(query);
        if gathered >= least || i + 1 == queries.len() {
            parts.push(&queries[start..=i]);
            (start, gathered) = (i + 1, 0);
        }
    }
    parts
}

/// The gradient of some of the queries of a batch of `whole` queries.
pub(super) fn run(
    context: &RunContext<'_>,
    ranker: &Ranker,
    queries: &[usize],
    whole: usize,
    seed: u64,
) -> Result<PartGradient> {
    let stop = context.config.objective.stop();
    stop.check()?;
    let documents = Documents::gather(context.data, queries);
    let batch = Batch { labels: &documents.labels, offsets: &documents.offsets };
    let shape = [documents.labels.len(), context.data.n_features()];
    let features = Tensor::<2>::from_data(TensorData::new(documents.features, shape), context.device);
    let scores = ranker.forward(features.clone());
    let host = to_host(scores.clone())?;
    stop.check()?;
    let (surrogate, result) = surrogate_of(context, scores, &host, batch, queries, whole, seed)?;
    stop.check()?;
    let gradients = GradientsParams::from_grads(surrogate.backward(), ranker);
    // The graph is gone, so on the host this is the only owner of the features' memory; a GPU would copy them back.
    if context.host
        && let Ok(memory) = features.without_autodiff().into_data().try_into_vec()
    {
        FEATURES.set(memory);
    }
    Ok(PartGradient { gradients, result, scores: host })
}

/// A tensor whose backward pass carries the objective's gradient into the weights.
fn surrogate_of(
    context: &RunContext<'_>,
    scores: Tensor<1>,
    host: &[f32],
    batch: Batch<'_>,
    queries: &[usize],
    whole: usize,
    seed: u64,
) -> Result<(Tensor<1>, QueryResult)> {
    let objective = &context.config.objective;
    if context.path == GradientPath::Tensor && context.targets.is_none() {
        let tensors = objective.tensor_gradient(scores.clone(), batch, context.config.pair_budget)?;
        let (pairs, saturated) = tensors.pairs();
        let loss = f64::from(to_host(tensors.loss)?.first().copied().unwrap_or(0.0));
        let surrogate = (scores * tensors.gradient).sum();
        return Ok((surrogate, QueryResult { loss, pairs, saturated }));
    }
    let mut slopes = vec![0.0; host.len()];
    let sum = match context.targets {
        Some(targets) => {
            let pairs = queries.iter().map(|&query| targets.query(query));
            objective.target_sum(host, batch, pairs, &mut slopes)?
        }
        None => {
            // One seed per query, whatever batch it is in.
            let seed_of = |&query: &usize| seed ^ (query as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let seeds: Vec<u64> = if objective.is_random() { queries.iter().map(seed_of).collect() } else { vec![] };
            objective.slopes(host, batch, Slopes::gradient(&mut slopes), Want { loss: true, pairs: true }, &seeds)?
        }
    };
    let result = mean_over(whole, sum, &mut slopes);
    Ok((surrogate(scores, slopes), result))
}

/// Documents of several queries, copied together.
struct Documents {
    features: Vec<f32>,
    labels: Vec<f32>,
    offsets: Vec<usize>,
}

impl Documents {
    fn gather(data: &Dataset, queries: &[usize]) -> Documents {
        let mut features = FEATURES.take();
        features.clear();
        let (mut labels, mut offsets) = (Vec::new(), vec![0]);
        for &query in queries {
            let query = data.query(query);
            labels.extend_from_slice(query.labels);
            offsets.push(labels.len());
            features.extend_from_slice(query.features);
        }
        Documents { features, labels, offsets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_queries_in_order_and_large_enough() {
        // 6,727 documents in at most 4 parts of at least 1,681.
        let lengths = [1, 1023, 500, 5000, 1, 1, 201];
        let documents = lengths.iter().sum();
        let queries = lengths.iter().enumerate().map(|(query, &n)| (query.to_string(), n)).collect();
        let data = Dataset::new(1, vec![0.0; documents], vec![0.0; documents], queries).unwrap();
        let order = [0, 1, 2, 3, 6, 5, 4];
        assert_eq!(split(&data, &order), [&[0, 1, 2, 3][..], &[6, 5, 4]]);
        assert_eq!(split(&data, &[3]), [[3]]);
        assert_eq!(split(&data, &[0, 4]), [[0, 4]]);
    }
}
