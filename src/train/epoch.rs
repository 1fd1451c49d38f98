//! One epoch: every training query is visited once.

use super::learner::EpochTotals;
use super::order::Order;
use super::part::{self, PartGradient};
use crate::data::Dataset;
use crate::data::Targets;
use crate::error::Result;
use crate::model::Ranker;
use crate::setting::{GradientPath, TrainConfig};
use crate::stop::Stop;
use burn::module::Module;
use burn::optim::{GradientsAccumulator, ModuleOptimizer};
use burn::tensor::Device;
use rayon::prelude::*;

/// What stays the same over all epochs of a run.
pub(super) struct RunContext<'a> {
    pub config: &'a TrainConfig,
    pub data: &'a Dataset,
    pub targets: Option<&'a Targets>,
    pub stop: &'a Stop,
    /// Lambda or tensor, never auto.
    pub path: GradientPath,
    /// With autodiff.
    pub device: &'a Device,
    /// Whether that is the host.
    pub host: bool,
    /// The number of the first query of the data among those of all processes.
    pub first: usize,
}

/// Visits all queries once, in the given order, and steps after each batch, by sizes from the first to the last.
///
/// # Errors
/// When the device fails, or the run is to stop: the optimiser has then made some of its steps.
pub(super) fn run(
    context: &RunContext<'_>,
    mut ranker: Ranker,
    optimizer: &mut ModuleOptimizer,
    order: &Order,
    [first, last]: [f64; 2],
    seed: u64,
) -> Result<(Ranker, EpochTotals)> {
    let mut totals = EpochTotals { scores: vec![0.0; context.data.n_documents()], ..EpochTotals::default() };
    // A GPU is one worker that likes large batches; the host's cores are several that like their caches.
    let parted = context.path == GradientPath::Lambda && context.host;
    let batches = order.chunks(context.config.batch_queries);
    let count = batches.len() as f64;
    for (place, batch) in batches.enumerate() {
        context.stop.check()?;
        context.data.check_unchanged()?;
        order.reach(place * context.config.batch_queries, context.data);
        let parts = if parted { part::split(context.data, batch) } else { vec![batch] };
        let gradients = match parts[..] {
            [only] => {
                let found = part::run(context, &ranker, only, batch.len(), seed)?;
                totals.add(context.data, only, &found, batch.len());
                found.gradients
            }
            _ => {
                // Each part has leaves of its own: graphs that share a leaf also share one lock.
                let work: Vec<(&[usize], Ranker)> =
                    parts.into_iter().map(|part| (part, ranker.clone().fork(context.device))).collect();
                let run = |(part, ranker): (_, Ranker)| {
                    part::run(context, &ranker, part, batch.len(), seed).map(|found| (part, found))
                };
                let gradients_of_parts: Result<Vec<(&[usize], PartGradient)>> = work.into_par_iter().map(run).collect();
                let mut sum = GradientsAccumulator::new();
                for (part, found) in gradients_of_parts? {
                    totals.add(context.data, part, &found, batch.len());
                    sum.accumulate(&ranker, found.gradients);
                }
                sum.grads()
            }
        };
        let step_size = first + (last - first) * (place as f64 / count);
        ranker = optimizer.step(step_size, ranker, gradients);
    }
    Ok((ranker, totals))
}

impl EpochTotals {
    fn add(&mut self, data: &Dataset, queries: &[usize], found: &PartGradient, batch: usize) {
        self.loss += found.result.loss * batch as f64;
        self.pairs += found.result.pairs;
        self.saturated += found.result.saturated;
        self.keep_scores(data, queries, &found.scores);
    }

    /// Puts the scores of some queries where they belong.
    pub(super) fn keep_scores(&mut self, data: &Dataset, queries: &[usize], scores: &[f32]) {
        let mut rest = scores;
        for &query in queries {
            let rows = data.offsets()[query]..data.offsets()[query + 1];
            let (own, after) = rest.split_at(rows.len());
            self.scores[rows].copy_from_slice(own);
            rest = after;
        }
    }
}
