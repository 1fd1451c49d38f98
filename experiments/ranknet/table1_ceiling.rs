//! Upper limit of the accuracy of five hidden units on a random net of ten, counting all pairs of a list.
//!
//! Nets are fitted to the continuous target without bins on many lists, and the epoch and the start are selected on the test
//! lists. Both can only raise the accuracy.

use super::artificial::{
    Counted, DOCUMENTS, Data, TEST, Tested, Units, architecture, config, function_seed, generator, lists, training_seed,
};
use super::table1::BEST;
use crate::harness::finding::{Finding, no_epoch, outside};
use crate::harness::{Claim, Execution, NetShape, Scale, Session, Test, Ticker, train};
use burnrank::train::TrainingData;
use burnrank::{Init, OptimizerKind, Schedule, TrainConfig};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Activation and number of hidden units of each fit.
pub const KINDS: [(Units, usize); 4] = [(Units::Tanh, 5), (Units::Sigmoid, 5), (Units::Tanh, 10), (Units::Sigmoid, 10)];

/// One fit to one random function, from one start.
pub struct Fit {
    pub kind: (Units, usize),
    pub function: u64,
    pub start: u64,
}

/// Accuracy of a fit in percent.
#[derive(Debug, Serialize, Deserialize)]
pub struct FitRun {
    /// On all test pairs by the continuous target.
    pub all_pairs: f64,
    /// On test pairs of different labels.
    pub label_pairs: f64,
    /// On all training pairs at the selected epoch.
    pub train: f64,
    pub best_epoch: usize,
    pub epochs: usize,
}

impl Finding for FitRun {
    fn impossible(&self) -> Option<String> {
        outside("a percentage of pairs", 0.0..=100.0, [self.all_pairs, self.label_pairs, self.train])
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

pub struct Sizes {
    pub functions: u64,
    pub starts: u64,
    pub lists: usize,
    pub epochs: usize,
}

pub fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes { functions: 10, starts: 3, lists: 800, epochs: 60 },
        Sizes { functions: 2, starts: 1, lists: 10, epochs: 5 },
    )
}

/// Id of the claim on a kind of fit.
pub fn id((units, hidden): (Units, usize)) -> String {
    format!("ceiling {} {hidden}", units.name())
}

pub fn claims() -> Vec<Claim> {
    let claim = |kind: (Units, usize)| {
        let (units, hidden) = kind;
        let (test, words) = match hidden {
            5 => (Test::AtMost { bound: BEST }, "stay below the paper's five hidden units"),
            _ => (Test::AtLeast { bound: BEST }, "reach the paper's number: the fit does not set the limit"),
        };
        let statement = format!(
            "all pairs by the continuous target: {hidden} {} units fitted without bins {words}; test accuracy, %",
            units.name()
        );
        Claim::new(id(kind), statement, test)
            .paper(format!("{BEST:.2} (five units, pairs not stated)"))
            .unit("random net")
            .convention("the best of all starts and epochs on the test lists themselves, by all pairs of a list")
    };
    KINDS.map(claim).into()
}

pub fn protocol(session: &Session) -> anyhow::Result<Value> {
    let Sizes { functions, starts, lists, .. } = sizes(session.scale);
    let config = settings(KINDS[0], &sizes(session.scale), training_seed(session.seed, 0, 1))?;
    Ok(json!({"functions": functions, "starts": starts, "lists": lists, "fit": config}))
}

fn settings((units, hidden): (Units, usize), sizes: &Sizes, seed: u64) -> anyhow::Result<TrainConfig> {
    Ok(TrainConfig {
        optimizer: OptimizerKind::Adam,
        init: Init::Burn,
        learning_rate: 0.02,
        schedule: Schedule::Cosine,
        batch_queries: 10,
        ..config(architecture(NetShape::TwoLayer, hidden, units), sizes.epochs, seed)?
    })
}

/// All fits.
pub fn fits(scale: Scale) -> impl Iterator<Item = Fit> {
    let Sizes { functions, starts, .. } = sizes(scale);
    let of =
        move |kind| (0..functions).flat_map(move |f| (0..starts).map(move |s| Fit { kind, function: f, start: s }));
    KINDS.into_iter().flat_map(of)
}

impl Fit {
    pub fn key(&self) -> String {
        format!("fit {} {} function {} start {}", self.kind.0.name(), self.kind.1, self.function, self.start)
    }

    pub fn work(&self, scale: Scale) -> f64 {
        let Sizes { lists, epochs, .. } = sizes(scale);
        (lists * epochs) as f64 / 100.0
    }

    pub fn run(&self, execution: &Execution<'_>, key: &str, ticker: &Ticker<'_>) -> anyhow::Result<FitRun> {
        let (session, sizes) = (execution.session, sizes(execution.scale()));
        let generator = generator(Data::Net, self.kind.0, function_seed(session.seed, self.function))?;
        let config = settings(self.kind, &sizes, training_seed(session.seed, self.function, 1 + self.start))?;
        // These lists follow the test lists.
        let training = lists(&generator, TEST.end..TEST.end + sizes.lists, Counted::Targets)?;
        let test = lists(&generator, TEST, Counted::Targets)?;
        let data = Arc::new(TrainingData::new(config.scaling, &training, &test)?);
        let model = train(execution, key, &config, &data, (ticker, (0.0, 1.0)), |_| false)?;
        let best = model.info.best_epoch;
        let selected = model.history.iter().find(|epoch| epoch.epoch == best);
        Ok(FitRun {
            all_pairs: Tested::of(&model, &test)?.percent,
            label_pairs: Tested::of(&model, &lists(&generator, TEST, Counted::Labels)?)?.percent,
            train: 100.0 * selected.map_or(f64::NAN, |epoch| epoch.train),
            best_epoch: best,
            epochs: model.history.len(),
        })
    }
}

/// Accuracy on all pairs and on label pairs, one number per random function.
pub type Best = (Vec<f64>, Vec<f64>);

/// Accuracy of the best start of each random function.
pub fn best(runs: &[(&Fit, &FitRun)], kind: (Units, usize)) -> Best {
    let functions = runs.iter().map(|(fit, _)| fit.function + 1).max().unwrap_or(0);
    let of = |function: u64| {
        let starts = runs.iter().filter(|(fit, _)| fit.kind == kind && fit.function == function);
        starts.map(|(_, run)| (run.all_pairs, run.label_pairs)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    (0..functions).filter_map(of).unzip()
}

/// Description of the fits for the report.
pub fn text(scale: Scale) -> String {
    let Sizes { functions, starts, lists, epochs } = sizes(scale);
    format!(
        "Limit of five hidden units: the first {functions} random nets; training on {lists} additional lists ({} vectors), with \
         ranks by the continuous target as labels, so that all pairs count; Adam, cosine schedule from 0.02 to 0, 10 lists per \
         batch, {epochs} epochs, initial weights within ±1/sqrt(inputs), {starts} starts; start and epoch are the best on the \
         test lists.",
        lists * DOCUMENTS
    )
}
