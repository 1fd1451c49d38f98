//! A candidate of model selection: one configuration with its runs and the metric of the queries they were evaluated on.

use crate::data::scale::ScaleKind;
use crate::metric::Summary;
use crate::model::{Activation, Architecture, Model};
use crate::setting::{GROWS_TREES, Method, TrainConfig, TreeSettings};

/// A configuration, its runs so far, and the metric of each query that they were evaluated on.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub config: TrainConfig,
    /// Models of the runs, one per rotation.
    pub models: Vec<Model>,
    /// Metric by query number, for each run; training queries come before validation queries.
    evaluated: Vec<Vec<(usize, f64)>>,
    /// Number of all queries.
    queries: usize,
    pub seconds: f64,
    /// Why training failed.
    pub failure: Option<String>,
}

impl Candidate {
    /// Creates a candidate without runs; `queries` is the number of training and validation queries.
    pub fn new(config: TrainConfig, queries: usize) -> Self {
        Candidate { config, models: Vec::new(), evaluated: Vec::new(), queries, seconds: 0.0, failure: None }
    }

    /// Records a run: its model, and the metric by query number.
    pub fn record(&mut self, mut model: Model, evaluated: impl IntoIterator<Item = (usize, Option<f64>)>) {
        let (setting, run) = (self.name(), self.models.len() + 1);
        for epoch in &mut model.history {
            (epoch.setting, epoch.setting_run) = (Some(setting.clone()), Some(run));
        }
        self.models.push(model);
        let counted = evaluated.into_iter().filter_map(|(query, value)| Some((query, value?)));
        self.evaluated.push(counted.filter(|(query, _)| *query < self.queries).collect());
    }

    /// Metric of each query that some run was evaluated on.
    pub fn values(&self) -> Vec<Option<f64>> {
        self.values_of(self.evaluated.len())
    }

    /// Metric of each query, averaged over those of the first `runs` runs that were evaluated on it.
    pub fn values_of(&self, runs: usize) -> Vec<Option<f64>> {
        let mut sums = vec![(0.0, 0_u32); self.queries];
        for &(query, value) in self.evaluated.iter().take(runs).flatten() {
            let (sum, runs) = &mut sums[query];
            (*sum, *runs) = (*sum + value, *runs + 1);
        }
        sums.into_iter().map(|(sum, runs)| (runs > 0).then(|| sum / f64::from(runs))).collect()
    }

    /// Mean over queries.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.values())
    }

    /// Models with equal kinds can be averaged. Ordered by simplicity: nets before trees, per-document before per-query scalings,
    /// linear and relu nets before tanh.
    pub fn kind(&self) -> (bool, bool, bool, &'static str) {
        let TrainConfig { scaling, architecture, .. } = &self.config;
        let bounded = architecture.activation().is_some_and(|activation| activation != Activation::Relu);
        (matches!(self.config.method, Method::Boosting(_)), scaling.is_per_query(), bounded, scaling.name())
    }

    /// Short description: `16 relu units, lr 0.01, log1p-zscore`.
    pub fn name(&self) -> String {
        let TrainConfig { learning_rate, scaling, .. } = &self.config;
        match &self.config.architecture {
            Architecture::Linear => format!("linear, lr {learning_rate}, {scaling}"),
            Architecture::Mlp { hidden, activation } => {
                let units = hidden.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
                format!("{units} {activation} units, lr {learning_rate}, {scaling}")
            }
            Architecture::Trees { leaves, .. } => format!("trees of {leaves} leaves, shrinkage {learning_rate}"),
            other => other.to_string(),
        }
    }
}

/// Learning rate, hidden units and activation, minimum number of updates and of epochs.
type Net = (f64, Option<(usize, Activation)>, usize, usize);

/// Linear and relu nets can be averaged into one net. Linear nets are as good on few queries, tanh if the target is smooth.
const NETS: [Net; 5] = [
    (0.05, None, 1000, 10),
    (0.01, None, 1000, 10),
    (0.003, Some((16, Activation::Relu)), 1000, 10),
    (0.01, Some((32, Activation::Relu)), 2000, 30),
    (0.01, Some((16, Activation::Tanh)), 2000, 30),
];
/// Shrinkage and number of leaves of trees.
const TREES: [(f64, usize); 2] = [(0.1, 7), (0.05, 31)];

/// All configurations to try that the target supports, in order of simplicity; `base` has the user's settings.
pub(super) fn configs(base: &TrainConfig, scaling: Option<ScaleKind>, queries: usize) -> Vec<TrainConfig> {
    let scalings = scaling.map_or_else(|| ScaleKind::tried_by_auto(|kind| is_supported(base, kind)), |only| vec![only]);
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
    // Trees depend only on the order of values, so per-document scalings have no effect.
    let grown = GROWS_TREES && scaling.is_none_or(|scaling| !scaling.is_per_query());
    let all = nets.chain(TREES.into_iter().filter(|_| grown).map(trees));
    all.filter(|config| config.check_target().is_ok()).collect()
}

/// Whether the target supports nets with this scaling.
fn is_supported(base: &TrainConfig, scaling: ScaleKind) -> bool {
    base.target.capability().nets.is_some_and(|scalings| scalings.has(scaling))
}
