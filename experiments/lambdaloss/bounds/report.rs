//! Report of the checks: evidence, table and figure.

use super::Sizes;
use super::lists::{self, SCALES, SIGMAS};
use super::sides::{BoundChecks, CHECKS, Check, EQUAL, ROUNDING};
use super::training::STEP_LENGTH;
use crate::harness::comparison::{point, series};
use crate::harness::figure::{self, Panel};
use crate::harness::units::{less, mean};
use crate::harness::{Evidence, Execution, Report};
use crate::lambdaloss::{curves, deviations};
use burnrank::internal::text::{Table, fixed};

pub fn report(execution: &Execution<'_>, sizes: &Sizes, checks: &[BoundChecks]) -> anyhow::Result<Report> {
    let lists: usize = checks.iter().map(|checks| checks.lists).sum();
    let excess = |check: usize| checks.iter().map(|checks| checks.excess[check]).fold(f64::NEG_INFINITY, f64::max);
    let mut evidence = vec![curves::zero_one(&SIGMAS), curves::sharper()];
    for (number, Check { id, equation, .. }) in CHECKS.iter().enumerate() {
        let largest = excess(number);
        let words = if *equation { "largest difference" } else { "left minus right at most" };
        let tolerance = if *equation { EQUAL } else { ROUNDING };
        evidence.push((
            id.to_string(),
            Evidence::fact(largest <= tolerance, format!("{words} {largest:.1e}, {lists} lists")),
        ));
    }
    // Distance of a bound from NDCGcost, mean over all epochs, one number per function.
    let functions = &checks[1..];
    let slack = |bound: usize| -> Vec<f64> {
        let of =
            |checks: &BoundChecks| mean(&checks.epochs.iter().map(|epoch| epoch[bound] - epoch[0]).collect::<Vec<_>>());
        functions.iter().map(of).collect()
    };
    evidence.push(("tighter than NDCG-Loss1".into(), Evidence::rounded(less(&slack(1), &slack(2)), 3)));
    evidence.push(("tighter than LambdaRank".into(), Evidence::rounded(less(&slack(3), &slack(2)), 3)));
    let mut means = Table::titled(
        "NDCGcost and its bounds during training, means over functions, losses and queries:",
        &["epoch", "NDCGcost", NAMES[0], NAMES[1], NAMES[2]],
    );
    let at =
        |epoch: usize, bound: usize| functions.iter().map(|checks| checks.epochs[epoch][bound]).collect::<Vec<_>>();
    for epoch in [0, sizes.epochs / 2, sizes.epochs - 1] {
        let cells = (0..4).map(|bound| fixed(mean(&at(epoch, bound)), 3));
        means.row([(epoch + 1).to_string()].into_iter().chain(cells));
    }
    let main = format!(
        "{} equations and inequalities on {lists} lists; bounds are {}, {} and {} above NDCGcost on average \
         (NDCG-Loss1, NDCG-Loss2, LambdaRank)",
        CHECKS.len(),
        fixed(mean(&slack(1)), 2),
        fixed(mean(&slack(2)), 2),
        fixed(mean(&slack(3)), 2)
    );
    let deviations = deviations(
        execution.scale(),
        &[
            "Linear scorers are trained with updates of fixed length, and bounds are checked after every epoch. The paper proves \
           its bounds for all scores, so this choice cannot make a valid bound fail.",
        ],
        "Quick: few lists, functions and epochs.",
    );
    Ok(Report {
        evidence,
        controls: vec![lists::weakened(execution.session.seed)?],
        main,
        tables: vec![means],
        notes: vec![
            "Errata found by the checks: C2 of the average relevance position (section 5.1) must not pair a document with \
             itself, or its equation is off by half of C1; in Eq. 16 it does not matter, because delta_ii is 0. Excesses are \
             relative to the right side, or to 1 if that is smaller; lists without relevant documents have 0 on both sides."
                .into(),
            "NDCGcost hardly changes after the first epoch, whose updates (one per query) are enough for a linear scorer. The \
             bounds still change with the length of the weights."
                .into(),
            "The distance to NDCGcost depends on the scale of the scores: all bounds have sigma 1 and the scores of \
             training."
                .into(),
        ],
        protocol: vec![
            format!(
                "Random lists: {} of 1 to 50 documents, labels 0 to 4 with equal probability, normal scores of standard \
                 deviation {SCALES:?}, one list in five with rounded scores and therefore ties, sigma {SIGMAS:?}. Losses are the \
                 training objectives (single precision); metrics, constants and sums over wrongly ordered pairs follow the \
                 paper's formulas.",
                sizes.lists
            ),
            format!(
                "Training: {} random cubic polynomials, {} queries of 50 documents, 50 features, labels 0 to 4 for 52%, 32%, 13%, \
                 2% and 1% of the documents; linear scorers trained with each of the six losses for {} epochs, one update of \
                 length {STEP_LENGTH} per query; after every epoch all bounds are checked on all queries. The length is not \
                 tuned, because bounds must hold for every scorer.",
                sizes.functions, sizes.queries, sizes.epochs
            ),
        ],
        deviations,
        figure: figure::draw(&[curves::exponents(), curves::zero_one_panel(), training_panel(sizes, &at)])?,
        ..Report::default()
    })
}

const NAMES: [&str; 3] = ["NDCG-Loss1", "NDCG-Loss2", "LambdaRank"];

fn training_panel(sizes: &Sizes, at: &dyn Fn(usize, usize) -> Vec<f64>) -> Panel {
    let line = |(bound, name): (usize, &str)| {
        let points = (0..sizes.epochs).map(|epoch| point((epoch + 1) as f64, &at(epoch, bound)));
        series(name, bound, true, points.collect())
    };
    let marks = [1, sizes.epochs / 2, sizes.epochs];
    Panel {
        title: "NDCGcost and its bounds during training".into(),
        x_label: "epoch".into(),
        y_label: "mean over queries".into(),
        ticks: marks.map(|epoch| (epoch as f64, epoch.to_string())).into(),
        series: ["NDCGcost", NAMES[0], NAMES[1], NAMES[2]].into_iter().enumerate().map(line).collect(),
        zero: Some(0.0),
        ..Panel::default()
    }
}
