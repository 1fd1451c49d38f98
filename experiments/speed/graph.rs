//! Batches of one query: the training step, which has no graph, and the same gradient by the net as an operation of Burn's
//! autodiff, followed by Burn's Adam.

use super::timing::{Patience, Timing};
use super::widths::{self, WIDTHS};
use super::{MAIN, epoch};
use crate::harness::Execution;
use anyhow::Context;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::TensorData;
use burnrank::data::QueryView;
use burnrank::internal::text::{Table, three_digits};
use burnrank::objective::surrogate;
use burnrank::{Batch, Dataset, Device, Init, Objective, Outputs, Ranker, RankerConfig, Tensor, TrainConfig};
use serde::Serialize;

/// An epoch with batches of one query.
#[derive(Debug, Clone, Serialize)]
pub struct Graph {
    pub units: usize,
    pub step: Timing,
    pub autodiff: Timing,
}

/// Measures nets of all widths.
pub fn measure(execution: &Execution<'_>, data: &Dataset, patience: Patience) -> anyhow::Result<Vec<Graph>> {
    let device = &execution.session.device;
    let mut all = vec![];
    for units in WIDTHS {
        let config = widths::config(units, 1, execution)?;
        let step = epoch::measure(config.clone(), data, device, patience)?.timing;
        let mut net = Net::new(&config, data, device)?;
        let autodiff = patience.time(|| (0..data.n_queries()).try_for_each(|query| net.step(data.query(query))))?;
        let step = step.or_better(epoch::measure(config, data, device, patience)?.timing);
        eprintln!(
            "{units} units, batch 1: {} times as long by autodiff",
            three_digits(autodiff.seconds / step.seconds)
        );
        all.push(Graph { units, step, autodiff });
    }
    execution.keep("graph", &all, 0.0)?;
    Ok(all)
}

/// A net trained through Burn's autodiff, one query after the other.
struct Net {
    objective: Objective,
    ranker: Ranker,
    optimizer: ModuleOptimizer,
    rate: f64,
    device: Device,
}

impl Net {
    fn new(config: &TrainConfig, data: &Dataset, device: &Device) -> anyhow::Result<Net> {
        let device = device.clone().autodiff();
        let shape = RankerConfig::new(data.n_features(), config.architecture.clone());
        Ok(Net {
            objective: config.objective.clone(),
            ranker: shape.init(Init::Burn, config.seed, &device)?,
            optimizer: AdamConfig::new().init(),
            rate: config.learning_rate,
            device,
        })
    }

    fn step(&mut self, query: QueryView<'_>) -> anyhow::Result<()> {
        let n = query.labels.len();
        let features = TensorData::new(query.features.to_vec(), [n, query.features.len() / n.max(1)]);
        let scores = self.ranker.forward(Tensor::<2>::from_data(features, &self.device));
        let host: Vec<f32> = scores.clone().without_autodiff().try_into_vec_as().ok().context("the device failed")?;
        let mut lambdas = vec![0.0; n];
        let batch = Batch { labels: query.labels, offsets: &[0, n] };
        self.objective.lambda_gradient(&host, batch, &mut lambdas, Outputs { loss: true, pairs: true }, &[])?;
        let gradients = GradientsParams::from_grads(surrogate(scores, lambdas).backward(), &self.ranker);
        self.ranker = self.optimizer.step(self.rate, self.ranker.clone(), gradients);
        Ok(())
    }
}

/// Seconds of both, and their ratio.
pub fn table(graphs: &[Graph]) -> Table {
    let title = format!(
        "One epoch of {MAIN} with batches of one query: training computes its steps without a graph; the other column is the \
         same gradient by the custom operation of autodiff, and Burn's Adam:"
    );
    let columns = ["net", "seconds", "seconds by autodiff", "times as long"];
    let mut table = Table::titled(title, &columns);
    for graph in graphs {
        table.row([
            widths::words(graph.units),
            three_digits(graph.step.seconds),
            three_digits(graph.autodiff.seconds),
            format!("{:.1}", graph.autodiff.seconds / graph.step.seconds),
        ]);
    }
    table
}
