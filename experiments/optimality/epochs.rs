//! Section 8: early weights and weights for another measure are local optima too, and training goes on from them.

use super::descent::{Net, Plan, Trained, Updates, descend};
use super::moves::{Moved, moved};
use super::setting::{MRR, Measure, NDCG10, common_deviations, data, data_words, parts, seed_of};
use super::tuned::{Schedule, train_tuned, tried_cell, words};
use crate::harness::figure::{self, Legend, Panel, Point, Series, Whose};
use crate::harness::finding::{Finding, no_share, no_step_size};
use crate::harness::tuning::Tuned;
use crate::harness::units::mean;
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Job, Kind, NetShape, Paper, Report, Scale, Session, Spread, Test,
    Ticker,
};
use anyhow::Context;
use burnrank::Dataset;
use burnrank::analysis::optimality::COARSE_STEPS;
use burnrank::text::{Table, number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-epochs",
    kind: Kind::Paper,
    paper: Paper::Optimality,
    place: "section 8",
    claim: "The weights after epochs 7 and 12 of training for NDCG@10 are local optima of it already, and so are the \
            weights learned for MRR. Going on from them nevertheless raises NDCG@10 at once: learning escapes, \
            because it is stochastic.",
    time: "about 5 minutes",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const FEATURES: usize = 300;
const EARLY: [usize; 2] = [7, 12];
const EPSILON: f64 = 0.01;
const RATES: [f64; 4] = [0.003, 0.01, 0.03, 0.1];
/// A step by the mean over all queries is as long as one by a single query, but there is only one in an epoch.
const FULL_RATES: [f64; 4] = [0.3, 1.0, 3.0, 10.0];

struct Sizes {
    functions: u64,
    queries: [usize; 2],
    schedule: Schedule,
    full: Schedule,
    /// For how many epochs training goes on.
    further: usize,
    directions: usize,
    features: usize,
}

fn sizes(scale: Scale) -> Sizes {
    let common = Schedule {
        rates: &RATES,
        more: 4,
        search_epochs: 12,
        epochs: 700,
        restart: 50,
        starts: 1,
        constant: true,
        frozen: 1e-3,
    };
    match scale {
        Scale::Paper => Sizes {
            functions: 6,
            queries: [1_000, 500],
            schedule: common,
            full: Schedule { rates: &FULL_RATES, epochs: 1, ..common },
            further: 30,
            directions: 459,
            features: FEATURES,
        },
        Scale::Quick => Sizes {
            functions: 2,
            queries: [40, 20],
            schedule: Schedule { more: 1, search_epochs: 2, epochs: 8, ..common },
            full: Schedule { rates: &FULL_RATES, more: 1, search_epochs: 2, epochs: 2, ..common },
            further: 3,
            directions: 30,
            features: 40,
        },
    }
}

/// Where training goes on from.
const STARTS: [&str; 3] = ["epoch 7", "epoch 12", "learned for MRR"];

fn claims(session: &Session) -> Vec<Claim> {
    let Sizes { further, directions, .. } = sizes(session.scale);
    let unit = "random function with its own training queries and net";
    let counted = "A(w) <= A(w + step r) counts, as in the paper; equal scores are ranked pessimistically";
    let mut all = vec![];
    for start in STARTS {
        let statement = format!(
            "{start}: share of {directions} random directions that do not lower training NDCG@10 at every step of 0.1 \
             to 1"
        );
        let claim = Claim::primary(format!("optimum {start}"), statement, Test::AtMost { bound: EPSILON });
        all.push(claim.paper("a local optimum").unit(unit).convention(counted));
    }
    let judged = "two-layer net; NDCG@10 over all training queries, before and after";
    for start in STARTS {
        let statement = format!("{start}: training NDCG@10 after one more epoch for NDCG@10, less before");
        let claim = Claim::primary(format!("at once {start}"), statement, Test::Above);
        all.push(claim.paper("immediate improvement").unit(unit).convention(judged));
    }
    for start in STARTS {
        let statement = format!("{start}: training NDCG@10 after {further} more epochs, less before");
        let claim = Claim::secondary(format!("later {start}"), statement, Test::Above);
        all.push(claim.paper("a different, potentially better, local optimum").unit(unit).convention(judged));
        let statement = format!("{start}: the same with one update per epoch, by the whole batch");
        let claim = Claim::secondary(format!("full {start}"), statement, Test::Above);
        all.push(claim.paper("escapes too").unit(unit).convention(judged));
        let statement = format!("{start}: after {further} more epochs, one update per query is above one per epoch");
        let claim = Claim::secondary(format!("stochastic {start}"), statement, Test::Above);
        all.push(
            claim
                .paper("stochasticity is important")
                .unit(unit)
                .convention(format!("{judged}; each way with its own step size, by validation")),
        );
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "functions": sizes.functions,
        "queries": sizes.queries,
        "schedule": sizes.schedule,
        "full": sizes.full,
        "further": sizes.further,
        "directions": sizes.directions,
        "early": EARLY,
        "data": data(sizes.features, session.seed),
    }))
}

/// What became of one start.
#[derive(Debug, Serialize, Deserialize)]
struct GoneOn {
    optimum: Moved,
    /// Training NDCG@10 before, and after each further epoch; by updates per query, and per epoch.
    per_query: Vec<f64>,
    full_batch: Vec<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    rate: f64,
    tried: Vec<(f64, f64)>,
    mrr_rate: f64,
    full_rate: f64,
    full_tried: Vec<(f64, f64)>,
    /// How many epochs the training for MRR had.
    mrr_epochs: usize,
    random: Moved,
    starts: Vec<GoneOn>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let values = self.starts.iter().flat_map(|start| start.per_query.iter().chain(&start.full_batch)).copied();
        no_step_size([self.rate, self.mrr_rate, self.full_rate])
            .or_else(|| no_share("a training value", values))
            .or_else(|| (self.starts.len() != STARTS.len()).then(|| "a start is missing".into()))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let job = |function| Job { key: format!("function {function}"), work: 1.0, what: function };
    let jobs: Vec<Job<u64>> = (0..sizes.functions).map(job).collect();
    let found = execution.run_all(&jobs, |job, ticker| {
        let seed = seed_of(execution.session, job.what);
        let sets = parts(&data(sizes.features, seed), sizes.queries)?;
        run_function(execution, &sizes, &sets, seed, ticker)
    })?;
    report(execution, &sizes, &found)
}

fn run_function(
    execution: &Execution<'_>,
    sizes: &Sizes,
    [train, valid]: &[Dataset; 2],
    seed: u64,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let (objective, metric) = (NDCG10.lambdarank()?, NDCG10.metric()?);
    let learn = |measure: Measure, schedule: &Schedule, updates: Updates, share: [f64; 2]| {
        let (objective, metric) = (measure.lambdarank()?, measure.metric()?);
        let how = (NetShape::TwoLayer, seed, updates);
        train_tuned((&objective, &*metric), schedule, how, [train, valid], (ticker, share))
    };
    let searched = Schedule { epochs: 1, ..sizes.schedule };
    let (Tuned { best: rate, tried, .. }, _) = learn(NDCG10, &searched, Updates::PerQuery, [0.0, 0.2])?;
    let (Tuned { best: mrr_rate, .. }, mrr) = learn(MRR, &sizes.schedule, Updates::PerQuery, [0.2, 0.4])?;
    let (Tuned { best: full_rate, tried: full_tried, .. }, _) =
        learn(NDCG10, &sizes.full, Updates::FullBatch, [0.4, 0.5])?;
    // Training for NDCG@10 from some weights; the epochs that are asked for are kept.
    let go = |start: Net,
              (rate, updates, seed): (f64, Updates, u64),
              epochs: usize,
              keep: &[usize]|
     -> anyhow::Result<Trained> {
        let (objective, measure) = (&objective, &*metric);
        let (constant, frozen) = (true, 0.0);
        let plan =
            Plan { objective, measure, rate, updates, epochs, restart: 0, constant, frozen, starts: 1, seed, keep };
        descend(&plan, start, train, valid, |_| ())
    };
    let start = Net::random(train.n_features(), NetShape::TwoLayer, seed);
    let early = go(start, (rate, Updates::PerQuery, seed), EARLY[EARLY.len() - 1], &EARLY)?;
    let mut nets: Vec<Net> = early.kept.into_iter().map(|(_, net)| net).collect();
    nets.push(mrr.last);
    let device = &execution.session.device;
    let test = |net: &Net| -> anyhow::Result<Moved> {
        let found = moved(net, train, NDCG10, (&[sizes.directions], seed, &[&COARSE_STEPS]), device)?;
        found.into_iter().next().context("one set of steps")
    };
    let keep: Vec<usize> = (1..=sizes.further).collect();
    let mut starts = vec![];
    for (number, net) in nets.into_iter().enumerate() {
        let further = |rate: f64, updates: Updates| -> anyhow::Result<Vec<f64>> {
            // Another order of queries than before.
            let after = go(net.clone(), (rate, updates, seed.wrapping_add(1 << 20)), sizes.further, &keep)?;
            [&net]
                .into_iter()
                .chain(after.kept.iter().map(|kept| &kept.1))
                .map(|net| net.mean(train, &*metric))
                .collect()
        };
        let (per_query, full_batch) = (further(rate, Updates::PerQuery)?, further(full_rate, Updates::FullBatch)?);
        starts.push(GoneOn { optimum: test(&net)?, per_query, full_batch });
        ticker.tick(0.5 + 0.15 * (number + 1) as f64);
    }
    let random = test(&Net::random(train.n_features(), NetShape::TwoLayer, seed.wrapping_add(1 << 50)))?;
    Ok(Found { rate, tried, mrr_rate, full_rate, full_tried, mrr_epochs: mrr.epochs.len(), random, starts })
}

/// What training did after so many epochs, at most as many as there are.
fn gain(values: &[f64], epochs: usize) -> f64 {
    values[epochs.min(values.len() - 1)] - values[0]
}

fn report(execution: &Execution<'_>, sizes: &Sizes, found: &[Found]) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    for (number, name) in STARTS.into_iter().enumerate() {
        let each =
            |value: &dyn Fn(&GoneOn) -> f64| Evidence::units(found.iter().map(|found| value(&found.starts[number])));
        let optimum = |from: &GoneOn| from.optimum.not_worse as f64 / from.optimum.tried as f64;
        evidence.push((format!("optimum {name}"), each(&optimum)));
        evidence.push((format!("at once {name}"), each(&|from| gain(&from.per_query, 1))));
        evidence.push((format!("later {name}"), each(&|from| gain(&from.per_query, sizes.further))));
        evidence.push((format!("full {name}"), each(&|from| gain(&from.full_batch, sizes.further))));
        let stochastic = |from: &GoneOn| gain(&from.per_query, sizes.further) - gain(&from.full_batch, sizes.further);
        evidence.push((format!("stochastic {name}"), each(&stochastic)));
    }
    let randoms = found.iter().filter(|found| found.random.better > 0).count();
    let optima = |number: usize| found.iter().filter(|found| found.starts[number].optimum.not_worse == 0).count();
    let counts: Vec<String> = STARTS
        .iter()
        .enumerate()
        .map(|(number, name)| format!("{name} {} of {}", optima(number), found.len()))
        .collect();
    Ok(Report {
        evidence,
        controls: vec![Control {
            what: "random weights are no local optimum: some direction raises NDCG@10".into(),
            expected: format!("{} of {}", found.len(), found.len()),
            ours: format!("{randoms} of {}", found.len()),
            holds: randoms == found.len(),
        }],
        main: format!("local optima of NDCG@10: {}", counts.join(", ")),
        tables: vec![table(sizes, found), trainings(found)],
        notes: vec![
            "A full batch visits the queries in no order and draws nothing, so that it is not stochastic at all; the \
             paper speaks of \"the stochasticity of the batch LambdaRank learning (both full batch and batch per \
             query)\". What can be asked is whether updates per query reach more than updates per epoch in the same \
             number of epochs. They are also more updates, so that a difference does not show that chance is the \
             reason."
                .into(),
            "A random direction says little of the direction that training takes: of many weights most directions \
             lower the measure although one raises it. That training goes up from a point that passed the test shows \
             that the test does not exclude better neighbours."
                .into(),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions {} training and {} validation queries.",
                data_words(sizes.features),
                sizes.functions,
                sizes.queries[0],
                sizes.queries[1]
            ),
            format!(
                "Training: two-layer nets of ten hidden units, LambdaRank with sigma 1, plain gradient descent, one \
                 update per query. {} The weights learned for MRR are those of the last epoch. With one update per \
                 epoch the grid is {}.",
                words(&sizes.schedule, "threefold"),
                FULL_RATES.map(number).join(", ")
            ),
            format!(
                "Test: {} random directions on the unit sphere, ten steps of 0.1 to 1, NDCG@10 of all training \
                 queries. Then training for NDCG@10 goes on for {} epochs with the step size that was chosen and \
                 another order of queries; the same with one update per epoch.",
                sizes.directions, sizes.further
            ),
        ],
        deviations: deviations(execution.scale(), sizes),
        figure: figure::draw(&[panel(sizes, found, 0), panel(sizes, found, 1), panel(sizes, found, 2)])?,
    })
}

fn table(sizes: &Sizes, found: &[Found]) -> Table {
    let (later, full) = (format!("after {}", sizes.further), format!("after {}, one update per epoch", sizes.further));
    let head = [
        "start",
        "directions not lower",
        "higher",
        "smallest fall at 0.1",
        "training NDCG@10",
        "after 1 epoch, per query",
        later.as_str(),
        full.as_str(),
    ];
    let mut table = Table::titled("Each start: directions of all functions, and means over functions:", &head);
    for (number, name) in STARTS.into_iter().enumerate() {
        let own: Vec<&GoneOn> = found.iter().map(|found| &found.starts[number]).collect();
        let average = |value: &dyn Fn(&GoneOn) -> f64| mean(&own.iter().map(|from| value(from)).collect::<Vec<_>>());
        let sum = |value: &dyn Fn(&Moved) -> usize| own.iter().map(|from| value(&from.optimum)).sum::<usize>();
        let highest = own.iter().map(|from| from.optimum.change[0][2]).fold(f64::NEG_INFINITY, f64::max);
        table.row([
            name.to_owned(),
            format!("{} of {}", sum(&|moved| moved.not_worse), sum(&|moved| moved.tried)),
            sum(&|moved| moved.better).to_string(),
            format!("{highest:+.5}"),
            format!("{:.4}", average(&|from| from.per_query[0])),
            format!("{:+.4}", average(&|from| gain(&from.per_query, 1))),
            format!("{:+.4}", average(&|from| gain(&from.per_query, sizes.further))),
            format!("{:+.4}", average(&|from| gain(&from.full_batch, sizes.further))),
        ]);
    }
    let (tried, not_worse, better) = found.iter().fold((0, 0, 0), |(tried, not_worse, better), found| {
        (tried + found.random.tried, not_worse + found.random.not_worse, better + found.random.better)
    });
    let none = || "-".to_owned();
    table.row([
        "random weights".into(),
        format!("{not_worse} of {tried}"),
        better.to_string(),
        none(),
        none(),
        none(),
        none(),
        none(),
    ]);
    table
}

fn trainings(found: &[Found]) -> Table {
    let head = [
        "function",
        "step size per query",
        "tried: validation",
        "for MRR",
        "per epoch",
        "tried: validation",
        "epochs for MRR",
    ];
    let mut table = Table::titled("How the trainings went:", &head);
    for (function, found) in found.iter().enumerate() {
        table.row([
            function.to_string(),
            number(found.rate),
            tried_cell(&found.tried),
            number(found.mrr_rate),
            number(found.full_rate),
            tried_cell(&found.full_tried),
            found.mrr_epochs.to_string(),
        ]);
    }
    table
}

/// Training NDCG@10 after further epochs, by both ways of updating.
fn panel(sizes: &Sizes, found: &[Found], start: usize) -> Panel {
    type Way = fn(&GoneOn) -> &Vec<f64>;
    let ways: [(&str, Way); 2] =
        [("one update per query", |from| &from.per_query), ("one per epoch", |from| &from.full_batch)];
    let series = ways.iter().enumerate().map(|(colour, (name, way))| {
        let point = |epoch: usize| -> Option<Point> {
            let all = found.iter().map(|found| way(&found.starts[start]));
            let values: Vec<f64> =
                all.filter(|values| values.len() > epoch).map(|values| gain(values, epoch)).collect();
            let half = Spread::of(&values)?.half;
            Some((epoch as f64, mean(&values), Some((mean(&values) - half, mean(&values) + half))))
        };
        let points = (0..=sizes.further).filter_map(point).collect();
        Series { name: (*name).into(), whose: Whose::Ours, colour, joined: true, points }
    });
    let step = (sizes.further / 6).max(1);
    Panel {
        title: format!("Going on from {}", STARTS[start].replace("learned", "weights learned")),
        x_label: "further epochs".into(),
        y_label: "change of training NDCG@10, 95% over functions".into(),
        ticks: (0..=sizes.further).step_by(step).map(|epoch| (epoch as f64, epoch.to_string())).collect(),
        series: series.collect(),
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn deviations(scale: Scale, sizes: &Sizes) -> Vec<String> {
    let mut all = common_deviations(scale);
    all.push(format!(
        "The paper looked at its 10K web data, once. Here there are {} random functions with {} training queries each.",
        sizes.functions, sizes.queries[0]
    ));
    all
}
