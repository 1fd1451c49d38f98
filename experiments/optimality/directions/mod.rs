//! Figures 1 to 4 and 6: LambdaRank's weights are a local optimum of the measure that they were trained for.

mod report;

use super::descent::{Net, Updates};
use super::moves::{Moved, ROUNDING, moved};
use super::setting::{MEASURES, Measure, data, parts, seed_of};
use super::tuned::{Course, PATIENT, Schedule, train_tuned};
use crate::harness::finding::{Finding, no_share};
use crate::harness::{
    Claim, Execution, Experiment, Job, Kind, NetShape, OneEntryCache, Paper, Report, Scale, Session, Test, Ticker,
};
use anyhow::Context;
use burnrank::Dataset;
use burnrank::analysis::optimality::CertifyOptions;
use burnrank::analysis::optimality::{COARSE_STEPS, FINE_STEPS, each_weight};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-directions",
    kind: Kind::Paper,
    paper: Paper::Optimality,
    place: "section 7.1, Figures 1 to 4 and 6, footnote 4",
    claim: "The weights that LambdaRank learns for NDCG, NDCG@10, MAP or MRR are a local optimum of that measure on \
            the training queries: none of 459 random directions fails to lower it at steps of 0.1 to 1, for nets of \
            one and of two layers. Random weights are no such optimum.",
    time: "about 20 minutes",
    claims,
    changed: &[
        "In a trial, two linear nets of one function with 1,000 queries, whose training ended when validation did not \
         get better, had 29 and 57 percent of directions that rise; with 2,000 queries and training until the step \
         size is a thousandth of the first, 16 and 19 percent. Training therefore goes on that long, as the paper's \
         700 epochs do, and linear nets have the paper's 10,000 queries.",
        "Single weights were to be moved by 1 too; now only by 0.1, for time.",
    ],
    protocol,
    run,
    own: None,
};

const SHAPES: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];
/// The share of directions that the paper's test refutes, and its error.
const EPSILON: f64 = 0.01;
/// The paper's step sizes of training, 1e-7 to 1e-3; beyond its ends where the best is there.
const RATES: [f64; 5] = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3];
const FEATURES: usize = 300;
/// The paper's: it restarts when "validation accuracy was constant over 50 epochs".
const SCHEDULE: Schedule =
    Schedule { learning_rates: &RATES, extensions: 4, starts: 2, constant: true, frozen: 1e-3, ..PATIENT };
/// Directions that are tried first where most of them rise; only if none of them does, all are.
const FIRST: usize = 50;

struct Sizes {
    functions: u64,
    /// For linear nets, for two-layer nets.
    queries: [[usize; 2]; 2],
    schedule: Schedule,
    directions: usize,
    features: usize,
    /// How far single weights are moved, up and down.
    alone: &'static [f64],
}

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            functions: 3,
            queries: [[10_000, 5_000], [2_000, 1_000]],
            schedule: Schedule { search_epochs: 6, epochs: 700, restart: 50, ..SCHEDULE },
            directions: 459,
            features: FEATURES,
            alone: &[0.1],
        },
        Scale::Quick => Sizes {
            functions: 2,
            queries: [[120, 60], [60, 30]],
            schedule: Schedule { search_epochs: 3, epochs: 40, restart: 10, ..SCHEDULE },
            directions: 40,
            features: 40,
            alone: &[0.1],
        },
    }
}

fn id(kind: &str, shape: NetShape, measure: Measure) -> String {
    format!("{kind} {} {}", shape.name(), measure.title)
}

fn claims(session: &Session) -> Vec<Claim> {
    let Sizes { directions, queries, .. } = sizes(session.scale);
    let mut all = vec![];
    let cells = || SHAPES.into_iter().flat_map(|shape| MEASURES.map(|measure| (shape, measure)));
    let unit = "random function with its own training queries and net";
    let last = "weights of the last epoch, which nothing chose; equal scores are ranked pessimistically";
    for (shape, measure) in cells() {
        let (net, title) = (shape.name(), measure.title);
        let [train, _] = queries[usize::from(shape == NetShape::TwoLayer)];
        let statement = format!(
            "{net} net, {title}, {train} queries: share of {directions} random directions that do not lower {title} \
             at every step of 0.1 to 1"
        );
        let test = Test::AtMost { bound: EPSILON };
        let claim = Claim::primary(id("coarse", shape, measure), statement, test);
        all.push(
            claim
                .paper("0 of 459")
                .unit(unit)
                .convention(format!("A(w) <= A(w + step r) counts, as in the paper; {last}")),
        );
    }
    for (shape, measure) in cells() {
        let (net, title) = (shape.name(), measure.title);
        let test = Test::AtMost { bound: EPSILON };
        let fine = [
            ("fine", "do not lower it at every step", format!("A(w) <= A(w + step r) counts; {last}")),
            ("strictly", "raise it at some step", format!("A(w) < A(w + step r) counts; {last}")),
        ];
        for (kind, what, convention) in fine {
            let statement = format!("{net} net, {title}: share of directions that {what} of 0.001 to 0.01");
            let claim = Claim::secondary(id(kind, shape, measure), statement, test);
            all.push(claim.paper("consistent (footnote 4)").unit(unit).convention(convention));
        }
    }
    for (shape, measure) in cells() {
        let statement = format!(
            "{} net, {}: share of single weights that a move of their own raises it by",
            shape.name(),
            measure.title
        );
        let claim = Claim::secondary(id("alone", shape, measure), statement, Test::AtMost { bound: 0.0 });
        let moves = sizes(session.scale).alone.iter().map(|step| format!("±{step}")).collect::<Vec<_>>().join(", ");
        all.push(
            claim.paper("0: gradients vanish at all weights").unit(unit).convention(format!("moves {moves}; {last}")),
        );
    }
    let statement = "K = ceil(ln 0.01 / ln(1 - 0.01)) directions refute a share of 1% at 99% confidence";
    all.push(Claim::secondary("459", statement, Test::Fact).paper("459"));
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "functions": sizes.functions,
        "queries": sizes.queries,
        "first": FIRST,
        "schedule": sizes.schedule,
        "directions": sizes.directions,
        "alone": sizes.alone,
        "metrics": MEASURES.map(|measure| measure.name),
        "data": data(sizes.features, session.seed),
    }))
}

/// One net on one function's queries.
struct Cell {
    function: u64,
    shape: NetShape,
    measure: Measure,
    /// Whether a linear net has as few queries as two-layer nets have.
    few: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    #[serde(flatten)]
    course: Course,
    length: f64,
    coarse: Moved,
    fine: Moved,
    /// The weights of the best validation epoch instead of the last.
    chosen: Moved,
    random: Moved,
    weights: usize,
    /// Single weights that a move of their own makes better, and those that some move leaves as good.
    alone_better: usize,
    alone_not_worse: usize,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let moved = [&self.coarse, &self.fine, &self.chosen, &self.random];
        self.course
            .impossible()
            .or_else(|| no_share("a training value", moved.iter().map(|moved| moved.value)))
            .or_else(|| {
                no_share("a share of directions", moved.iter().map(|m| m.not_worse as f64 / m.directions as f64))
            })
            .or_else(|| no_share("a share of weights", [self.alone_not_worse as f64 / self.weights as f64]))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        for shape in SHAPES {
            for measure in MEASURES {
                let key = format!("function {function} {} {}", shape.name(), measure.title).to_lowercase();
                let work = 1.0;
                jobs.push(Job { key, work, what: Cell { function, shape, measure, few: false } });
            }
        }
    }
    for measure in MEASURES {
        let key = format!("function 0 few queries linear {}", measure.title).to_lowercase();
        jobs.push(Job { key, work: 0.2, what: Cell { function: 0, shape: NetShape::Linear, measure, few: true } });
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let Cell { function, shape, few, .. } = job.what;
        let seed = seed_of(execution.session, function);
        let queries = sizes.queries[usize::from(few || shape == NetShape::TwoLayer)];
        let sets = kept.get((function, queries), || parts(&data(sizes.features, seed), queries))?;
        run_cell(execution, &sizes, &job.what, &sets, seed, ticker)
    })?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report::report(execution, &sizes, &runs)
}

/// Chooses the step size on validation queries, trains with it, and tries the weights.
fn run_cell(
    execution: &Execution<'_>,
    sizes: &Sizes,
    cell: &Cell,
    [train, valid]: &[Dataset; 2],
    seed: u64,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let (objective, metric) = (cell.measure.lambdarank()?, cell.measure.metric()?);
    let how = (cell.shape, seed, Updates::PerQuery);
    let (tuned, trained) =
        train_tuned((&objective, &*metric), &sizes.schedule, how, [train, valid], (ticker, [0.0, 0.6]))?;
    let device = &execution.session.device;
    let moves = |net: &Net, stages: &[usize], steps: &[f64]| -> anyhow::Result<Moved> {
        let found = moved(net, train, cell.measure, (stages, seed, &[steps]), device)?;
        found.into_iter().next().context("one set of steps")
    };
    let (all, stages) = (sizes.directions, [FIRST.min(sizes.directions), sizes.directions]);
    let coarse = moves(&trained.last, &[all], &COARSE_STEPS)?;
    ticker.tick(0.8);
    let fine = moves(&trained.last, &stages, &FINE_STEPS)?;
    let chosen = moves(&trained.best, &stages, &COARSE_STEPS)?;
    let other = Net::random(train.n_features(), cell.shape, seed.wrapping_add(1 << 50));
    let random = moves(&other, &stages, &COARSE_STEPS)?;
    ticker.tick(0.9);
    let options = CertifyOptions { steps: vec![sizes.alone.to_vec()], ..CertifyOptions::default() };
    let alone = each_weight(&trained.last.ranker(device)?, train, &*metric, device, &options, &mut |_| ())?;
    Ok(Found {
        course: Course::of(tuned, &trained),
        length: trained.last.length(),
        coarse,
        fine,
        chosen,
        random,
        weights: alone.weights.len(),
        alone_better: alone.weights.iter().filter(|weight| weight.rise > ROUNDING).count(),
        alone_not_worse: alone.weights.iter().filter(|weight| weight.margin <= ROUNDING).count(),
    })
}
