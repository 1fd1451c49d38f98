//! The gradient of a batch by autodiff.

use crate::data::Dataset;
use crate::device;
use crate::error::Result;
use crate::memory;
use crate::model::{Ranker, to_host};
use crate::objective::{Batch, Gradients, Outputs, QueryResult, mean_over, surrogate};
use crate::setting::GradientPath;
use crate::train::learner::{EpochStart, EpochTotals, query_seeds};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use std::cell::Cell;

thread_local! {
    static FEATURES: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// What all batches of an epoch have in common.
pub(super) struct PartContext<'a> {
    pub epoch: &'a EpochStart<'a>,
    /// Lambda or tensor, never auto.
    pub path: GradientPath,
    /// With autodiff.
    pub device: &'a Device,
    /// Whether the device is the host.
    pub host: bool,
}

impl<'a> PartContext<'a> {
    pub fn new(epoch: &'a EpochStart<'a>, path: GradientPath, device: &'a Device) -> Self {
        PartContext { epoch, path, host: device::on_host(device), device }
    }
}

/// The gradient of a batch, and its sums.
pub(super) struct PartGradient {
    /// Gradient with respect to the weights, of the mean over the queries.
    pub gradients: GradientsParams,
    /// Of the mean over the queries.
    pub result: QueryResult,
    /// One per document.
    pub scores: Vec<f32>,
}

/// Computes the gradient of a batch of queries.
pub(super) fn run(context: &PartContext<'_>, ranker: &Ranker, queries: &[usize]) -> Result<PartGradient> {
    let EpochStart { data, stop, .. } = *context.epoch;
    stop.check()?;
    let documents = Documents::gather(data, queries);
    ask_for_units(ranker, documents.labels.len())?;
    let batch = Batch { labels: &documents.labels, offsets: &documents.offsets };
    let shape = [documents.labels.len(), data.n_features()];
    let features = Tensor::<2>::from_data(TensorData::new(documents.features, shape), context.device);
    let scores = ranker.forward_by_burn(features.clone());
    let host = to_host(scores.clone())?;
    stop.check()?;
    let (surrogate, result) = surrogate_of(context, scores, &host, batch, queries)?;
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

/// Values of each hidden unit that the forward and the backward pass have at once: what it receives, that without its
/// history, value, slope, their product and sum, and the gradient.
const COPIES: u64 = 7;

/// Refuses hidden units that do not fit into memory for this number of documents.
fn ask_for_units(ranker: &Ranker, documents: usize) -> Result<()> {
    let units: usize = ranker.config().architecture.hidden().iter().sum();
    let values = (documents as u64).saturating_mul(units as u64).saturating_mul(COPIES);
    let what = format!("{units} hidden units for {documents} documents");
    memory::ask(memory::bytes_of::<f32>(values), &what, "use fewer `hidden` units or `batch_queries`")
}

/// A tensor whose backward pass carries the objective's gradient into the weights.
fn surrogate_of(
    context: &PartContext<'_>,
    scores: Tensor<1>,
    host: &[f32],
    batch: Batch<'_>,
    queries: &[usize],
) -> Result<(Tensor<1>, QueryResult)> {
    let EpochStart { config, targets, stop, .. } = *context.epoch;
    let objective = &config.objective;
    if context.path == GradientPath::Tensor && targets.is_none() {
        let tensors = objective.tensor_gradient(scores.clone(), batch, config.pair_budget, stop)?;
        let (pairs, saturated) = tensors.pairs();
        let loss = f64::from(to_host(tensors.loss)?.first().copied().unwrap_or(0.0));
        let surrogate = (scores * tensors.gradient).sum();
        return Ok((surrogate, QueryResult { loss, pairs, saturated }));
    }
    let mut slopes = vec![0.0; host.len()];
    let sum = match targets {
        Some(targets) => {
            let pairs = queries.iter().map(|&query| targets.query(query));
            objective.target_sum(host, batch, pairs, &mut slopes, stop)?
        }
        None => {
            let seeds = query_seeds(objective, context.epoch.draws(), queries.iter().copied());
            let (to, outputs) = (Gradients::gradient(&mut slopes), Outputs { loss: true, pairs: true });
            objective.gradients(host, batch, to, outputs, &seeds, stop)?
        }
    };
    let result = mean_over(queries.len(), sum, &mut slopes);
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
            labels.extend_from_slice(&data.labels()[data.offsets()[query]..data.offsets()[query + 1]]);
            offsets.push(labels.len());
            data.gather(query, &mut features);
        }
        Documents { features, labels, offsets }
    }
}

impl EpochTotals {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScaleKind;
    use crate::setting::Schedule;

    /// The gradient of a deep net by every one of its weights, as the trainer has it, against differences of the loss.
    #[test]
    fn gradients_of_all_layers_are_slopes_of_the_loss() {
        use crate::data::synthetic::Synthetic;
        use crate::device;
        use crate::model::{Activation, Init, RankerConfig};
        use crate::setting::TrainConfig;
        use crate::stop::Stop;
        use burn::module::{ModuleVisitor, Param};

        struct Gradients<'a>(&'a GradientsParams, Vec<f32>);
        impl ModuleVisitor for Gradients<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                let slope = self.0.get::<D>(param.id).unwrap();
                self.1.extend(slope.into_data().try_into_vec::<f32>().unwrap());
            }
        }
        let data = Synthetic { queries: 3, documents: 6, features: 4, ..Synthetic::net() };
        let data = data.generator().unwrap().dataset().unwrap();
        let device = device::open("auto").unwrap().autodiff();
        for (activation, path) in [
            (Activation::Tanh, GradientPath::Lambda),
            (Activation::Sigmoid, GradientPath::Lambda),
            (Activation::Tanh, GradientPath::Tensor),
        ] {
            let shape = RankerConfig::mlp(4, &[3, 2, 3], activation);
            let config = TrainConfig {
                objective: crate::objective::Objective::parse("ranknet").unwrap(),
                architecture: shape.architecture.clone(),
                schedule: Schedule::Constant,
                scaling: ScaleKind::QueryMinMax,
                learning_rate: 0.001,
                ..TrainConfig::default()
            };
            let epoch = EpochStart {
                config: &config,
                data: &data,
                targets: None,
                partition: None,
                number: 1,
                stop: &Stop::new(),
                restart: None,
                learning_rates: [config.learning_rate; 2],
            };
            let context = PartContext::new(&epoch, path, &device);
            let at = |weights: &[Vec<f32>]| {
                let ranker = shape.from_weights(weights, &device).unwrap();
                let outcome = run(&context, &ranker, &[0, 1, 2]).unwrap();
                (ranker, outcome)
            };
            let mut weights = Init::Burn.weights(&shape, 3);
            let (ranker, outcome) = at(&weights);
            let mut slopes = Gradients(&outcome.gradients, vec![]);
            burn::module::Module::visit(&ranker, &mut slopes);
            let mut slopes = slopes.1.into_iter();
            const STEP: f32 = 0.01;
            for place in 0..weights.len() {
                for weight in 0..weights[place].len() {
                    let own = weights[place][weight];
                    let mut loss = |step: f32| {
                        weights[place][weight] = own + step;
                        at(&weights).1.result.loss
                    };
                    let difference = (loss(STEP) - loss(-STEP)) / f64::from(2.0 * STEP);
                    weights[place][weight] = own;
                    let slope = f64::from(slopes.next().unwrap());
                    let near = (slope - difference).abs() < 1e-3 + 2e-3 * difference.abs();
                    assert!(near, "{activation}, weight {weight} of {place}: {slope}, not {difference}");
                }
            }
            assert!(slopes.next().is_none());
        }
    }
}
