//! Tables 1 and 2: five ways to make lambdas from a measure.

mod made;

use super::descent::Updates;
use super::setting::{MAP, MEASURES, MRR, Measure, common_deviations, data, data_words, parts, seed_of};
use super::tuned::{Course, PATIENT, Schedule, train_tuned, words};
use crate::harness::figure::{self, Legend, Panel, Point, Series, Whose};
use crate::harness::finding::{Finding, no_share};
use crate::harness::trainings;
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Job, Kind, NetShape, OneEntryCache, Packed, Paper, Report, Scale,
    Session, Spread, Test, Ticker,
};
use burnrank::internal::text::Table;
use burnrank::objective::{Batch, Classes, Outputs};
use burnrank::{Dataset, Objective};
use made::{ALL, AtLeastOne, Made};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-constructions",
    kind: Kind::Paper,
    paper: Paper::Optimality,
    place: "section 7, Tables 1 and 2",
    claim: "Of the ways to make lambdas from a measure, RankNetWeightPairs (the RankNet force of each pair times what \
            its swap changes) is better than SpringSmooth, LocalGradient, LocalCost and DiscreteBounded for all four \
            measures.",
    time: "about 10 minutes",
    claims,
    changed: &[
        "After a first look at eleven trainings of one function: step sizes by a factor of 3 instead of 10, and up to \
         200 epochs instead of 80, which one of them had come near.",
    ],
    protocol,
    run,
    own: None,
};

const FEATURES: usize = 50;

struct Sizes {
    functions: u64,
    queries: [usize; 3],
    schedule: Schedule,
}

/// From springs that pull with 1 to lambdas of a hundredth: the same grid for all, with room at both ends.
const RATES: [f64; 7] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            functions: 8,
            queries: [1_000, 500, 3_000],
            schedule: Schedule {
                learning_rates: &RATES,
                extensions: 3,
                search_epochs: 8,
                epochs: 200,
                restart: 20,
                ..PATIENT
            },
        },
        Scale::Quick => Sizes {
            functions: 2,
            queries: [20, 15, 40],
            schedule: Schedule {
                learning_rates: &RATES,
                extensions: 1,
                search_epochs: 1,
                epochs: 4,
                restart: 3,
                ..PATIENT
            },
        },
    }
}

fn id(measure: Measure, made: Made) -> String {
    format!("{} over {}", measure.title, made.title())
}

fn claims(_: &Session) -> Vec<Claim> {
    let mut all = vec![];
    for measure in MEASURES {
        for made in &ALL[1..] {
            let statement = format!("{}: RankNetWeightPairs is above {}", measure.title, made.title());
            let claim = match made {
                Made::SpringSmoothRescaled => Claim::secondary(id(measure, *made), statement, Test::Above).paper("-"),
                _ => {
                    let own = |made: Made| made.paper(measure).map(|value| format!("{value:.3}"));
                    let scores = own(Made::RankNetWeightPairs).zip(own(*made));
                    let words = scores.map_or("yes, no numbers".into(), |(one, other)| format!("{one} and {other}"));
                    Claim::primary(id(measure, *made), statement, Test::Above).paper(words)
                }
            };
            all.push(claim.unit("random function").convention(
                "test queries; step size and epoch by validation queries; each construction as the program defines it \
                 where the paper gives it one sentence",
            ));
        }
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "functions": sizes.functions,
        "queries": sizes.queries,
        "schedule": sizes.schedule,
        "metrics": MEASURES.map(|measure| measure.name),
        "constructions": ALL.map(Made::title),
        "data": data(FEATURES, session.seed),
    }))
}

/// One net.
struct Cell {
    function: u64,
    measure: Measure,
    made: Made,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    #[serde(flatten)]
    course: Course,
    valid: f64,
    mean: f64,
    test: Packed,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        self.course
            .impossible()
            .or_else(|| no_share("a validation value", [self.valid]))
            .or_else(|| no_share("a test value", self.test.values().iter().copied().chain([self.mean])))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        for measure in MEASURES {
            for made in ALL {
                let key = format!("function {function} {} {}", measure.title, made.title()).to_lowercase();
                jobs.push(Job { key, work: 1.0, what: Cell { function, measure, made } });
            }
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let seed = seed_of(execution.session, job.what.function);
        let sets = kept.get(job.what.function, || parts(&data(FEATURES, seed), sizes.queries))?;
        run_cell(&sizes, &job.what, &sets, seed, ticker)
    })?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &sizes, &runs)
}

fn run_cell(
    sizes: &Sizes,
    cell: &Cell,
    [train, valid, test]: &[Dataset; 3],
    seed: u64,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let (objective, metric) = (cell.made.objective(cell.measure)?, cell.measure.metric()?);
    let how = (NetShape::TwoLayer, seed, Updates::PerQuery);
    let (tuned, trained) =
        train_tuned((&objective, &*metric), &sizes.schedule, how, [train, valid], (ticker, [0.0, 1.0]))?;
    let values = trained.best.values(test, &*metric)?;
    Ok(Found {
        course: Course::of(tuned, &trained),
        valid: trained.valid,
        mean: mean(&values),
        test: Packed::new(values),
    })
}

fn of<'a>(runs: &'a [(&Cell, &Found)], measure: Measure, made: Made) -> impl Iterator<Item = &'a Found> {
    runs.iter().filter(move |(cell, _)| cell.measure == measure && cell.made == made).map(|(_, found)| *found)
}

/// The test value of each function.
fn tests(runs: &[(&Cell, &Found)], measure: Measure, made: Made) -> Vec<f64> {
    of(runs, measure, made).map(|found| found.mean).collect()
}

fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    for measure in MEASURES {
        for made in &ALL[1..] {
            let gap = less(&tests(runs, measure, Made::RankNetWeightPairs), &tests(runs, measure, *made));
            evidence.push((id(measure, *made), Evidence::units(gap)));
        }
    }
    let best = MEASURES.map(|measure| {
        let value = |made: &Made| mean(&tests(runs, measure, *made));
        let best = ALL.into_iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(Made::RankNetWeightPairs);
        format!("{}: {}", measure.title, best.title())
    });
    Ok(Report {
        evidence,
        controls: vec![literally_ranknet(execution)?],
        main: format!("best construction on test queries: {}", best.join("; ")),
        tables: vec![values_table(runs), trainings(sizes, runs)],
        notes: vec![
            "The paper defines each construction by a sentence. LocalGradient: neighbours in the ranking pull by \
             (change of the measure when they swap) / (difference of their scores + margin). LocalCost: each document \
             is pushed by (change when it goes up one place less change when it goes down one) / (difference of its \
             neighbours' scores + margin), its neighbours carry the reaction. DiscreteBounded: each document is \
             pushed to its ideal place by what the measure gains when it alone goes there, at most 1; the documents \
             that it passes carry the reaction. Margins are 1."
                .into(),
            "SpringSmooth: \"the gain obtained by swapping a pair is lower-bounded by 1\". No swap changes one of \
             these measures by more than 1, so that every pair weighs 1, which is RankNet: nothing of the measure is \
             left but which labels differ. That is the primary SpringSmooth, because it is what is written. The \
             rescaled one counts gains in units of the query's mean gain before the bound."
                .into(),
            "The paper reports validation values, by which it also chose. Ours are of test queries that chose \
             nothing; validation values are in the first table too."
                .into(),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions {} training, {} validation and {} test queries.",
                data_words(FEATURES),
                sizes.functions,
                sizes.queries[0],
                sizes.queries[1],
                sizes.queries[2]
            ),
            format!(
                "Training: two-layer nets of ten hidden units, sigma 1, plain gradient descent, one update per query. \
                 {}",
                words(&sizes.schedule, "threefold")
            ),
        ],
        deviations: deviations(execution.scale(), sizes),
        figure: figure::draw(&[panel(runs)])?,
        other_data: true,
        ..Report::default()
    })
}

/// Literal SpringSmooth is RankNet, to the last bit but rounding.
fn literally_ranknet(execution: &Execution<'_>) -> anyhow::Result<Control> {
    let [set] = parts(&data(FEATURES, seed_of(execution.session, 0)), [20])?;
    let scores: Vec<f32> = set.features().chunks_exact(FEATURES).map(|row| row[0]).collect();
    let mut worst = 0.0f32;
    for measure in MEASURES {
        let binary = matches!(measure, MAP | MRR);
        let labels: Vec<f32> =
            set.labels().iter().map(|&label| if binary { f32::from(u8::from(label >= 2.0)) } else { label }).collect();
        let slopes = |objective: &Objective| -> anyhow::Result<Vec<f32>> {
            let mut slopes = vec![0.0; scores.len()];
            let batch = Batch { labels: &labels, offsets: set.offsets() };
            objective.lambda_gradient(&scores, batch, &mut slopes, Outputs::default(), &[])?;
            Ok(slopes)
        };
        let threshold = if binary { Classes::AtLeast(1.0) } else { Classes::Labels };
        let name = measure.name.replace(":rel=2", "");
        let literal = AtLeastOne { metric: burnrank::metric::parse(&name)?, classes: threshold };
        let ours = slopes(&Objective::custom("springsmooth", Arc::new(literal)))?;
        let ranknet = slopes(&Objective::parse("ranknet")?)?;
        worst = ours.iter().zip(&ranknet).fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
    }
    Ok(Control {
        description: "SpringSmooth as written has RankNet's gradient, since no swap changes a measure by more than 1"
            .into(),
        expected: "equal to 0.00001".into(),
        ours: format!("largest difference {worst:.7}"),
        holds: worst < 1e-5,
    })
}

fn values_table(runs: &[(&Cell, &Found)]) -> Table {
    let head = ["measure", "construction", "test ± standard error over functions", "validation", "paper: validation"];
    let mut table = Table::titled("Values of each construction, mean over functions:", &head);
    for measure in MEASURES {
        for made in ALL {
            let values = tests(runs, measure, made);
            let valid: Vec<f64> = of(runs, measure, made).map(|found| found.valid).collect();
            let error = Spread::of(&values).map_or(0.0, |spread| spread.sd / (spread.n as f64).sqrt());
            table.row([
                measure.title.to_owned(),
                made.title().to_owned(),
                format!("{:.4} ± {error:.4}", mean(&values)),
                format!("{:.4}", mean(&valid)),
                made.paper(measure).map_or("-".into(), |value| format!("{value:.3}")),
            ]);
        }
    }
    table
}

fn trainings(sizes: &Sizes, runs: &[(&Cell, &Found)]) -> Table {
    let one = |(cell, found): &(&Cell, &Found)| found.course.went(cell.made.title(), &sizes.schedule);
    trainings::table(&runs.iter().map(one).collect::<Vec<_>>())
}

/// Each construction less RankNetWeightPairs, beside the paper's.
fn panel(runs: &[(&Cell, &Found)]) -> Panel {
    let mut series = vec![];
    for (colour, made) in ALL.into_iter().enumerate().skip(1) {
        let point = |(at, measure): (usize, Measure)| -> Point {
            let gap = less(&tests(runs, measure, made), &tests(runs, measure, Made::RankNetWeightPairs));
            let (middle, half) = (mean(&gap), Spread::of(&gap).map_or(0.0, |spread| spread.half));
            (at as f64, 100.0 * middle, Some((100.0 * (middle - half), 100.0 * (middle + half))))
        };
        let points = MEASURES.into_iter().enumerate().map(point).collect();
        series.push(Series {
            name: made.title().into(),
            whose: Whose::Ours,
            colour: colour - 1,
            joined: false,
            points,
        });
        let paper = |(at, measure): (usize, Measure)| -> Option<Point> {
            Some((at as f64, 100.0 * (made.paper(measure)? - Made::RankNetWeightPairs.paper(measure)?), None))
        };
        let points: Vec<Point> = MEASURES.into_iter().enumerate().filter_map(paper).collect();
        if !points.is_empty() {
            series.push(Series {
                name: format!("{}, paper", made.title()),
                whose: Whose::Paper,
                colour: colour - 1,
                joined: false,
                points,
            });
        }
    }
    Panel {
        title: "Constructions less RankNetWeightPairs".into(),
        x_label: "measure".into(),
        y_label: "points".into(),
        ticks: MEASURES.iter().enumerate().map(|(at, measure)| (at as f64, measure.title.into())).collect(),
        series,
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn deviations(scale: Scale, sizes: &Sizes) -> Vec<String> {
    let mut all = common_deviations(scale);
    all.push(format!(
        "The paper has 5,000 training and 5,000 validation queries of a search engine; ours are {} and {} of \
         artificial data, and {} test queries. Its numbers cannot be compared, its orderings can.",
        sizes.queries[0], sizes.queries[1], sizes.queries[2]
    ));
    all.push(
        "The paper tried 13 constructions and names five. It prints tables for MAP and MRR, and says the same of NDCG \
         and NDCG@10."
            .into(),
    );
    all
}
