//! LambdaRank, Figure 2 (left): NDCG at 1 to 10 of RankNet and LambdaRank on a random cubic polynomial's data.

use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::finding::{Finding, no_epoch, no_share, no_step_size};
use crate::harness::{
    Check, Execution, Experiment, Job, Kind, NetShape, OneEntryCache, Report, Scale, Session, Ticker, export, once,
    per_query, train,
};
use anyhow::Context;
use burnrank::text::Table;
use burnrank::train::TrainingData;
use burnrank::{
    Activation, Architecture, Dataset, EpochRecord, Init, Objective, OptimizerKind, ScaleKind, StepRule, Summary,
    Synthetic, TrainConfig,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdarank-cubic",
    kind: Kind::Paper,
    paper: "Burges et al., Learning to Rank with Nonsmooth Cost Functions, 2006: Figure 2, left",
    claim: "On clean artificial data LambdaRank clearly outperforms RankNet by NDCG at 1 to 10, with linear and with \
            two-layer nets, and most at the top ranks.",
    time: "about 25 minutes",
    protocol,
    run,
};

const DEPTHS: Range<usize> = 1..11;
/// Training ends when the step size is below this share of the first: weights hardly move any more.
const FROZEN: f64 = 1e-3;
/// At these depths the 95% intervals must be disjoint.
const TOP: [usize; 3] = [1, 2, 3];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    RankNet,
    LambdaRank,
}

/// One curve of the figure for one random function.
struct Curve {
    method: Method,
    net: NetShape,
    function: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    /// The step size chosen, and the best validation NDCG@10 of each that was tried.
    step_size: f64,
    tried: Vec<(f64, f64)>,
    best_epoch: usize,
    epochs: usize,
    valid: f64,
    /// NDCG on the test queries at depths 1 to 10: mean and standard error.
    test: Vec<(f64, f64)>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let tried = self.tried.iter();
        no_step_size(tried.clone().map(|tried| tried.0).chain([self.step_size]))
            .or_else(|| no_share("a validation NDCG@10", tried.map(|tried| tried.1).chain([self.valid])))
            .or_else(|| no_share("a test NDCG", self.test.iter().map(|test| test.0)))
            .or_else(|| no_share("a standard error", self.test.iter().map(|test| test.1)))
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

/// How many of everything.
struct Sizes {
    functions: u64,
    queries: [usize; 3],
    search_epochs: usize,
    epochs: usize,
    patience: usize,
}

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => {
            Sizes { functions: 5, queries: [10_000, 5_000, 10_000], search_epochs: 10, epochs: 300, patience: 50 }
        }
        Scale::Quick => Sizes { functions: 1, queries: [400, 200, 1_000], search_epochs: 4, epochs: 20, patience: 10 },
    }
}

/// RankNet's gradient sums over some 750 pairs of weight 1, LambdaRank's over the same pairs with weights that are a
/// hundred times smaller: each has its own range of step sizes.
fn step_sizes(method: Method) -> [f64; 6] {
    match method {
        Method::RankNet => [3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3],
        Method::LambdaRank => [3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1],
    }
}

fn config(method: Method, net: NetShape, sizes: &Sizes, seed: u64) -> anyhow::Result<TrainConfig> {
    Ok(TrainConfig {
        objective: Objective::parse(match method {
            Method::RankNet => "ranknet",
            Method::LambdaRank => "lambdarank:ndcg",
        })?,
        architecture: match net {
            NetShape::Linear => Architecture::Linear,
            NetShape::TwoLayer => Architecture::Mlp { hidden: vec![10], activation: Activation::Tanh },
        },
        init: Init::Burn,
        scaling: ScaleKind::None,
        metric: "ndcg@10".into(),
        epochs: sizes.epochs,
        learning_rate: step_sizes(method)[0],
        optimizer: OptimizerKind::Sgd,
        batch_queries: 1,
        step_rule: StepRule::Shrink,
        patience: sizes.patience,
        seed,
        ..TrainConfig::default()
    })
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "queries": sizes.queries,
        "search_epochs": sizes.search_epochs,
        "frozen": FROZEN,
        "step_sizes": [step_sizes(Method::RankNet), step_sizes(Method::LambdaRank)],
        "ranknet": config(Method::RankNet, NetShape::TwoLayer, &sizes, session.seed)?,
        "lambdarank": config(Method::LambdaRank, NetShape::TwoLayer, &sizes, session.seed)?,
        "data": Synthetic::lambdarank(),
    }))
}

/// Training, validation and test queries of one function.
type Parts = [Dataset; 3];

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        for net in [NetShape::TwoLayer, NetShape::Linear] {
            for method in [Method::LambdaRank, Method::RankNet] {
                let key = format!("{method:?} {net:?} function {function}").to_lowercase();
                let work = if net == NetShape::Linear { 1.0 } else { 1.5 };
                jobs.push(Job { key, work, what: Curve { method, net, function } });
            }
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let parts = kept.get(job.what.function, || generate(execution, &sizes, job.what.function))?;
        run_curve(execution, &sizes, job, &parts, ticker)
    })?;
    let runs: Vec<(&Curve, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &sizes, &runs)
}

fn seed_of(execution: &Execution<'_>, function: u64) -> u64 {
    execution.session.seed.wrapping_mul(1_000).wrapping_add(function)
}

fn generate(execution: &Execution<'_>, sizes: &Sizes, function: u64) -> anyhow::Result<Parts> {
    let [train, valid, test] = sizes.queries;
    let settings =
        Synthetic { seed: seed_of(execution, function), queries: train + valid + test, ..Synthetic::lambdarank() };
    let generator = settings.generator()?;
    let part = |queries: Range<usize>| -> anyhow::Result<Dataset> { Ok(generator.part(queries)?.0) };
    Ok([part(0..train)?, part(train..train + valid)?, part(train + valid..train + valid + test)?])
}

/// Chooses the step size on validation, trains with it, and judges the best epoch on the test queries.
fn run_curve(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Curve>,
    [training, valid, test]: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let Curve { method, net, function } = job.what;
    let config = config(method, net, sizes, seed_of(execution, function))?;
    let data = Arc::new(TrainingData::new(config.scaling, training, valid)?);
    let tries = step_sizes(method);
    let search = (sizes.search_epochs * tries.len()) as f64;
    let share = search / (search + sizes.epochs as f64);
    let mut tried = vec![];
    for (number, learning_rate) in tries.into_iter().enumerate() {
        let config = TrainConfig { learning_rate, epochs: sizes.search_epochs, ..config.clone() };
        let place = |n: usize| share * n as f64 / tries.len() as f64;
        let key = format!("{} step {learning_rate}", job.key);
        let place = (ticker, (place(number), place(number + 1)));
        let value = once(execution, &key, || {
            let model = train(execution, &key, &config, &data, place, |_| false)?;
            model.best_value().context("no epoch was run")
        })?;
        tried.push((learning_rate, value));
    }
    let best =
        tried.iter().copied().fold((config.learning_rate, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a });
    let config = TrainConfig { learning_rate: best.0, ..config };
    let frozen = |epoch: &EpochRecord| epoch.step_size < FROZEN * best.0;
    let model = train(execution, &job.key, &config, &data, (ticker, (share, 1.0)), frozen)?;
    let mut judged = vec![];
    for depth in DEPTHS {
        let values = per_query(&model, test, &format!("ndcg@{depth}"))?;
        let summary = Summary::of(&values.into_iter().map(Some).collect::<Vec<_>>());
        judged.push((summary.mean, summary.standard_error));
    }
    if function == 0 && net == NetShape::TwoLayer && method == Method::LambdaRank {
        let source = format!("random cubic polynomial, seed {}, WEB_MIX labels", config.seed);
        let sets = [("train", source.as_str(), training), ("valid", &source, valid), ("test", &source, test)];
        let values = [("ndcg@1".to_owned(), judged[0].0), ("ndcg@10".to_owned(), judged[9].0)];
        export(execution, "lambdarank-cubic", &model, &sets, values)?;
    }
    Ok(Found {
        step_size: best.0,
        tried,
        best_epoch: model.info.best_epoch,
        epochs: model.history.len(),
        valid: model.best_value().unwrap_or(f64::NAN),
        test: judged,
    })
}

/// The mean over functions at a depth and its 95% interval over the test queries of all functions.
fn curve(runs: &[(&Curve, &Found)], method: Method, net: NetShape, depth: usize) -> (f64, (f64, f64)) {
    let chosen = runs.iter().filter(|(curve, _)| curve.method == method && curve.net == net);
    let values: Vec<(f64, f64)> = chosen.map(|(_, found)| found.test[depth - 1]).collect();
    let n = values.len() as f64;
    let mean = values.iter().map(|(mean, _)| mean).sum::<f64>() / n;
    let error = values.iter().map(|(_, error)| error * error).sum::<f64>().sqrt() / n;
    (mean, (mean - 1.96 * error, mean + 1.96 * error))
}

fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Curve, &Found)]) -> anyhow::Result<Report> {
    let mut columns = vec!["net, method".to_owned()];
    columns.extend(DEPTHS.map(|depth| format!("@{depth}")));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::titled("Mean NDCG of the test queries ± half of the 95% interval:", &columns);
    let (mut checks, mut series) = (vec![], vec![]);
    let mut main = vec![];
    for net in [NetShape::Linear, NetShape::TwoLayer] {
        for method in [Method::RankNet, Method::LambdaRank] {
            let points: Vec<_> = DEPTHS.map(|depth| (depth, curve(runs, method, net, depth))).collect();
            let mut row = vec![format!("{}, {method:?}", net.name())];
            row.extend(points.iter().map(|(_, (mean, interval))| format!("{mean:.4} ± {:.4}", interval.1 - mean)));
            table.row(row);
            series.push(Series {
                name: format!("{method:?}, {}, here", net.name()),
                whose: Whose::Ours,
                colour: usize::from(method == Method::LambdaRank) + 2 * usize::from(net == NetShape::TwoLayer),
                joined: true,
                points: points.iter().map(|&(depth, (mean, interval))| (depth as f64, mean, Some(interval))).collect(),
            });
        }
        let gap = |depth| curve(runs, Method::LambdaRank, net, depth).0 - curve(runs, Method::RankNet, net, depth).0;
        for depth in TOP {
            let (ranknet, lambdarank) =
                (curve(runs, Method::RankNet, net, depth), curve(runs, Method::LambdaRank, net, depth));
            checks.push(Check {
                claim: format!("{}: LambdaRank above RankNet at {depth}, 95% intervals disjoint", net.name()),
                paper: "yes".into(),
                ours: format!("{:.4} and {:.4}", lambdarank.0, ranknet.0),
                holds: lambdarank.1.0 > ranknet.1.1,
            });
        }
        checks.push(Check {
            claim: format!("{}: the gap is larger at 1 than at 10", net.name()),
            paper: "yes".into(),
            ours: format!("{:+.4} and {:+.4}", gap(1), gap(10)),
            holds: gap(1) > gap(10),
        });
        main.push(format!("{} {:+.4}", net.name(), gap(1)));
    }
    let mut steps = Table::titled(
        "How the runs went (the step size is the one of the best validation NDCG@10):",
        &["run", "step size", "best epoch", "epochs", "validation NDCG@10", "tried: validation NDCG@10"],
    );
    for (Curve { method, net, function }, found) in runs {
        let tried: Vec<String> = found.tried.iter().map(|(step, value)| format!("{step}: {value:.4}")).collect();
        steps.row([
            format!("{method:?}, {}, function {function}", net.name()),
            found.step_size.to_string(),
            found.best_epoch.to_string(),
            found.epochs.to_string(),
            format!("{:.4}", found.valid),
            tried.join(", "),
        ]);
    }
    let panel = Panel {
        title: "Cubic polynomial data".into(),
        x_label: "NDCG truncation level".into(),
        y_label: "NDCG of the test queries, 95% intervals".into(),
        ticks: DEPTHS.map(|depth| (depth as f64, depth.to_string())).collect(),
        series,
        zero: None,
        ..Panel::default()
    };
    Ok(Report {
        main: format!("LambdaRank less RankNet, NDCG@1: {}", main.join(", ")),
        protocol: protocol_text(sizes),
        deviations: deviations(execution.scale(), sizes),
        notes: vec![
            "The paper prints no numbers for this figure, only the curves, on an axis from 0.55 to 0.75: its statements are \
             compared, and there are no points to draw beside ours."
                .into(),
        ],
        tables: vec![table, steps],
        checks,
        figure: figure::draw(&[panel])?,
    })
}

fn protocol_text(sizes: &Sizes) -> Vec<String> {
    let [train, valid, test] = sizes.queries;
    vec![
        format!(
            "Data: {} random cubic polynomial(s) as in the RankNet paper, {train} training, {valid} validation and {test} \
             test queries of 50 documents, 50 features, five labels in the shares 52, 32, 13, 2 and 1 percent.",
            sizes.functions
        ),
        format!(
            "Training: RankNet and LambdaRank (NDCG over the whole list), linear nets and two-layer nets of ten hidden units; \
             plain gradient descent, one update per query; the step size times 0.8 when the training cost rose (RankNet: its \
             loss; LambdaRank: NDCG@10 fell); up to {} epochs; the epoch of the best validation NDCG@10 is judged.",
            sizes.epochs
        ),
        format!(
            "Step size: of {}, the one whose best validation NDCG@10 of {} epochs is highest. Nothing is chosen on test \
             queries.",
            step_sizes(Method::RankNet).len(),
            sizes.search_epochs
        ),
    ]
}

fn deviations(scale: Scale, sizes: &Sizes) -> Vec<String> {
    let mut all = vec![
        "The paper's \"label distribution corresponding to real datasets\" is not printed; ours is a choice.".into(),
        format!(
            "The paper trains every step size for 300 epochs; here the choice is made after {} epochs, and training ends \
             after {} epochs without a better validation NDCG@10 or when the step size has shrunk to a thousandth (the paper \
             starts again from other random weights after 50 epochs without a lower cost).",
            sizes.search_epochs, sizes.patience
        ),
        format!(
            "{} random function(s); the paper seems to have used one. One was tried here first: the intervals of the two-layer \
             nets overlapped at depths 1 to 3, and the lowest step size was chosen once, so there are more functions and lower \
             step sizes now.",
            sizes.functions
        ),
        "Hidden units are tanh, and weights start uniform in ±1/sqrt(inputs): the paper says neither.".into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: far fewer queries and epochs.".into());
    }
    all
}
