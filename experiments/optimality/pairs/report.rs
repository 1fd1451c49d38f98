//! Report: tables and Figure 5.

use super::count::common;
use super::{
    EQUAL, FEATURES, Lists, NetResult, PAPER_BINARY, PAPER_DOCUMENTS, PAPER_GRADED, PAPER_QUERIES, Results, Sizes,
    most_of_ten, tested, two_largest,
};
use crate::harness::figure::{self, Legend, Panel, Series, Whose};
use crate::harness::units::mean;
use crate::harness::{Control, Execution, Report, evidence};
use crate::optimality::setting::{
    ALL_TRAININGS, EQ11, METRICS, MRR, NDCG10, PaperMetric, TRAININGS, TWO_FORMS, Training, describe_data, deviations,
    mean_point,
};
use crate::optimality::tuned::{describe, limits_table};
use burnrank::internal::text::{Table, number};

pub fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &Results) -> anyhow::Result<Report> {
    let [documents, queries] = [sizes.long.0, sizes.long.1];
    let millions = ALL_TRAININGS.map(|training| {
        let pairs = PAPER_QUERIES * average(runs, training, Lists::Long, |net| net.pairs) / queries as f64;
        format!("{} {}", training.title, number(pairs / 1e6))
    });
    let evidence = evidence(&tested(execution.scale()), runs);
    Ok(Report {
        controls: controls(runs),
        main: format!(
            "effective pairs in millions for 10,000 queries of {documents} documents: {}",
            millions.join(", ")
        ),
        tables: vec![
            counts_table(runs, sizes),
            pairs_table(runs, sizes),
            equal_table(runs, sizes),
            limits_table(
                &sizes.schedule,
                runs.iter()
                    .map(|(cell, net)| (format!("for {}, {}", cell.training.title, cell.lists.name()), &net.record)),
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
            TWO_FORMS.into(),
            training_fit(runs, sizes),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions: training sets of {} queries, and of {} for MRR only; {} \
                 validation and {} test queries. Pairs are counted on {queries} training queries of {documents} documents.",
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
                "Test values are of lists of 50 documents; those of the paper's web data have 159. The paper's gap to \
                 training for NDCG is of web data, ours of artificial data, like the paper's Figure 5."
                    .into(),
                "The paper does not say over which epochs it counts pairs.".into(),
            ],
        ),
        figure: figure::draw(&[panel(runs, sizes, MRR), panel(runs, sizes, NDCG10)])?,
        other_data: true,
        evidence,
        ..Report::default()
    })
}

impl Lists {
    fn name(self) -> String {
        match self {
            Lists::Short(queries) => format!("{queries} queries"),
            Lists::Long => "long lists".into(),
        }
    }
}

/// Mean of a value over the functions.
fn average(runs: &Results, training: Training, lists: Lists, value: impl Fn(&NetResult) -> f64) -> f64 {
    runs.mean(|cell| cell.training == training && cell.lists == lists, value)
}

/// Says whether training for MRR generalises badly, or does not even fit its training queries.
fn training_fit(runs: &Results, sizes: &Sizes) -> String {
    let (most, [_, large]) = (sizes.mrr_train, two_largest(sizes));
    let fitted = |training| average(runs, training, Lists::Short(most), |net| net.train);
    let general = average(runs, TRAININGS[0], Lists::Short(large), |net| net.test[MRR.index()]);
    format!(
        "On {most} queries, training for MRR reaches an MRR of {:.4} on these queries in the swap form and {:.4} by Eq. 11; \
         training for NDCG on {large} queries reaches {general:.4} on test queries. Where the former is lower, the small \
         number of pairs alone does not explain the gap.",
        fitted(TRAININGS[3]),
        fitted(EQ11)
    )
}

/// Controls: with any ranking NDCG has a lambda for every pair of different labels, and MAP for every relevant/non-relevant
/// pair.
fn controls(runs: &Results) -> Vec<Control> {
    let all = |training: Training, bound: fn(&NetResult) -> f64, what: &str| {
        let own = runs.results(|cell| cell.training == training);
        let worst = own.map(|net| (net.pairs / bound(net).max(1.0) - 1.0).abs()).fold(0.0, f64::max);
        Control {
            description: format!("{} has a lambda for every {what} pair, in every epoch", training.title),
            expected: "equal".into(),
            ours: format!("largest relative difference {worst:.1e}"),
            holds: worst < 1e-12,
        }
    };
    vec![
        all(TRAININGS[0], |net| net.graded, "different-label"),
        all(TRAININGS[2], |net| net.binary, "relevant/non-relevant"),
    ]
}

/// Pairs on lists as long as the paper's, next to its own counts.
fn counts_table(runs: &Results, sizes: &Sizes) -> Table {
    let (documents, queries) = sizes.long;
    let title = format!(
        "Pairs in millions for 10,000 queries of {documents} documents (means over functions, from {queries} queries), and the \
         paper's own counts for 10,000 queries of {PAPER_DOCUMENTS}:"
    );
    let mut table = Table::titled(title, &["pairs", "here", "here, in the first epoch", "paper"]);
    let count = |training, value: fn(&NetResult) -> f64| {
        number(PAPER_QUERIES / 1e6 * average(runs, training, Lists::Long, value) / queries as f64)
    };
    let [ndcg, _, map, _] = TRAININGS;
    let million = |pairs: f64| number(pairs / 1e6);
    let mut row =
        |name: &str, here: String, first: String, paper: String| table.row([name.to_owned(), here, first, paper]);
    row("of different labels", count(ndcg, |net| net.graded), "-".into(), million(PAPER_GRADED));
    row("relevant/non-relevant", count(map, |net| net.binary), "-".into(), million(PAPER_BINARY));
    for (training, paper) in ALL_TRAININGS.into_iter().zip([
        "\"within a constant\" of 73".to_owned(),
        format!("fewer than NDCG; at most {}", million(most_of_ten())),
        "\"within a constant\" of 27".into(),
        "-".into(),
        "0.27 to 2.7 (1 to 2 orders fewer than 27)".into(),
    ]) {
        let (here, first) = (count(training, |net| net.pairs), count(training, |net| net.first_pairs));
        row(&format!("effective, {}", training.title), here, first, paper);
    }
    table
}

fn pairs_table(runs: &Results, sizes: &Sizes) -> Table {
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
    let mut table =
        Table::titled("Lists of 50 documents: effective pairs and test values, means over functions:", &head);
    for training in ALL_TRAININGS {
        for &queries in sizes.train.iter().chain([&sizes.mrr_train]) {
            let average = |value: &dyn Fn(&NetResult) -> f64| average(runs, training, Lists::Short(queries), value);
            if average(&|net| net.pairs).is_nan() {
                continue;
            }
            let mut row = vec![
                training.title.to_owned(),
                queries.to_string(),
                number(average(&|net| net.pairs / queries as f64)),
                number(average(&|net| net.first_pairs / queries as f64)),
                format!("{:.1}%", 100.0 * average(&|net| net.pairs / net.graded)),
                format!("{:.4}", average(&|net| net.train)),
            ];
            row.extend(METRICS.map(|test| format!("{:.4}", average(&|net| net.test[test.index()]))));
            table.row(row);
        }
    }
    table
}

/// Ranges in which two trainings are compared at equal numbers of pairs.
fn equal_table(runs: &Results, sizes: &Sizes) -> Table {
    let title = "Ranges of effective pairs per epoch in which both trainings are compared (lowest and highest end over \
                 functions):";
    let mut table = Table::titled(title, &["test metric", "trainings", "functions", "from", "to"]);
    for [own, other] in EQUAL {
        let curves = |function| [own, other].map(|trained| runs.curve(function, trained, own.metric));
        let ranges: Vec<(f64, f64)> = (0..sizes.functions).filter_map(|function| common(&curves(function))).collect();
        let lowest = ranges.iter().map(|range| range.0).fold(f64::INFINITY, f64::min);
        let highest = ranges.iter().map(|range| range.1).fold(f64::NEG_INFINITY, f64::max);
        let ends: [String; 2] = match ranges.is_empty() {
            true => ["-".into(), "-".into()],
            false => [lowest, highest].map(|end| number(10f64.powf(end))),
        };
        let trainings = format!("{} and {}", own.title, other.title);
        table.row(
            [own.metric.title.to_owned(), trainings, ranges.len().to_string()]
                .into_iter()
                .chain(ends)
                .collect::<Vec<_>>(),
        );
    }
    table
}

/// Figure 5: the test value by the number of effective pairs, means over functions.
fn panel(runs: &Results, sizes: &Sizes, test: PaperMetric) -> Panel {
    let mut all = vec![];
    for (colour, trained) in ALL_TRAININGS.into_iter().enumerate() {
        let mut points = vec![];
        for &queries in sizes.train.iter().chain([&sizes.mrr_train]) {
            let own = || runs.results(|cell| cell.training == trained && cell.lists == Lists::Short(queries));
            let x: Vec<f64> = own().map(|net| net.pairs.max(1.0).log10()).collect();
            let y: Vec<f64> = own().map(|net| net.test[test.index()]).collect();
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
