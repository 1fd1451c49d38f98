//! What the checks say, in a table and a figure.

use super::Sizes;
use super::lists::{self, SCALES, SIGMAS};
use super::sides::{CHECKS, Check, EQUAL, Found, ROUNDING};
use super::training::STEP;
use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::units::{less, mean};
use crate::harness::{Evidence, Execution, Report, Scale};
use crate::lambdaloss::curves;
use crate::lambdaloss::nets::point;
use burnrank::internal::text::{Table, fixed};

pub fn report(execution: &Execution<'_>, sizes: &Sizes, found: &[Found]) -> anyhow::Result<Report> {
    let lists: usize = found.iter().map(|found| found.lists).sum();
    let excess = |check: usize| found.iter().map(|found| found.excess[check]).fold(f64::NEG_INFINITY, f64::max);
    let mut evidence = vec![curves::zero_one(&SIGMAS), curves::sharper()];
    for (number, Check { id, equation, .. }) in CHECKS.iter().enumerate() {
        let most = excess(number);
        let words = if *equation { "largest difference" } else { "left less right at most" };
        let allowed = if *equation { EQUAL } else { ROUNDING };
        evidence.push((id.to_string(), Evidence::fact(most <= allowed, format!("{words} {most:.1e}, {lists} lists"))));
    }
    // Of each function, the distance of a bound from NDCGcost, the mean over all epochs.
    let functions = &found[1..];
    let slack = |bound: usize| -> Vec<f64> {
        let of = |found: &Found| mean(&found.epochs.iter().map(|epoch| epoch[bound] - epoch[0]).collect::<Vec<_>>());
        functions.iter().map(of).collect()
    };
    evidence.push(("tighter than NDCG-Loss1".into(), Evidence::rounded(less(&slack(1), &slack(2)), 3)));
    evidence.push(("tighter than LambdaRank".into(), Evidence::rounded(less(&slack(3), &slack(2)), 3)));
    let mut means = Table::titled(
        "NDCGcost and its bounds in training, means over functions, losses and queries:",
        &["epoch", "NDCGcost", NAMES[0], NAMES[1], NAMES[2]],
    );
    let at = |epoch: usize, bound: usize| functions.iter().map(|found| found.epochs[epoch][bound]).collect::<Vec<_>>();
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
    let mut deviations = vec![
        "Training here is that of linear scorers with steps of one length, so that bounds can be looked at after every \
         epoch. The paper proves its bounds for any scores, so that this cannot make a true one fail.".into(),
    ];
    if execution.scale() == Scale::Quick {
        deviations.push("Quick: few lists, functions and epochs.".into());
    }
    Ok(Report {
        evidence,
        controls: vec![lists::weakened(execution.session.seed)?],
        main,
        tables: vec![means],
        notes: vec![
            "Slips of the paper that the checks found: C2 of the average relevance position (section 5.1) must not \
             count a document with itself, else its equation is off by half of C1; in Eq. 16 it does not matter, as \
             delta_ii is 0. An excess is a share of the right side, or of 1 where that is smaller; lists with nothing \
             relevant have 0 on both sides."
                .into(),
            "NDCGcost hardly changes from the first epoch on: its steps, one per query, are about all that a linear scorer needs. \
             The bounds go on changing with the length of the weights, and are checked all the same."
                .into(),
            "Being nearer to NDCGcost depends on the scale of the scores: all bounds are of sigma 1 and of the scores \
             as they are in training."
                .into(),
        ],
        protocol: vec![
            format!(
                "Random lists: {} of 1 to 50 documents, labels 0 to 4 alike, normal scores of standard deviation \
                 {SCALES:?}, one list in five with rounded scores so that some are equal, sigma {SIGMAS:?}. Losses are \
                 those that are trained with (single precision); metrics, constants and sums over wrongly ordered \
                 pairs are computed as the paper writes them.",
                sizes.lists
            ),
            format!(
                "Training: {} random cubic polynomials, {} queries of 50 documents, 50 features, labels 0 to 4 for 52%, 32%, 13%, \
                 2% and 1% of the documents; linear scorers trained with each of the six losses for {} epochs, one step of \
                 length {STEP} per query; after every epoch all bounds are checked on all queries. The step is not tuned: \
                 bounds must hold however well a scorer is trained.",
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
    let line = |(bound, name): (usize, &str)| Series {
        name: name.into(),
        whose: Whose::Ours,
        colour: bound,
        joined: true,
        points: (0..sizes.epochs).map(|epoch| point((epoch + 1) as f64, &at(epoch, bound))).collect(),
    };
    let marks = [1, sizes.epochs / 2, sizes.epochs];
    Panel {
        title: "NDCGcost and its bounds in training".into(),
        x_label: "epoch".into(),
        y_label: "mean over queries".into(),
        ticks: marks.map(|epoch| (epoch as f64, epoch.to_string())).into(),
        series: ["NDCGcost", NAMES[0], NAMES[1], NAMES[2]].into_iter().enumerate().map(line).collect(),
        zero: Some(0.0),
        ..Panel::default()
    }
}
