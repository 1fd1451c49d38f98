//! Section 7.2, Figure 5: how many pairs each measure learns from, and what that does to the accuracy.

use super::descent::{Trained, Updates};
use super::setting::{MAP, MEASURES, MRR, Measure, NDCG, NDCG10, common_deviations, data, data_words, parts, seed_of};
use super::tuned::{PATIENT, Schedule, train_tuned};
use crate::harness::figure::{self, Legend, Panel, Point, Series, Whose};
use crate::harness::finding::{Finding, no_epoch, no_share, no_step_size, outside};
use crate::harness::tuning::Tuned;
use crate::harness::units::mean;
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Job, Kind, NetShape, OneEntryCache, Paper, Report, Scale, Session,
    Spread, Test, Ticker,
};
use burnrank::Dataset;
use burnrank::text::{Table, number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-pairs",
    kind: Kind::Paper,
    paper: Paper::Optimality,
    place: "section 7.2, Figure 5",
    claim: "NDCG learns from more pairs than NDCG@10, that from more than MAP, that from more than MRR, which has one to two orders of \
            magnitude fewer than there are pairs of a relevant and another document. With as many effective pairs, training for the measure \
            of the test is best, and the gap to training for NDCG shrinks with more data.",
    time: "about 5 minutes",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const FEATURES: usize = 50;
const RATES: [f64; 4] = [0.003, 0.01, 0.03, 0.1];
/// The paper's web data: documents per query, millions of pairs of different labels, and of a relevant and another document, in 10,000
/// queries.
const PAPER_DOCUMENTS: f64 = 158.7;
const PAPER_QUERIES: f64 = 10_000.0;
const PAPER_BINARY: f64 = 27e6;

struct Sizes {
    functions: u64,
    /// Training queries, each four times the one before.
    train: &'static [usize],
    /// More of them, for MRR alone, which has the fewest pairs.
    more: usize,
    valid: usize,
    test: usize,
    schedule: Schedule,
}

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            functions: 6,
            train: &[50, 200, 800, 3_200],
            more: 12_800,
            valid: 500,
            test: 4_000,
            schedule: Schedule { rates: &RATES, more: 4, search_epochs: 6, epochs: 200, restart: 20, ..PATIENT },
        },
        Scale::Quick => Sizes {
            functions: 2,
            train: &[10, 40, 160],
            more: 640,
            valid: 30,
            test: 60,
            schedule: Schedule { rates: &RATES, more: 1, search_epochs: 1, epochs: 4, restart: 3, ..PATIENT },
        },
    }
}

/// What stands above what, by the paper, in pairs per epoch.
const ORDER: [(Measure, Measure); 3] = [(NDCG, NDCG10), (NDCG10, MAP), (MAP, MRR)];
/// Which training is compared with which at equal numbers of pairs, judged by the measure of the first; the first so many are primary.
const EQUAL: [(Measure, Measure); 5] = [(MRR, NDCG), (MRR, NDCG10), (MRR, MAP), (NDCG10, NDCG), (NDCG10, MAP)];
const EQUAL_PRIMARY: usize = 4;

fn claims(session: &Session) -> Vec<Claim> {
    let sizes = sizes(session.scale);
    let (small, large) = (sizes.train[sizes.train.len() - 2], sizes.train[sizes.train.len() - 1]);
    let unit = "random function";
    let counted = "pairs with a force, per epoch, mean over the epochs up to the best one";
    let mut all = vec![];
    for (more, less) in ORDER {
        let statement = format!("{} has more effective pairs than {}, log10 of the ratio", more.title, less.title);
        let claim = Claim::primary(format!("order {} {}", more.title, less.title), statement, Test::Above);
        all.push(claim.unit(unit).convention(format!("{counted}; {large} training queries of 50 documents")));
    }
    let statement = "MRR: log10 of (pairs of a relevant and another document / effective pairs), less 1.5";
    let claim =
        Claim::primary("orders", statement, Test::Alike { margin: 0.5 }).paper("1 to 2 orders of magnitude fewer");
    all.push(claim.unit(unit).convention(format!("{counted}; the margin makes it 1 to 2")));
    for (place, (own, other)) in EQUAL.into_iter().enumerate() {
        let title = format!("judged by {}, training for it is above training for {}", own.title, other.title);
        let statement = format!("as many effective pairs: {title}");
        let id = format!("equal {} {}", own.title, other.title);
        let claim = match place < EQUAL_PRIMARY {
            true => Claim::primary(id, statement, Test::Above),
            false => Claim::secondary(id, statement, Test::Above),
        };
        all.push(claim.paper("yes, significant").unit(unit).convention(
            "test value as a function of log10 of the effective pairs, joined by straight lines, mean over the range that both have",
        ));
    }
    for (measure, paper) in [(MRR, "0.020 to 0.011"), (NDCG10, "0.020 to 0.004")] {
        let title = measure.title;
        let statement = format!(
            "by {title}, training for NDCG less training for {title}: the gap with {small} queries less the gap with {large}"
        );
        all.push(Claim::primary(format!("gap {title}"), statement, Test::Above).paper(paper).unit(unit));
        let statement = format!("by {title}, with {large} queries, training for {title} is above training for NDCG");
        let claim = Claim::secondary(format!("largest {title}"), statement, Test::Above);
        all.push(claim.paper("expected of enough data").unit(unit));
    }
    let statement = "on the paper's own data NDCG@10 can have more effective pairs than MAP";
    all.push(Claim::secondary("own numbers", statement, Test::Fact).paper("yes"));
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "functions": sizes.functions,
        "train": sizes.train,
        "more": sizes.more,
        "valid": sizes.valid,
        "test": sizes.test,
        "schedule": sizes.schedule,
        "measures": MEASURES.map(|measure| measure.name),
        "data": data(FEATURES, session.seed),
    }))
}

/// One net.
struct Cell {
    function: u64,
    queries: usize,
    measure: Measure,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    rate: f64,
    tried: Vec<(f64, f64)>,
    at_edge: bool,
    best_epoch: usize,
    epochs: usize,
    /// Effective pairs per epoch, mean over the epochs up to the best; those of the first epoch; those that there can be.
    pairs: f64,
    first_pairs: f64,
    graded: f64,
    binary: f64,
    /// Test means of the four measures.
    test: Vec<f64>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        no_step_size(self.tried.iter().map(|tried| tried.0).chain([self.rate]))
            .or_else(|| no_share("a validation value", self.tried.iter().map(|tried| tried.1)))
            .or_else(|| no_share("a test value", self.test.iter().copied()))
            .or_else(|| {
                outside("a number of pairs", 0.0..=self.graded.max(self.binary), [self.pairs, self.first_pairs])
            })
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        // The longest first, so that no thread is left alone with it.
        for &queries in [sizes.more].iter().chain(sizes.train.iter().rev()) {
            for measure in MEASURES.into_iter().filter(|measure| queries != sizes.more || *measure == MRR) {
                let key = format!("function {function} queries {queries} {}", measure.title).to_lowercase();
                jobs.push(Job { key, work: queries as f64, what: Cell { function, queries, measure } });
            }
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let Cell { function, queries, .. } = job.what;
        let seed = seed_of(execution.session, function);
        // Test and validation queries first: they are the same for all sizes.
        let sets =
            kept.get((function, queries), || parts(&data(FEATURES, seed), [sizes.test, sizes.valid, queries]))?;
        run_cell(&sizes, &job.what, &sets, seed, ticker)
    })?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &sizes, &runs)
}

fn run_cell(
    sizes: &Sizes,
    cell: &Cell,
    [test, valid, train]: &[Dataset; 3],
    seed: u64,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let (objective, metric) = (cell.measure.lambdarank()?, cell.measure.metric()?);
    let how = (NetShape::TwoLayer, seed, Updates::PerQuery);
    let (Tuned { best: rate, tried, at_edge }, trained) =
        train_tuned((&objective, &*metric), &sizes.schedule, how, [train, valid], (ticker, [0.0, 1.0]))?;
    let mut judged = vec![];
    for measure in MEASURES {
        judged.push(trained.best.mean(test, &*measure.metric()?)?);
    }
    Ok(Found {
        rate,
        tried,
        at_edge,
        best_epoch: trained.best_epoch,
        epochs: trained.epochs.len(),
        pairs: effective(&trained),
        first_pairs: trained.epochs.first().map_or(0.0, |epoch| epoch.pairs as f64),
        graded: possible(train, |label| label),
        binary: possible(train, |label| f32::from(u8::from(label >= 2.0))),
        test: judged,
    })
}

/// Mean pairs with a force per epoch, up to the best epoch.
fn effective(trained: &Trained) -> f64 {
    let epochs = &trained.epochs[..trained.best_epoch.clamp(1, trained.epochs.len())];
    mean(&epochs.iter().map(|epoch| epoch.pairs as f64).collect::<Vec<_>>())
}

/// Pairs of documents of one query whose labels are told apart.
fn possible(data: &Dataset, level: impl Fn(f32) -> f32) -> f64 {
    let pairs = |labels: &[f32]| {
        let levels: Vec<f32> = labels.iter().map(|&label| level(label)).collect();
        let with = |at: usize| levels[..at].iter().filter(|other| **other != levels[at]).count();
        (0..levels.len()).map(with).sum::<usize>()
    };
    data.queries().map(|query| pairs(query.labels)).sum::<usize>() as f64
}

/// The mean difference of two curves over the range that both have, each joined by straight lines; nothing where there is no such range.
/// Points are in rising order.
fn difference(one: &[(f64, f64)], other: &[(f64, f64)]) -> Option<f64> {
    let low = one.first()?.0.max(other.first()?.0);
    let high = one.last()?.0.min(other.last()?.0);
    if low > high {
        return None;
    }
    let at = |curve: &[(f64, f64)], x: f64| -> f64 {
        let right = curve.iter().position(|point| point.0 >= x).unwrap_or(curve.len() - 1).max(1).min(curve.len() - 1);
        let ((x0, y0), (x1, y1)) = (curve[right.saturating_sub(1)], curve[right]);
        if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y1 }
    };
    const PLACES: usize = 33;
    let place = |number: usize| low + (high - low) * number as f64 / (PLACES - 1) as f64;
    Some((0..PLACES).map(place).map(|x| at(one, x) - at(other, x)).sum::<f64>() / PLACES as f64)
}

/// The runs of one training measure on one function, in the order of their sizes.
fn series<'a>(runs: &[(&'a Cell, &'a Found)], function: u64, measure: Measure) -> Vec<(&'a Cell, &'a Found)> {
    let mut own: Vec<_> =
        runs.iter().filter(|(cell, _)| cell.function == function && cell.measure == measure).copied().collect();
    own.sort_by_key(|(cell, _)| cell.queries);
    own
}

/// log10 of the pairs and the test value by a measure, rising.
fn curve(runs: &[(&Cell, &Found)], function: u64, trained: Measure, test: Measure) -> Vec<(f64, f64)> {
    let point = |(_, found): (&Cell, &Found)| (found.pairs.max(1.0).log10(), found.test[place(test)]);
    let mut points: Vec<(f64, f64)> = series(runs, function, trained).into_iter().map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn place(measure: Measure) -> usize {
    MEASURES.iter().position(|other| *other == measure).unwrap_or(0)
}

fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let functions = || 0..sizes.functions;
    let (small, large) = (sizes.train[sizes.train.len() - 2], sizes.train[sizes.train.len() - 1]);
    let find = |function: u64, measure: Measure, queries: usize| {
        runs.iter()
            .find(|(cell, _)| cell.function == function && cell.measure == measure && cell.queries == queries)
            .map(|run| run.1)
    };
    let each = |value: &dyn Fn(u64) -> Option<f64>| functions().filter_map(value).collect::<Vec<f64>>();
    let log = |function, measure| find(function, measure, large).map(|found| found.pairs.max(1.0).log10());
    let mut evidence = vec![];
    for (more, less) in ORDER {
        let values = each(&|function| Some(log(function, more)? - log(function, less)?));
        evidence.push((format!("order {} {}", more.title, less.title), Evidence::rounded(values, 3)));
    }
    let orders =
        each(&|function| Some(find(function, MRR, large)?.binary.max(1.0).log10() - log(function, MRR)? - 1.5));
    evidence.push(("orders".into(), Evidence::rounded(orders.clone(), 2)));
    let mut equal_words = vec![];
    for (own, other) in EQUAL {
        let values = each(&|function| difference(&curve(runs, function, own, own), &curve(runs, function, other, own)));
        if values.len() > 1 && other == NDCG {
            equal_words.push(format!("{} {:+.4}", own.title, mean(&values)));
        }
        let found = match values.is_empty() {
            true => Evidence::missing("no function has a range of effective pairs that both trainings reach"),
            false => Evidence::units(values),
        };
        evidence.push((format!("equal {} {}", own.title, other.title), found));
    }
    for measure in [MRR, NDCG10] {
        let ahead = |function, queries| {
            let value = |trained| Some(find(function, trained, queries)?.test[place(measure)]);
            Some(value(NDCG)? - value(measure)?)
        };
        let shrinks = each(&|function| Some(ahead(function, small)? - ahead(function, large)?));
        evidence.push((format!("gap {}", measure.title), Evidence::units(shrinks)));
        let largest = each(&|function| Some(-ahead(function, large)?));
        evidence.push((format!("largest {}", measure.title), Evidence::units(largest)));
    }
    let most = PAPER_QUERIES * (10.0 * (PAPER_DOCUMENTS - 10.0) + 45.0);
    let words = format!(
        "at most {:.1} million pairs hold one of the top ten; MAP has {:.0} million",
        most / 1e6,
        PAPER_BINARY / 1e6
    );
    evidence.push(("own numbers".into(), Evidence::fact(most > PAPER_BINARY, words)));
    Ok(Report {
        evidence,
        controls: controls(runs),
        main: format!(
            "pairs per query: {}; at equal pairs, matching less NDCG: {}",
            MEASURES.map(|measure| format!("{} {}", measure.title, number(per_query(runs, measure, large)))).join(", "),
            equal_words.join(", ")
        ),
        tables: vec![pairs_table(runs, sizes), trainings(runs)],
        notes: vec![
            format!(
                "The order NDCG@10 before MAP depends on the length of lists, and contradicts the paper's own numbers. Every pair of a relevant and \
                 another document changes average precision when it swaps, so that MAP learns from all 27 million such pairs of the 10K web data. \
                 NDCG@10 learns only from pairs that hold one of the top ten documents: of {PAPER_DOCUMENTS} documents that is at most 10 x 148.7 + \
                 45 = 1,532 pairs per query, 15.3 million in all, even if all labels differed."
            ),
            "MRR's pairs become fewer as training goes on: a query whose top document is relevant has none (Eq. 11)."
                .into(),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions training sets of {} queries, and of {} for MRR alone; {} validation and {} test queries.",
                data_words(FEATURES),
                sizes.functions,
                sizes.train.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
                sizes.more,
                sizes.valid,
                sizes.test
            ),
            format!(
                "Training: two-layer nets of ten hidden units, LambdaRank with sigma 1, plain gradient descent, one update per query. {} The best \
                 validation epoch is judged on the test queries. Effective pairs are those with a force that is not 0.",
                super::tuned::words(&sizes.schedule, "threefold")
            ),
        ],
        deviations: deviations(execution.scale()),
        figure: figure::draw(&[panel(runs, sizes, MRR), panel(runs, sizes, NDCG10)])?,
    })
}

fn per_query(runs: &[(&Cell, &Found)], measure: Measure, queries: usize) -> f64 {
    let own = runs.iter().filter(|(cell, _)| cell.measure == measure && cell.queries == queries);
    mean(&own.map(|(_, found)| found.pairs / queries as f64).collect::<Vec<_>>())
}

/// NDCG has a force for every pair of different labels and MAP for every pair of a relevant and another document, whatever the ranking.
fn controls(runs: &[(&Cell, &Found)]) -> Vec<Control> {
    let all = |measure: Measure, bound: fn(&Found) -> f64, what: &str| {
        let own: Vec<&Found> =
            runs.iter().filter(|(cell, _)| cell.measure == measure).map(|(_, found)| *found).collect();
        let worst = own.iter().map(|found| (found.pairs / bound(found).max(1.0) - 1.0).abs()).fold(0.0, f64::max);
        Control {
            what: format!("{} has a force for every pair of {what}, in every epoch", measure.title),
            expected: "equal".into(),
            ours: format!("largest relative difference {worst:.1e}"),
            holds: worst < 1e-12,
        }
    };
    vec![
        all(NDCG, |found| found.graded, "different labels"),
        all(MAP, |found| found.binary, "a relevant and another document"),
    ]
}

fn pairs_table(runs: &[(&Cell, &Found)], sizes: &Sizes) -> Table {
    let head = [
        "training",
        "queries",
        "effective pairs per query and epoch",
        "in the first epoch",
        "share of pairs of different labels",
        "test NDCG",
        "test NDCG@10",
        "test MAP",
        "test MRR",
    ];
    let mut table = Table::titled("Effective pairs and test values, means over functions:", &head);
    for measure in MEASURES {
        for &queries in sizes.train.iter().chain([&sizes.more]) {
            let own: Vec<&Found> = runs
                .iter()
                .filter(|(cell, _)| cell.measure == measure && cell.queries == queries)
                .map(|run| run.1)
                .collect();
            if own.is_empty() {
                continue;
            }
            let average =
                |value: &dyn Fn(&Found) -> f64| mean(&own.iter().map(|found| value(found)).collect::<Vec<_>>());
            let mut row = vec![
                measure.title.to_owned(),
                queries.to_string(),
                number(average(&|found| found.pairs / queries as f64)),
                number(average(&|found| found.first_pairs / queries as f64)),
                format!("{:.1}%", 100.0 * average(&|found| found.pairs / found.graded)),
            ];
            row.extend(MEASURES.map(|test| format!("{:.4}", average(&|found| found.test[place(test)]))));
            table.row(row);
        }
    }
    table
}

fn trainings(runs: &[(&Cell, &Found)]) -> Table {
    let head = ["training, queries, function", "step size", "best epoch", "epochs", "tried: validation"];
    let mut table = Table::titled("How the trainings went:", &head);
    for (cell, found) in runs {
        let edge = if found.at_edge { " (at the end of what was tried)" } else { "" };
        table.row([
            format!("{}, {}, {}", cell.measure.title, cell.queries, cell.function),
            format!("{}{edge}", number(found.rate)),
            found.best_epoch.to_string(),
            found.epochs.to_string(),
            super::tuned::tried_cell(&found.tried),
        ]);
    }
    table
}

/// Figure 5: the test value by the number of effective pairs, means over functions.
fn panel(runs: &[(&Cell, &Found)], sizes: &Sizes, test: Measure) -> Panel {
    let mut all = vec![];
    for (colour, trained) in MEASURES.into_iter().enumerate() {
        let mut points: Vec<Point> = vec![];
        for &queries in sizes.train.iter().chain([&sizes.more]) {
            let own =
                runs.iter().filter(|(cell, _)| cell.measure == trained && cell.queries == queries).map(|run| run.1);
            let (x, y): (Vec<f64>, Vec<f64>) =
                own.map(|found| (found.pairs.max(1.0).log10(), found.test[place(test)])).unzip();
            if !x.is_empty() {
                let half = Spread::of(&y).map_or(0.0, |spread| spread.half);
                points.push((mean(&x), mean(&y), Some((mean(&y) - half, mean(&y) + half))));
            }
        }
        let name = format!("trained for {}", trained.title);
        all.push(Series { name, whose: Whose::Ours, colour, joined: true, points });
    }
    let (low, high) = all
        .iter()
        .flat_map(|series| &series.points)
        .fold((f64::MAX, f64::MIN), |ends, point| (ends.0.min(point.0), ends.1.max(point.0)));
    Panel {
        title: format!("{} by the number of effective pairs", test.title),
        x_label: "effective pairs per epoch, log10".into(),
        y_label: format!("test {}, 95% over functions", test.title),
        ticks: (low.floor() as i32..=high.ceil() as i32).map(|tick| (f64::from(tick), tick.to_string())).collect(),
        series: all,
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn deviations(scale: Scale) -> Vec<String> {
    let mut all = common_deviations(scale);
    all.push(
        "Lists have 50 documents; the paper's web data has 159. The gap to training for NDCG is of web data there, of artificial data here; the \
         paper's Figure 5 is of artificial data too."
            .into(),
    );
    all.push("The paper does not say of which epochs it counts pairs.".into());
    all
}

#[cfg(test)]
mod tests_of_curves {
    use super::*;

    #[test]
    fn curves_are_compared_where_both_are() {
        let one = [(0.0, 0.0), (2.0, 2.0)];
        let other = [(1.0, 0.0), (3.0, 0.0)];
        // From 1 to 2 the first runs from 1 to 2, the second stays at 0.
        assert!((difference(&one, &other).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(difference(&one, &[(5.0, 1.0), (6.0, 1.0)]), None);
        assert_eq!(difference(&one, &[(1.0, 0.25)]), Some(0.75));
    }

    #[test]
    fn pairs_of_different_levels_are_counted() {
        let data = Dataset::new(1, vec![0.0; 4], vec![0.0, 1.0, 2.0, 2.0], vec![("a".into(), 4)]).unwrap();
        assert_eq!(possible(&data, |label| label), 5.0);
        assert_eq!(possible(&data, |label| f32::from(u8::from(label >= 2.0))), 4.0);
    }
}
