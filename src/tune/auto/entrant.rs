//! One setting in the race: its runs, and what its queries say about it.

use crate::data::scale::ScaleKind;
use crate::metric::Summary;
use crate::model::{Activation, Architecture, Model};
use crate::train::{GROWS_TREES, Method, TrainConfig, TreeSettings};

/// A setting, its runs so far, and the measure of each query that they were judged by.
#[derive(Debug, Clone)]
pub(super) struct Entrant {
    pub config: TrainConfig,
    /// Its models, one per rotation.
    pub models: Vec<Model>,
    /// For each training query, then for each validation query, the sum over runs and their number.
    values: Vec<(f64, u32)>,
    pub seconds: f64,
    /// Why it was given up.
    pub failure: Option<String>,
}

impl Entrant {
    /// Before its first run, on so many training and validation queries.
    pub fn new(config: TrainConfig, queries: usize) -> Self {
        Entrant { config, models: Vec::new(), values: vec![(0.0, 0); queries], seconds: 0.0, failure: None }
    }

    /// Takes in a run: its model, and the measure of queries by their numbers.
    pub fn note(&mut self, model: Model, judged: impl IntoIterator<Item = (usize, Option<f64>)>) {
        self.models.push(model);
        for (query, value) in judged {
            if let (Some((sum, runs)), Some(value)) = (self.values.get_mut(query), value) {
                *sum += value;
                *runs += 1;
            }
        }
    }

    /// The measure of each query that some run was judged by.
    pub fn values(&self) -> Vec<Option<f64>> {
        self.values.iter().map(|&(sum, runs)| (runs > 0).then(|| sum / f64::from(runs))).collect()
    }

    /// The mean over queries.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.values())
    }

    /// Whether its models are trees.
    pub fn is_trees(&self) -> bool {
        matches!(self.config.method, Method::Boosting(_))
    }

    /// What it is, in a few words, as in `16 relu units, step 0.01, log1p-zscore`.
    pub fn name(&self) -> String {
        let TrainConfig { learning_rate, scaling, .. } = &self.config;
        match &self.config.architecture {
            Architecture::Linear => format!("linear, step {learning_rate}, {scaling}"),
            Architecture::Mlp { hidden, activation } => {
                let units = hidden.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
                format!("{units} {activation} units, step {learning_rate}, {scaling}")
            }
            Architecture::Trees { leaves, .. } => format!("trees of {leaves} leaves, shrinkage {learning_rate}"),
            other => other.to_string(),
        }
    }
}

/// Scalings that need nothing but the document; the one that no outlier breaks first.
const PER_DOCUMENT: [ScaleKind; 2] = [ScaleKind::Quantile, ScaleKind::Log1pZScore];
/// The scaling that needs all documents of a query.
const PER_QUERY: ScaleKind = ScaleKind::QueryMinMax;

/// Step size and hidden units of nets. Relu, because linear nets and these add up to one net; as many linear as others, because
/// on few queries they are as good.
const NETS: [(f64, &[usize]); 4] = [(0.05, &[]), (0.01, &[]), (0.003, &[16]), (0.01, &[16])];
/// Shrinkage and leaves of trees.
const TREES: [(f64, usize); 2] = [(0.1, 7), (0.05, 31)];

/// All settings that are tried, the simpler first; `base` has all that the user decides on.
pub(super) fn settings(base: &TrainConfig, scaling: Option<ScaleKind>, queries: usize) -> Vec<TrainConfig> {
    let scalings = scaling.map_or_else(|| PER_DOCUMENT.into_iter().chain([PER_QUERY]).collect(), |only| vec![only]);
    let net = |scaling: ScaleKind, (learning_rate, hidden): (f64, &[usize])| {
        let architecture = match hidden {
            [] => Architecture::Linear,
            hidden => Architecture::Mlp { hidden: hidden.to_vec(), activation: Activation::Relu },
        };
        let config = TrainConfig { architecture, method: Method::Gradient, learning_rate, scaling, ..base.clone() };
        config.suited_to(queries)
    };
    let trees = |(learning_rate, leaves): (f64, usize)| TrainConfig {
        architecture: Architecture::Trees { trees: 300, leaves },
        method: Method::Boosting(TreeSettings { feature_fraction: 0.5, subsample: 0.8, ..TreeSettings::default() }),
        learning_rate,
        scaling: ScaleKind::None,
        epochs: 300,
        patience: 40,
        ..base.clone()
    };
    let nets = NETS.into_iter().flat_map(|shape| scalings.iter().map(move |&scaling| net(scaling, shape)));
    // Trees see the order of values only, so that a scaling by document changes nothing.
    let grown = GROWS_TREES && scaling.is_none_or(|scaling| !scaling.is_per_query());
    nets.chain(TREES.into_iter().filter(|_| grown).map(trees)).collect()
}
