//! What five hidden units can represent at all of a random net of ten, when every pair of a list counts.
//!
//! A net is fitted to the continuous target itself, without bins, on many lists, and its epoch and start are chosen on the
//! test lists: each of that can only raise what it reaches.

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

/// The hidden units' function and number.
pub const KINDS: [(Units, usize); 4] = [(Units::Tanh, 5), (Units::Sigmoid, 5), (Units::Tanh, 10), (Units::Sigmoid, 10)];

/// One fit to one random function, from one start.
pub struct Fit {
    pub kind: (Units, usize),
    pub function: u64,
    pub start: u64,
}

/// What a fit reaches, in percent of the test pairs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    /// All pairs of a list by the continuous target.
    pub all_pairs: f64,
    /// Pairs of different labels, by the same net.
    pub label_pairs: f64,
    /// All pairs of the training lists, in the epoch that was chosen.
    pub train: f64,
    pub best_epoch: usize,
    pub epochs: usize,
}

impl Finding for Found {
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

/// As claims call a kind of fit.
pub fn id((units, hidden): (Units, usize)) -> String {
    format!("ceiling {} {hidden}", units.name())
}

pub fn claims() -> Vec<Claim> {
    let claim = |kind: (Units, usize)| {
        let (units, hidden) = kind;
        let (test, words) = match hidden {
            5 => (Test::AtMost { bound: BEST }, "cannot order as many as the paper's five hidden units do"),
            _ => (Test::AtLeast { bound: BEST }, "do: the fit itself is not what sets the limit"),
        };
        let statement = format!(
            "All pairs by the continuous target: {hidden} {} units, fitted to it without bins, {words}; % of test pairs",
            units.name()
        );
        Claim::secondary(id(kind), statement, test)
            .paper(format!("{BEST:.2} (five units, pairs not said)"))
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

    pub fn run(&self, execution: &Execution<'_>, key: &str, ticker: &Ticker<'_>) -> anyhow::Result<Found> {
        let (session, sizes) = (execution.session, sizes(execution.scale()));
        let generator = generator(Data::Net, self.kind.0, function_seed(session.seed, self.function))?;
        let config = settings(self.kind, &sizes, training_seed(session.seed, self.function, 1 + self.start))?;
        // The test lists are left out of these, whatever their number.
        let training = lists(&generator, TEST.end..TEST.end + sizes.lists, Counted::Targets)?;
        let test = lists(&generator, TEST, Counted::Targets)?;
        let used = Arc::new(TrainingData::new(config.scaling, &training, &test)?);
        let model = train(execution, key, &config, &used, (ticker, (0.0, 1.0)), |_| false)?;
        let best = model.info.best_epoch;
        let chosen = model.history.iter().find(|epoch| epoch.epoch == best);
        Ok(Found {
            all_pairs: Tested::of(&model, &test)?.percent,
            label_pairs: Tested::of(&model, &lists(&generator, TEST, Counted::Labels)?)?.percent,
            train: 100.0 * chosen.map_or(f64::NAN, |epoch| epoch.train),
            best_epoch: best,
            epochs: model.history.len(),
        })
    }
}

/// For each random function, percent of all pairs, and of label pairs by the same net.
pub type Best = (Vec<f64>, Vec<f64>);

/// What the best start of each random function reaches.
pub fn best(runs: &[(&Fit, &Found)], kind: (Units, usize)) -> Best {
    let functions = runs.iter().map(|(fit, _)| fit.function + 1).max().unwrap_or(0);
    let of = |function: u64| {
        let starts = runs.iter().filter(|(fit, _)| fit.kind == kind && fit.function == function);
        starts.map(|(_, found)| (found.all_pairs, found.label_pairs)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    (0..functions).filter_map(of).unzip()
}

/// What the report says of the fits.
pub fn text(scale: Scale) -> String {
    let Sizes { functions, starts, lists, epochs } = sizes(scale);
    format!(
        "Limit of five hidden units: the first {functions} random nets; training on {lists} further lists ({} \
         vectors), each document's label its place in its list by the continuous target, so that all pairs count and \
         no bin hides anything; Adam, steps from 0.02 to 0 by a cosine, 10 lists per batch, {epochs} epochs, weights \
         from ±1/sqrt(inputs), {starts} starts; start and epoch are those that are best on the test lists.",
        lists * DOCUMENTS
    )
}
