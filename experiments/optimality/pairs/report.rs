//! Report: tables and Figure 5.

use super::count::{common, difference};
use super::{Cell, EQUAL, FEATURES, NetResult, ORDER, PAPER_BINARY, PAPER_DOCUMENTS, PAPER_QUERIES, Sizes};
use crate::harness::figure::{self, Legend, Panel, Series, Whose};
use crate::harness::units::mean;
use crate::harness::{Control, Evidence, Execution, Report};
use crate::optimality::setting::{MAP, METRICS, MRR, NDCG, NDCG10, PaperMetric, describe_data, deviations, mean_point};
use crate::optimality::tuned::{describe, limits_table};
use burnrank::internal::text::{Table, number};

/// The runs of one training metric on one function, by number of queries.
fn series<'a>(
    runs: &[(&'a Cell, &'a NetResult)],
    function: u64,
    metric: PaperMetric,
) -> Vec<(&'a Cell, &'a NetResult)> {
    let mut series: Vec<_> =
        runs.iter().filter(|(cell, _)| cell.function == function && cell.metric == metric).copied().collect();
    series.sort_by_key(|(cell, _)| cell.queries);
    series
}

/// log10 of the number of pairs and test value, in ascending order of pairs.
fn curve(runs: &[(&Cell, &NetResult)], function: u64, trained: PaperMetric, test: PaperMetric) -> Vec<(f64, f64)> {
    let point = |(_, result): (&Cell, &NetResult)| (result.pairs.max(1.0).log10(), result.test[test.index()]);
    let mut points: Vec<(f64, f64)> = series(runs, function, trained).into_iter().map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

pub fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &NetResult)]) -> anyhow::Result<Report> {
    let functions = || 0..sizes.functions;
    let (small, large) = (sizes.train[sizes.train.len() - 2], sizes.train[sizes.train.len() - 1]);
    let find = |function: u64, metric: PaperMetric, queries: usize| {
        runs.iter()
            .find(|(cell, _)| cell.function == function && cell.metric == metric && cell.queries == queries)
            .map(|run| run.1)
    };
    let each = |value: &dyn Fn(u64) -> Option<f64>| functions().filter_map(value).collect::<Vec<f64>>();
    let log = |function, metric| find(function, metric, large).map(|result| result.pairs.max(1.0).log10());
    let mut evidence = vec![];
    for (larger, smaller) in ORDER {
        let values = each(&|function| Some(log(function, larger)? - log(function, smaller)?));
        evidence.push((format!("order {} {}", larger.title, smaller.title), Evidence::rounded(values, 3)));
    }
    let orders =
        each(&|function| Some(find(function, MRR, large)?.binary.max(1.0).log10() - log(function, MRR)? - 1.5));
    evidence.push(("orders".into(), Evidence::rounded(orders.clone(), 2)));
    let mut equal_text = vec![];
    for (own, other) in EQUAL {
        let values = each(&|function| difference(&curve(runs, function, own, own), &curve(runs, function, other, own)));
        if values.len() > 1 && other == NDCG {
            equal_text.push(format!("{} {:+.4}", own.title, mean(&values)));
        }
        let evidence_of = match values.is_empty() {
            true => Evidence::missing("no function has a range of effective pairs that both trainings cover"),
            false => Evidence::units(values),
        };
        evidence.push((format!("equal {} {}", own.title, other.title), evidence_of));
    }
    for metric in [MRR, NDCG10] {
        let ahead = |function, queries| {
            let value = |trained| Some(find(function, trained, queries)?.test[metric.index()]);
            Some(value(NDCG)? - value(metric)?)
        };
        let shrinks = each(&|function| Some(ahead(function, small)? - ahead(function, large)?));
        evidence.push((format!("gap {}", metric.title), Evidence::units(shrinks)));
        let largest = each(&|function| Some(-ahead(function, large)?));
        evidence.push((format!("largest {}", metric.title), Evidence::units(largest)));
    }
    let maximum = PAPER_QUERIES * (10.0 * (PAPER_DOCUMENTS - 10.0) + 45.0);
    let numbers = format!(
        "at most {:.1} million pairs contain one of the top ten; MAP has {:.0} million",
        maximum / 1e6,
        PAPER_BINARY / 1e6
    );
    evidence.push(("own numbers".into(), Evidence::fact(maximum > PAPER_BINARY, numbers)));
    Ok(Report {
        evidence,
        controls: controls(runs),
        main: format!(
            "pairs per query: {}; at equal pairs, matching minus NDCG: {}",
            METRICS
                .map(|metric| {
                    let pairs = average(runs, metric, large, |result| result.pairs / large as f64);
                    format!("{} {}", metric.title, number(pairs))
                })
                .join(", "),
            equal_text.join(", ")
        ),
        tables: vec![
            pairs_table(runs, sizes),
            equal_table(runs, sizes),
            limits_table(
                &sizes.schedule,
                runs.iter().map(|(cell, result)| {
                    (format!("for {}, {} queries", cell.metric.title, cell.queries), &result.record)
                }),
            ),
        ],
        notes: vec![
            format!(
                "The order NDCG@10 before MAP depends on the length of the lists and contradicts the paper's own \
                 numbers. Swapping any relevant/non-relevant pair changes average precision, so MAP learns from all 27 \
                 million such pairs of the 10K web data. NDCG@10 learns only from pairs that contain one of the top \
                 ten documents: with {PAPER_DOCUMENTS} documents, at most 10 x 148.7 + 45 = 1,532 pairs per query or \
                 15.3 million in all, even if all labels differed."
            ),
            fewer_pairs(runs, sizes),
            training_fit(runs, sizes),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions: training sets of {} queries, and of {} for MRR only; {} \
                 validation and {} test queries.",
                describe_data(FEATURES),
                sizes.functions,
                sizes.train.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
                sizes.mrr_train,
                sizes.valid,
                sizes.test
            ),
            format!(
                "Training: two-layer nets of ten hidden units, LambdaRank with sigma 1, plain gradient descent, one \
                 update per query. {} The weights of the best validation epoch are evaluated on the test queries. \
                 Effective pairs are pairs with a lambda other than 0. Each net is trained once, with one seed.",
                describe(&sizes.schedule, "threefold")
            ),
        ],
        deviations: deviations(
            execution.scale(),
            [
                "Lists have 50 documents; those of the paper's web data have 159. The paper's gap to training for NDCG \
                 is of web data, ours of artificial data, like the paper's Figure 5."
                    .into(),
                "The paper does not say over which epochs it counts pairs.".into(),
            ],
        ),
        figure: figure::draw(&[panel(runs, sizes, MRR), panel(runs, sizes, NDCG10)])?,
        other_data: true,
        ..Report::default()
    })
}

/// The runs with a training metric and a number of queries.
fn runs_of<'a>(
    runs: &'a [(&Cell, &NetResult)],
    metric: PaperMetric,
    queries: usize,
) -> impl Iterator<Item = &'a NetResult> {
    runs.iter().filter(move |(cell, _)| cell.metric == metric && cell.queries == queries).map(|run| run.1)
}

/// Mean of a value over the functions.
fn average(
    runs: &[(&Cell, &NetResult)],
    metric: PaperMetric,
    queries: usize,
    value: impl Fn(&NetResult) -> f64,
) -> f64 {
    mean(&runs_of(runs, metric, queries).map(value).collect::<Vec<_>>())
}

/// Describes how MRR's number of pairs changes during training.
fn fewer_pairs(runs: &[(&Cell, &NetResult)], sizes: &Sizes) -> String {
    let grows = |queries: &&usize| {
        average(runs, MRR, **queries, |r| r.pairs) >= average(runs, MRR, **queries, |r| r.first_pairs)
    };
    let all: Vec<String> = sizes.train.iter().chain([&sizes.mrr_train]).filter(grows).map(usize::to_string).collect();
    let except = if all.is_empty() { String::new() } else { format!(", except with {} queries", all.join(" or ")) };
    format!(
        "A query whose top document is relevant has no pairs for MRR (Eq. 11): the number of MRR's pairs falls after \
         the first epoch{except}."
    )
}

/// Says whether training for MRR generalises badly, or does not even fit its training queries.
fn training_fit(runs: &[(&Cell, &NetResult)], sizes: &Sizes) -> String {
    let large = sizes.train[sizes.train.len() - 1];
    let fitted = average(runs, MRR, sizes.mrr_train, |result| result.train);
    let general = average(runs, NDCG, large, |result| result.test[MRR.index()]);
    let conclusion = match fitted < general {
        true => {
            "the small number of pairs alone does not explain this, because training for MRR does not even fit its \
             training queries as well"
        }
        false => "the gap on test queries does not appear on training queries",
    };
    format!(
        "Training for MRR on {} queries reaches an MRR of {fitted:.4} on these queries; training for NDCG on {large} queries \
         reaches {general:.4} on test queries: {conclusion}.",
        sizes.mrr_train
    )
}

/// Controls: with any ranking NDCG has a lambda for every pair of different labels, and MAP for every relevant/non-relevant
/// pair.
fn controls(runs: &[(&Cell, &NetResult)]) -> Vec<Control> {
    let all = |metric: PaperMetric, bound: fn(&NetResult) -> f64, what: &str| {
        let own: Vec<&NetResult> =
            runs.iter().filter(|(cell, _)| cell.metric == metric).map(|(_, result)| *result).collect();
        let worst = own.iter().map(|result| (result.pairs / bound(result).max(1.0) - 1.0).abs()).fold(0.0, f64::max);
        Control {
            description: format!("{} has a lambda for every {what} pair, in every epoch", metric.title),
            expected: "equal".into(),
            ours: format!("largest relative difference {worst:.1e}"),
            holds: worst < 1e-12,
        }
    };
    vec![
        all(NDCG, |result| result.graded, "different-label"),
        all(MAP, |result| result.binary, "relevant/non-relevant"),
    ]
}

fn pairs_table(runs: &[(&Cell, &NetResult)], sizes: &Sizes) -> Table {
    let head = [
        "training",
        "queries",
        "effective pairs per query and epoch",
        "in the first epoch",
        "share of pairs of different labels",
        "training metric on training queries",
        "test NDCG",
        "test NDCG@10",
        "test MAP",
        "test MRR",
    ];
    let mut table = Table::titled("Effective pairs and test values, means over functions:", &head);
    for metric in METRICS {
        for &queries in sizes.train.iter().chain([&sizes.mrr_train]) {
            if runs_of(runs, metric, queries).next().is_none() {
                continue;
            }
            let average = |value: &dyn Fn(&NetResult) -> f64| average(runs, metric, queries, value);
            let mut row = vec![
                metric.title.to_owned(),
                queries.to_string(),
                number(average(&|result| result.pairs / queries as f64)),
                number(average(&|result| result.first_pairs / queries as f64)),
                format!("{:.1}%", 100.0 * average(&|result| result.pairs / result.graded)),
                format!("{:.4}", average(&|result| result.train)),
            ];
            row.extend(METRICS.map(|test| format!("{:.4}", average(&|result| result.test[test.index()]))));
            table.row(row);
        }
    }
    table
}

/// Ranges in which two trainings are compared at equal numbers of pairs.
fn equal_table(runs: &[(&Cell, &NetResult)], sizes: &Sizes) -> Table {
    let title = "Ranges of effective pairs per epoch in which both trainings are compared (lowest and highest end over \
                 functions), and the nearest numbers of training queries:";
    let head = ["test metric", "trainings", "functions", "from", "to", "queries of the first", "of the second"];
    let mut table = Table::titled(title, &head);
    for (own, other) in EQUAL {
        let curves = |function| [own, other].map(|trained| curve(runs, function, trained, own));
        let ranges: Vec<(u64, (f64, f64))> =
            (0..sizes.functions).filter_map(|f| common(&curves(f)).map(|range| (f, range))).collect();
        let lowest = ranges.iter().map(|(_, range)| range.0).fold(f64::INFINITY, f64::min);
        let highest = ranges.iter().map(|(_, range)| range.1).fold(f64::NEG_INFINITY, f64::max);
        let queries = |trained: PaperMetric| -> String {
            let near = |&(function, (low, high)): &(u64, (f64, f64))| {
                let own = series(runs, function, trained);
                let distance = |result: &NetResult, to: f64| (result.pairs.max(1.0).log10() - to).abs();
                [low, high].map(|end| {
                    let nearest = own.iter().min_by(|a, b| distance(a.1, end).total_cmp(&distance(b.1, end)));
                    nearest.map_or(0, |(cell, _)| cell.queries)
                })
            };
            let all: Vec<usize> = ranges.iter().flat_map(near).collect();
            format!("{} to {}", all.iter().min().unwrap_or(&0), all.iter().max().unwrap_or(&0))
        };
        let (from, to, first, second) = match ranges.is_empty() {
            true => ("-".into(), "-".into(), "-".into(), "-".into()),
            false => (number(10f64.powf(lowest)), number(10f64.powf(highest)), queries(own), queries(other)),
        };
        let trainings = format!("{} and {}", own.title, other.title);
        table.row([own.title.to_owned(), trainings, ranges.len().to_string(), from, to, first, second]);
    }
    table
}

/// Figure 5: the test value by the number of effective pairs, means over functions.
fn panel(runs: &[(&Cell, &NetResult)], sizes: &Sizes, test: PaperMetric) -> Panel {
    let mut all = vec![];
    for (colour, trained) in METRICS.into_iter().enumerate() {
        let mut points = vec![];
        for &queries in sizes.train.iter().chain([&sizes.mrr_train]) {
            let (x, y): (Vec<f64>, Vec<f64>) = runs_of(runs, trained, queries)
                .map(|result| (result.pairs.max(1.0).log10(), result.test[test.index()]))
                .unzip();
            if !x.is_empty() {
                points.push(mean_point(mean(&x), &y, 1.0));
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
        y_label: format!("test {}", test.title),
        ticks: (low.floor() as i32..=high.ceil() as i32).map(|tick| (f64::from(tick), tick.to_string())).collect(),
        series: all,
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}
