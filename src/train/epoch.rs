//! One pass over the training queries.

use super::config::{GradientPath, TrainConfig};
use super::shard::{self, Outcome};
use crate::data::Dataset;
use crate::data::Targets;
use crate::error::Result;
use crate::model::Ranker;
use burn::module::Module;
use burn::optim::{GradientsAccumulator, ModuleOptimizer};
use burn::tensor::Device;
use rayon::prelude::*;

/// What stays the same over all epochs of a run.
pub(super) struct Ground<'a> {
    pub config: &'a TrainConfig,
    pub data: &'a Dataset,
    pub targets: Option<&'a Targets>,
    /// Lambda or tensor, never auto.
    pub path: GradientPath,
    /// With autodiff.
    pub device: &'a Device,
    /// Whether that is the host.
    pub host: bool,
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
///
/// # Errors
/// When the device fails, or the objective's [`Stop`](crate::Stop) is set: the optimiser has then made some of its steps.
pub(super) fn run(
    ground: &Ground<'_>,
    mut ranker: Ranker,
    optimizer: &mut ModuleOptimizer,
    order: &[usize],
    step_size: f64,
    seed: u64,
) -> Result<(Ranker, Pass)> {
    let mut pass = Pass { scores: vec![0.0; ground.data.n_documents()], ..Pass::default() };
    // A GPU is one worker that likes large batches; the host's cores are several that like their caches.
    let parted = ground.path == GradientPath::Lambda && ground.host;
    for batch in order.chunks(ground.config.batch_queries) {
        ground.config.objective.stop().check()?;
        let parts = if parted { shard::split(ground.data, batch) } else { vec![batch] };
        let gradients = match parts[..] {
            [only] => {
                let outcome = shard::run(ground, &ranker, only, batch.len(), seed)?;
                pass.add(ground.data, only, &outcome, batch.len());
                outcome.gradients
            }
            _ => {
                // Each part has leaves of its own: graphs that share a leaf also share one lock.
                let work: Vec<(&[usize], Ranker)> =
                    parts.into_iter().map(|part| (part, ranker.clone().fork(ground.device))).collect();
                let run = |(part, ranker): (_, Ranker)| {
                    shard::run(ground, &ranker, part, batch.len(), seed).map(|outcome| (part, outcome))
                };
                let outcomes: Result<Vec<(&[usize], Outcome)>> = work.into_par_iter().map(run).collect();
                let mut sum = GradientsAccumulator::new();
                for (part, outcome) in outcomes? {
                    pass.add(ground.data, part, &outcome, batch.len());
                    sum.accumulate(&ranker, outcome.gradients);
                }
                sum.grads()
            }
        };
        ranker = optimizer.step(step_size, ranker, gradients);
    }
    Ok((ranker, pass))
}

impl Pass {
    fn add(&mut self, data: &Dataset, queries: &[usize], outcome: &Outcome, batch: usize) {
        self.loss += outcome.result.loss * batch as f64;
        self.pairs += outcome.result.pairs;
        self.saturated += outcome.result.saturated;
        let mut rest = outcome.scores.as_slice();
        for &query in queries {
            let rows = data.offsets()[query]..data.offsets()[query + 1];
            let (own, after) = rest.split_at(rows.len());
            self.scores[rows].copy_from_slice(own);
            rest = after;
        }
    }
}
