//! Figures 1 to 4 and 6: LambdaRank's weights are a local optimum of the measure that they were trained for.

use super::descent::{Net, Updates};
use super::setting::{MEASURES, Measure, common_deviations, data, data_words, parts, seed_of};
use super::tuned::{PATIENT, Schedule, train_tuned, tried_cell, words};
use crate::harness::figure::{self, Legend, Panel, Series, Whose};
use crate::harness::finding::{Finding, no_epoch, no_share, no_step_size};
use crate::harness::tuning::Tuned;
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Job, Kind, NetShape, OneEntryCache, Paper, Report, Scale, Session,
    Test, Ticker,
};
use anyhow::Context;
use burnrank::analysis::optimality::{COARSE_STEPS, FINE_STEPS, StepReport, directions_needed, each_weight};
use burnrank::text::{Table, number};
use burnrank::{CertifyOptions, Dataset, Device, certify};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-directions",
    kind: Kind::Paper,
    paper: Paper::Optimality,
    place: "section 7.1, Figures 1 to 4 and 6, footnote 4",
    claim: "The weights that LambdaRank learns for NDCG, NDCG@10, MAP or MRR are a local optimum of that measure on the training \
            queries: none of 459 random directions fails to lower it at steps of 0.1 to 1, for nets of one and of two layers. Random \
            weights are no such optimum.",
    time: "about 20 minutes",
    claims,
    changed: &[],
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
const SCHEDULE: Schedule = Schedule { rates: &RATES, more: 4, starts: 2, constant: true, frozen: 1e-3, ..PATIENT };
/// Directions that are tried first where most of them rise; only if none of them does, all are.
const FIRST: usize = 50;
/// Differences of means below this are rounding.
const ROUNDING: f64 = 1e-12;

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
            "{net} net, {title}, {train} queries: share of {directions} random directions that do not lower {title} at every step of 0.1 to 1"
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
        "measures": MEASURES.map(|measure| measure.name),
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

/// What moves along random directions did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Moved {
    /// The measure without a step.
    pub value: f64,
    pub tried: usize,
    /// Directions that do not lower the measure at some step: the paper's count.
    pub not_worse: usize,
    /// Directions that raise it at some step.
    pub better: usize,
    /// For each step: the lowest, mean and highest change over all directions.
    pub change: Vec<[f64; 3]>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    rate: f64,
    tried: Vec<(f64, f64)>,
    at_edge: bool,
    best_epoch: usize,
    epochs: usize,
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
        no_step_size(self.tried.iter().map(|tried| tried.0).chain([self.rate]))
            .or_else(|| no_share("a validation value", self.tried.iter().map(|tried| tried.1)))
            .or_else(|| no_share("a training value", moved.iter().map(|moved| moved.value)))
            .or_else(|| no_share("a share of directions", moved.iter().map(|m| m.not_worse as f64 / m.tried as f64)))
            .or_else(|| no_share("a share of weights", [self.alone_not_worse as f64 / self.weights as f64]))
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
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
    report(execution, &sizes, &runs)
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
    let (Tuned { best: rate, tried, at_edge }, trained) =
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
        rate,
        tried,
        at_edge,
        best_epoch: trained.best_epoch,
        epochs: trained.epochs.len(),
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

/// The measure on the training queries along random directions, one answer for each set of steps.
///
/// `stages` are numbers of directions: where none of the first so many fails to lower the measure, as many as the next says are tried.
pub fn moved(
    net: &Net,
    train: &Dataset,
    measure: Measure,
    (stages, seed, steps): (&[usize], u64, &[&[f64]]),
    device: &Device,
) -> anyhow::Result<Vec<Moved>> {
    let mut answers: Vec<Moved> = vec![];
    for &directions in stages {
        let options = CertifyOptions {
            directions: Some(directions),
            steps: steps.iter().map(|steps| steps.to_vec()).collect(),
            curves: directions,
            seed: seed.wrapping_add(1 << 32),
            ..CertifyOptions::default()
        };
        let found = certify(&net.ranker(device)?, train, &*measure.metric()?, device, &options, &mut |_| ())?;
        let answer = |report: &StepReport| Moved {
            value: found.value,
            tried: report.tried,
            not_worse: count(&report.curves, |value| value - found.value >= -ROUNDING),
            better: count(&report.curves, |value| value - found.value > ROUNDING),
            change: report
                .envelope
                .iter()
                .map(|at| [at.lowest, at.mean, at.highest].map(|value| value - found.value))
                .collect(),
        };
        answers = found.reports.iter().map(answer).collect();
        if answers.iter().any(|answer| answer.not_worse > 0) {
            break;
        }
    }
    Ok(answers)
}

/// Lines with at least one such value.
fn count(curves: &[Vec<f64>], such: impl Fn(f64) -> bool) -> usize {
    curves.iter().filter(|line| line.iter().any(|&value| such(value))).count()
}

fn of<'a>(runs: &'a [(&Cell, &Found)], shape: NetShape, measure: Measure) -> impl Iterator<Item = &'a Found> {
    runs.iter()
        .filter(move |(cell, _)| cell.shape == shape && cell.measure == measure && !cell.few)
        .map(|(_, found)| *found)
}

fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    let share = |count: usize, of: usize| count as f64 / of as f64;
    for shape in SHAPES {
        for measure in MEASURES {
            let mut add = |kind: &str, value: &dyn Fn(&Found) -> f64| {
                let values: Vec<f64> = of(runs, shape, measure).map(value).collect();
                evidence.push((id(kind, shape, measure), Evidence::units(values)));
            };
            add("coarse", &|found| share(found.coarse.not_worse, found.coarse.tried));
            add("fine", &|found| share(found.fine.not_worse, found.fine.tried));
            add("strictly", &|found| share(found.fine.better, found.fine.tried));
            add("alone", &|found| share(found.alone_better, found.weights));
        }
    }
    let needed = directions_needed(EPSILON, EPSILON)?;
    evidence.push(("459".into(), Evidence::fact(needed == 459, needed.to_string())));
    let usual = runs.iter().filter(|(cell, _)| !cell.few);
    let optima = usual.clone().filter(|(_, found)| found.coarse.not_worse == 0).count();
    let randoms = runs.iter().filter(|(_, found)| found.random.better > 0).count();
    let control = Control {
        what:
            "random weights, where training starts, are no local optimum: some direction raises the measure (Figure 6)"
                .into(),
        expected: format!("{} of {}", runs.len(), runs.len()),
        ours: format!("{randoms} of {}", runs.len()),
        holds: randoms == runs.len(),
    };
    Ok(Report {
        evidence,
        controls: vec![control],
        main: format!(
            "no direction of {} keeps or raises the measure at steps of 0.1 to 1 for {optima} of {} nets",
            sizes.directions,
            usual.count()
        ),
        tables: vec![counts(runs), by_step(runs), trainings(runs)],
        notes: vec![
            "The first table has both counts. The paper counts a direction when the measure after a step is at least what it was; the \
             strict count asks that it is higher. They differ where a step changes no ranking at all."
                .into(),
            "What a step of 0.1 means depends on how long the vector of weights is: a linear net ranks alike when all of its weights are \
             multiplied by a number. Lengths are in the last table."
                .into(),
            "MRR: by Eq. 11 only pairs in the wrong order have a force. Each of them shortens the weights of a linear net: an update along the \
             forces has w . dw = sum of force x (score of the relevant document - score of the other) < 0. So the weights stay as short as the \
             step size of training allows, and a step of 0.1 is long beside them. Their local optimum says less than that of the others."
                .into(),
            "A measure over queries is a staircase: between two steps of it nothing changes, and a step goes up or down by chance. At small moves \
             these chances are larger than the curvature of a maximum, whatever the training; they shrink with more queries, as the lines for \
             linear nets with fewer queries show."
                .into(),
        ],
        protocol: protocol_text(sizes),
        deviations: deviations(execution.scale(), sizes),
        figure: figure::draw(&MEASURES.map(|measure| panel(runs, measure)))?,
    })
}

/// Directions of all functions, by both counts.
fn counts(runs: &[(&Cell, &Found)]) -> Table {
    let head = [
        "net, measure",
        "steps 0.1 to 1: not lower",
        "higher",
        "steps 0.001 to 0.01: not lower",
        "higher",
        "best validation epoch, 0.1 to 1: not lower",
        "higher",
        "random weights, 0.1 to 1: not lower",
        "higher",
        "single weights: some move keeps it",
        "raises it",
    ];
    let mut table = Table::titled(
        "Directions, and single weights, that do not lower the measure at every step, over all functions:",
        &head,
    );
    for shape in SHAPES {
        for measure in MEASURES {
            let sum = |count: &dyn Fn(&Found) -> usize| of(runs, shape, measure).map(count).sum::<usize>();
            let mut row = vec![format!("{}, {}", shape.name(), measure.title)];
            let sets: [fn(&Found) -> &Moved; 4] = [|f| &f.coarse, |f| &f.fine, |f| &f.chosen, |f| &f.random];
            for set in sets {
                let tried = sum(&|found| set(found).tried);
                row.push(format!("{} of {tried}", sum(&|found| set(found).not_worse)));
                row.push(sum(&|found| set(found).better).to_string());
            }
            let weights = sum(&|found| found.weights);
            row.push(format!("{} of {weights}", sum(&|found| found.alone_not_worse)));
            row.push(sum(&|found| found.alone_better).to_string());
            table.row(row);
        }
    }
    table
}

/// The highest change of all directions at each step, the worst of the functions.
fn by_step(runs: &[(&Cell, &Found)]) -> Table {
    let head: Vec<String> = ["net, measure".to_owned()]
        .into_iter()
        .chain(COARSE_STEPS.map(|step| format!("step {}", number(step))))
        .collect();
    let title = "The largest change of the measure over all directions and functions, by step: below 0, every direction lowers it (x 1000):";
    let mut table = Table::titled(title, &head);
    let row = |name: String, all: &[&Found]| {
        let highest =
            |step: usize| all.iter().map(|found| found.coarse.change[step][2]).fold(f64::NEG_INFINITY, f64::max);
        [name]
            .into_iter()
            .chain((0..COARSE_STEPS.len()).map(move |step| format!("{:+.2}", 1000.0 * highest(step))))
            .collect::<Vec<_>>()
    };
    for shape in SHAPES {
        for measure in MEASURES {
            table.row(row(
                format!("{}, {}", shape.name(), measure.title),
                &of(runs, shape, measure).collect::<Vec<_>>(),
            ));
        }
    }
    for (cell, found) in runs.iter().filter(|(cell, _)| cell.few) {
        table.row(row(format!("linear, {}, as few queries as two-layer nets", cell.measure.title), &[found]));
    }
    table
}

fn trainings(runs: &[(&Cell, &Found)]) -> Table {
    let head = [
        "net, measure, function",
        "step size of training",
        "tried: validation",
        "epochs",
        "best epoch",
        "training value",
        "random weights",
        "length of weights",
        "smallest fall at 0.1",
        "directions not lower",
    ];
    let mut table =
        Table::titled("Each run: the measure on the training queries, and what the directions did to it:", &head);
    for (cell, found) in runs {
        let few = if cell.few { ", few queries" } else { "" };
        let edge = if found.at_edge { " (at the end of what was tried)" } else { "" };
        table.row([
            format!("{}, {}, {}{few}", cell.shape.name(), cell.measure.title, cell.function),
            format!("{}{edge}", number(found.rate)),
            tried_cell(&found.tried),
            found.epochs.to_string(),
            found.best_epoch.to_string(),
            format!("{:.4}", found.coarse.value),
            format!("{:.4}", found.random.value),
            format!("{:.2}", found.length),
            format!("{:+.5}", found.coarse.change[0][2]),
            format!("{} of {}", found.coarse.not_worse, found.coarse.tried),
        ]);
    }
    table
}

/// The change of a measure by the step, its mean and extremes over all directions and functions.
fn panel(runs: &[(&Cell, &Found)], measure: Measure) -> Panel {
    type Line = fn(&Found) -> &Moved;
    let lines: [(&str, NetShape, Line); 4] = [
        ("learned, linear", NetShape::Linear, |found| &found.coarse),
        ("learned, two-layer", NetShape::TwoLayer, |found| &found.coarse),
        ("random, linear", NetShape::Linear, |found| &found.random),
        ("random, two-layer", NetShape::TwoLayer, |found| &found.random),
    ];
    let series = lines.iter().enumerate().map(|(colour, (name, shape, line))| {
        let all: Vec<&Moved> = of(runs, *shape, measure).map(line).collect();
        let point = |(place, &step): (usize, &f64)| {
            let column = |part: usize| all.iter().map(move |moved| moved.change[place][part]);
            let (low, high) = (column(0).fold(f64::INFINITY, f64::min), column(2).fold(f64::NEG_INFINITY, f64::max));
            (step, column(1).sum::<f64>() / all.len() as f64, Some((low, high)))
        };
        Series {
            name: (*name).into(),
            whose: Whose::Ours,
            colour,
            joined: true,
            points: COARSE_STEPS.iter().enumerate().map(point).collect(),
        }
    });
    Panel {
        title: format!("{} along random directions", measure.title),
        x_label: "step".into(),
        y_label: "change of the training value: mean and extremes".into(),
        ticks: COARSE_STEPS.iter().map(|step| (*step, number(*step))).collect(),
        series: series.collect(),
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn protocol_text(sizes: &Sizes) -> Vec<String> {
    let [[linear, linear_valid], [train, valid]] = sizes.queries;
    vec![
        format!(
            "Data: {} {} functions. Linear nets have {linear} training and {linear_valid} validation queries, two-layer nets {train} and {valid}; \
             for the first function there are linear nets with {train} and {valid} too.",
            data_words(sizes.features),
            sizes.functions
        ),
        format!(
            "Training: LambdaRank with sigma 1, plain gradient descent, one update per query. {}",
            words(&sizes.schedule, "tenfold")
        ),
        format!(
            "Test: {} random directions on the unit sphere, ten steps of 0.1 to 1, of the weights after the last epoch (of the start with the best \
             validation value, where there were two): nothing chose that epoch. Ten steps of 0.001 to 0.01 are tried along {FIRST} directions, \
             and along all only when none of those counts; so are the best validation epoch and random weights. A direction counts when at one step or more the \
             mean of the measure over all training queries is not lower than without a step. Then each weight is moved alone.",
            sizes.directions
        ),
    ]
}

fn deviations(scale: Scale, sizes: &Sizes) -> Vec<String> {
    let [linear, two] = sizes.queries.map(|[train, _]| train);
    let mut all = common_deviations(scale);
    all.push(format!(
        "The paper's artificial set has 10,000 training and 5,000 validation queries. Ours have {linear} training queries for linear nets and \
         {two} for two-layer nets, which take longer; but there are several functions. Fewer queries make the measure coarser, so that more \
         directions rise by chance."
    ));
    all.push(
        "The paper's step sizes of training are 1e-7 to 1e-3. Where the best is at an end of them, the search goes on beyond.".into(),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_counts_once_however_often_it_rises() {
        let curves = [vec![0.5, 0.6], vec![0.4, 0.5], vec![0.4, 0.3]];
        assert_eq!(count(&curves, |value| value >= 0.5), 2);
        assert_eq!(count(&curves, |value| value > 0.5), 1);
    }
}
