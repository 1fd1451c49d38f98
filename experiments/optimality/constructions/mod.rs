//! Tables 1 and 2: five ways to construct lambdas from a metric.

mod construction;

use super::setting::{
    MAP, METRICS, MRR, PaperMetric, TWO_FORMS, data, describe_data, deviations, mean_and_error, mean_point,
    metric_ticks, query_sets, run_all, seed_of,
};
use super::tuned::{PATIENT, Schedule, TrainingRecord, describe, limits_table, train_two_layer};
use crate::harness::figure::{self, Legend, Panel, Point, Series, Whose};
use crate::harness::finding::{Finding, no_share};
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Headline, Job, Packed, Paper, Report, Runs, Scale, Session, Test,
    Tested, Ticker, claims, evidence,
};
use burnrank::internal::text::Table;
use burnrank::objective::{Batch, Classes, Outputs};
use burnrank::{Dataset, Device, Objective};
use construction::{ALL, AtLeastOne, Construction};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-constructions",
    paper: Paper::Optimality,
    place: "section 7, Tables 1 and 2",
    claim: "Of the ways to construct lambdas from a metric, RankNetWeightPairs (RankNet's lambda of each pair times the \
            change of the metric when the pair swaps) is better than SpringSmooth, LocalGradient, LocalCost and \
            DiscreteBounded for all four metrics.",
    short: "RankNetWeightPairs is the best way to make lambdas from a metric.",
    headlines: &[
        Headline::new(
            "RankNetWeightPairs is better than the other constructions by NDCG and NDCG@10",
            &[
                "NDCG over LocalGradient",
                "NDCG over LocalCost",
                "NDCG over SpringSmooth",
                "NDCG over DiscreteBounded",
                "NDCG@10 over LocalGradient",
                "NDCG@10 over LocalCost",
                "NDCG@10 over SpringSmooth",
                "NDCG@10 over DiscreteBounded",
            ],
        ),
        Headline::new(
            "RankNetWeightPairs is better than the other constructions by MAP",
            &["MAP over LocalGradient", "MAP over LocalCost", "MAP over SpringSmooth", "MAP over DiscreteBounded"],
        ),
        Headline::new(
            "RankNetWeightPairs is better than the other constructions by MRR",
            &["MRR over LocalGradient", "MRR over LocalCost", "MRR over SpringSmooth", "MRR over DiscreteBounded"],
        ),
    ],
    number: ("MRR over LocalGradient", "RankNetWeightPairs minus LocalGradient, MRR"),
    time: "about 5 minutes",
    claims: |_| claims(tested()),
    changed: &[
        "5,000 training and 5,000 validation queries, as in the paper, instead of 1,000 and 500. There are six functions \
         instead of eight, and each learning rate is tried for 2 epochs instead of 8, the same number of updates.",
        "RankNetWeightPairs for MRR has the swap form; Eq. 11 as printed is a construction of its own.",
        "After a first look at eleven training runs of one function: a grid of learning rates by factors of 3 instead of \
         10, and at most 200 epochs instead of 80, because one run came close to 80.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const FEATURES: usize = 50;

#[derive(Serialize)]
struct Sizes {
    functions: u64,
    /// Training, validation and test queries.
    queries: [usize; 3],
    schedule: Schedule,
}

/// The same grid for all constructions, whose lambdas differ by a factor of a hundred.
const RATES: [f64; 7] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

const SCHEDULE: Schedule = Schedule { learning_rates: &RATES, ..PATIENT };

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            functions: 6,
            queries: [5_000, 5_000, 3_000],
            schedule: Schedule { extensions: 3, search_epochs: 2, epochs: 100, restart: 10, ..SCHEDULE },
        },
        Scale::Quick => Sizes {
            functions: 2,
            queries: [20, 15, 40],
            schedule: Schedule { extensions: 1, search_epochs: 1, epochs: 4, restart: 3, ..SCHEDULE },
        },
    }
}

fn id(metric: PaperMetric, construction: Construction) -> String {
    format!("{} over {}", metric.title, construction.title())
}

/// The constructions that RankNetWeightPairs is compared with.
fn others(metric: PaperMetric) -> impl Iterator<Item = Construction> {
    ALL.into_iter().filter(move |&other| other != Construction::RankNetWeightPairs && other.is_for(metric))
}

/// The claims and how they take their evidence.
fn tested() -> Vec<Tested<Results>> {
    let mut all = vec![];
    for metric in METRICS {
        for other in others(metric) {
            let statement = format!("{}: RankNetWeightPairs is above {}", metric.title, other.title());
            let scores = Construction::RankNetWeightPairs.paper(metric).zip(other.paper(metric));
            let claim = Claim::new(id(metric, other), statement, Test::Above);
            let claim = match (other, scores) {
                (Construction::SpringSmoothRescaled | Construction::Eq11, _) => claim.paper("-"),
                (_, None) => claim.paper("yes, no numbers"),
                (_, Some((one, other))) => claim.paper(format!("{one:.3} and {other:.3}")).effects([one - other]),
            };
            let claim = claim.unit("random function").convention(
                "test queries; learning rate and epoch chosen on validation queries; our definition of each construction \
                 where the paper has only one sentence",
            );
            all.push(claim.by(move |runs: &Results| {
                let ours = tests(runs, metric, Construction::RankNetWeightPairs);
                Evidence::units(less(&ours, &tests(runs, metric, other)))
            }));
        }
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "metrics": METRICS.map(|metric| metric.name),
        "constructions": ALL.map(Construction::title),
        "data": data(FEATURES, session.seed),
        "sizes": sizes,
    }))
}

/// One net.
struct Cell {
    function: u64,
    metric: PaperMetric,
    construction: Construction,
}

type Results = Runs<Cell, NetResult>;

#[derive(Debug, Serialize, Deserialize)]
struct NetResult {
    #[serde(flatten)]
    record: TrainingRecord,
    valid: f64,
    mean: f64,
    test: Packed,
}

impl Finding for NetResult {
    fn impossible(&self) -> Option<String> {
        self.record
            .impossible()
            .or_else(|| no_share("a validation value", [self.valid]))
            .or_else(|| no_share("a test value", self.test.values().iter().copied().chain([self.mean])))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        for metric in METRICS {
            for construction in ALL.into_iter().filter(|construction| construction.is_for(metric)) {
                let key = format!("function {function} {} {}", metric.title, construction.title()).to_lowercase();
                jobs.push(Job { key, work: 1.0, what: Cell { function, metric, construction } });
            }
        }
    }
    let queries = |cell: &Cell| (cell.function, sizes.queries);
    let runs = run_all(
        execution,
        jobs,
        |_, seed| data(FEATURES, seed),
        queries,
        |cell, sets, seed, ticker| run_cell(&sizes, cell, sets, (seed, &execution.session.device), ticker),
    )?;
    report(execution, &sizes, &runs)
}

fn run_cell(
    sizes: &Sizes,
    cell: &Cell,
    [train, valid, test]: &[Dataset; 3],
    start: (u64, &Device),
    ticker: &Ticker<'_>,
) -> anyhow::Result<NetResult> {
    let objective = cell.construction.objective(cell.metric)?;
    let (record, trained) = train_two_layer((&objective, cell.metric), &sizes.schedule, start, [train, valid], ticker)?;
    let values = trained.best.values(test, &*cell.metric.parse()?)?;
    Ok(NetResult { record, valid: trained.valid, mean: mean(&values), test: Packed::new(values) })
}

/// Test value of each function.
fn tests(runs: &Results, metric: PaperMetric, construction: Construction) -> Vec<f64> {
    runs.values(|cell| cell.metric == metric && cell.construction == construction, |result| result.mean)
}

fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &Results) -> anyhow::Result<Report> {
    let best = METRICS.map(|metric| {
        let value = |construction: &Construction| mean(&tests(runs, metric, *construction));
        let all = ALL.into_iter().filter(|construction| construction.is_for(metric));
        let best = all.max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(Construction::RankNetWeightPairs);
        format!("{}: {}", metric.title, best.title())
    });
    Ok(Report {
        evidence: evidence(&tested(), runs),
        controls: vec![literally_ranknet(execution)?],
        main: format!("best construction on test queries: {}", best.join("; ")),
        tables: vec![
            values_table(runs),
            limits_table(
                &sizes.schedule,
                runs.iter().map(|(cell, result)| (cell.construction.title().to_owned(), &result.record)),
            ),
        ],
        notes: vec![
            "The paper defines each construction in one sentence. LocalGradient: the lambda between neighbours in the \
             ranking is (change of the metric when they swap) / (difference of their scores + margin). LocalCost: the \
             lambda of each document is (change when it moves up one rank - change when it moves down one rank) / \
             (difference of its neighbours' scores + margin), and its neighbours receive the opposite. \
             DiscreteBounded: the lambda of each document points to its ideal rank and is the gain of the metric when \
             only this document moves there, at most 1; the documents that it passes receive the opposite. Margins \
             are 1."
                .into(),
            "SpringSmooth: \"the gain obtained by swapping a pair is lower-bounded by 1\". No swap changes one of \
             these metrics by more than 1, so every pair has weight 1: this is RankNet. It is the primary \
             SpringSmooth, because it is the definition as printed. The rescaled one divides gains by the query's \
             mean gain before applying the bound."
                .into(),
            "The paper reports values of the validation queries that it also used for selection. Ours are of separate \
             test queries; the first table has validation values too."
                .into(),
            TWO_FORMS.into(),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions: {} training, {} validation and {} test queries.",
                describe_data(FEATURES),
                sizes.functions,
                sizes.queries[0],
                sizes.queries[1],
                sizes.queries[2]
            ),
            format!(
                "Training: two-layer nets of ten hidden units, sigma 1, plain gradient descent, one update per query. \
                 {}",
                describe(&sizes.schedule, "threefold")
            ),
        ],
        deviations: deviations(
            execution.scale(),
            [
                format!(
                    "The paper's {} training and {} validation queries are of a search engine; ours are artificial, with {} \
                     test queries. Only orderings are compared, not numbers.",
                    sizes.queries[0], sizes.queries[1], sizes.queries[2]
                ),
                "The paper tried 13 constructions and names five. It prints tables for MAP and MRR, and says the same \
                 of NDCG and NDCG@10."
                    .into(),
            ],
        ),
        figure: figure::draw(&[panel(runs)])?,
        other_data: true,
        ..Report::default()
    })
}

/// Control: SpringSmooth as printed is RankNet, up to rounding.
fn literally_ranknet(execution: &Execution<'_>) -> anyhow::Result<Control> {
    let [set] = query_sets(&data(FEATURES, seed_of(execution.session, 0)), [20])?;
    let scores: Vec<f32> = set.features().chunks_exact(FEATURES).map(|row| row[0]).collect();
    let mut worst = 0.0f32;
    for metric in METRICS {
        let binary = matches!(metric, MAP | MRR);
        let labels: Vec<f32> =
            set.labels().iter().map(|&label| if binary { f32::from(u8::from(label >= 2.0)) } else { label }).collect();
        let gradient = |objective: &Objective| -> anyhow::Result<Vec<f32>> {
            let mut gradient = vec![0.0; scores.len()];
            let batch = Batch { labels: &labels, offsets: set.offsets() };
            objective.lambda_gradient(&scores, batch, &mut gradient, Outputs::default(), &[])?;
            Ok(gradient)
        };
        let threshold = if binary { Classes::AtLeast(1.0) } else { Classes::Labels };
        let name = metric.name.replace(":rel=2", "");
        let literal = AtLeastOne { metric: burnrank::metric::parse(&name)?, classes: threshold };
        let ours = gradient(&Objective::custom("springsmooth", Arc::new(literal)))?;
        let ranknet = gradient(&Objective::parse("ranknet")?)?;
        worst = ours.iter().zip(&ranknet).fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
    }
    Ok(Control {
        description: "SpringSmooth as printed has RankNet's gradient, because no swap changes a metric by more than 1"
            .into(),
        expected: "equal to 0.00001".into(),
        ours: format!("largest difference {worst:.7}"),
        holds: worst < 1e-5,
    })
}

fn values_table(runs: &Results) -> Table {
    let head = ["metric", "construction", "test ± standard error over functions", "validation", "paper: validation"];
    let mut table = Table::titled("Values of each construction, mean over functions:", &head);
    for metric in METRICS {
        for construction in ALL.into_iter().filter(|construction| construction.is_for(metric)) {
            let own = |cell: &Cell| cell.metric == metric && cell.construction == construction;
            table.row([
                metric.title.to_owned(),
                construction.title().to_owned(),
                mean_and_error(&tests(runs, metric, construction)),
                format!("{:.4}", runs.mean(own, |result| result.valid)),
                construction.paper(metric).map_or("-".into(), |value| format!("{value:.3}")),
            ]);
        }
    }
    table
}

/// Each construction minus RankNetWeightPairs, next to the paper's.
fn panel(runs: &Results) -> Panel {
    let mut series = vec![];
    for (colour, construction) in ALL.into_iter().enumerate().skip(1) {
        let point = |(at, metric): (usize, PaperMetric)| {
            let difference =
                less(&tests(runs, metric, construction), &tests(runs, metric, Construction::RankNetWeightPairs));
            mean_point(at as f64, &difference, 100.0)
        };
        let points =
            METRICS.into_iter().enumerate().filter(|(_, metric)| construction.is_for(*metric)).map(point).collect();
        series.push(Series {
            name: construction.title().into(),
            whose: Whose::Ours,
            colour: colour - 1,
            joined: false,
            points,
        });
        let paper = |(at, metric): (usize, PaperMetric)| -> Option<Point> {
            Some((
                at as f64,
                100.0 * (construction.paper(metric)? - Construction::RankNetWeightPairs.paper(metric)?),
                None,
            ))
        };
        let points: Vec<Point> = METRICS.into_iter().enumerate().filter_map(paper).collect();
        if !points.is_empty() {
            series.push(Series {
                name: format!("{}, paper", construction.title()),
                whose: Whose::Paper,
                colour: colour - 1,
                joined: false,
                points,
            });
        }
    }
    Panel {
        title: "Constructions minus RankNetWeightPairs".into(),
        x_label: "metric".into(),
        y_label: "points".into(),
        ticks: metric_ticks(),
        series,
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}
