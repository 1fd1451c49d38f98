//! One setting in the race: its runs, and what its queries say about it.

use crate::data::scale::ScaleKind;
use crate::metric::Summary;
use crate::model::{Activation, Architecture, Model};
use crate::setting::{GROWS_TREES, Method, TrainConfig, TreeSettings};

/// A setting, its runs so far, and the measure of each query that they were judged by.
#[derive(Debug, Clone)]
pub(super) struct Entrant {
    pub config: TrainConfig,
    /// Its models, one per rotation.
    pub models: Vec<Model>,
    /// The metric of queries by their numbers, of each run; training queries come before validation queries.
    judged: Vec<Vec<(usize, f64)>>,
    /// The number of all queries.
    queries: usize,
    pub seconds: f64,
    /// Why it was given up.
    pub failure: Option<String>,
}

impl Entrant {
    /// Before its first run, on so many training and validation queries.
    pub fn new(config: TrainConfig, queries: usize) -> Self {
        Entrant { config, models: Vec::new(), judged: Vec::new(), queries, seconds: 0.0, failure: None }
    }

    /// Takes in a run: its model, and the measure of queries by their numbers.
    pub fn note(&mut self, mut model: Model, judged: impl IntoIterator<Item = (usize, Option<f64>)>) {
        let (setting, run) = (self.name(), self.models.len() + 1);
        for epoch in &mut model.history {
            (epoch.setting, epoch.setting_run) = (Some(setting.clone()), Some(run));
        }
        self.models.push(model);
        let counted = judged.into_iter().filter_map(|(query, value)| Some((query, value?)));
        self.judged.push(counted.filter(|(query, _)| *query < self.queries).collect());
    }

    /// The metric of each query that some run was judged by.
    pub fn values(&self) -> Vec<Option<f64>> {
        self.values_of(self.judged.len())
    }

    /// The metric of each query, the mean over those of the first `runs` runs that were judged by it.
    pub fn values_of(&self, runs: usize) -> Vec<Option<f64>> {
        let mut sums = vec![(0.0, 0_u32); self.queries];
        for &(query, value) in self.judged.iter().take(runs).flatten() {
            let (sum, runs) = &mut sums[query];
            (*sum, *runs) = (*sum + value, *runs + 1);
        }
        sums.into_iter().map(|(sum, runs)| (runs > 0).then(|| sum / f64::from(runs))).collect()
    }

    /// The mean over queries.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.values())
    }

    /// What its models must have in common with others to add up to one model, the simpler first: nets before trees, scalings
    /// that need no neighbours before those that do, linear and relu nets before tanh.
    pub fn kind(&self) -> (bool, bool, bool, &'static str) {
        let TrainConfig { scaling, architecture, .. } = &self.config;
        let bounded = architecture.activation().is_some_and(|function| function != Activation::Relu);
        (matches!(self.config.method, Method::Boosting(_)), scaling.is_per_query(), bounded, scaling.name())
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

/// A net: step size, hidden units and their function, and the least updates and epochs.
type Net = (f64, Option<(usize, Activation)>, usize, usize);

/// Linear nets and those of relu units add up to one net. Linear ones are as good on few queries, tanh where the truth is smooth.
const NETS: [Net; 5] = [
    (0.05, None, 1000, 10),
    (0.01, None, 1000, 10),
    (0.003, Some((16, Activation::Relu)), 1000, 10),
    (0.01, Some((32, Activation::Relu)), 2000, 30),
    (0.01, Some((16, Activation::Tanh)), 2000, 30),
];
/// Shrinkage and leaves of trees.
const TREES: [(f64, usize); 2] = [(0.1, 7), (0.05, 31)];

/// All settings that are tried, the simpler first; `base` has all that the user decides on.
pub(super) fn settings(base: &TrainConfig, scaling: Option<ScaleKind>, queries: usize) -> Vec<TrainConfig> {
    let scalings = scaling.map_or_else(ScaleKind::tried_by_auto, |only| vec![only]);
    let net = |scaling: ScaleKind, (learning_rate, hidden, updates, epochs): Net| {
        let architecture = match hidden {
            None => Architecture::Linear,
            Some((units, activation)) => Architecture::Mlp { hidden: vec![units], activation },
        };
        let config = TrainConfig { architecture, method: Method::Gradient, learning_rate, scaling, ..base.clone() };
        config.lasting(queries, updates, epochs)
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
