//! Errors in the papers: places where the printed text is wrong or contradicts itself.

use super::errata_checks as checks;
use crate::approximation::margin;
use crate::harness::facts::{self, Fact};
use crate::harness::figure::{Figure, Panel, Series, draw};
use crate::harness::{Execution, Experiment, Headline, Kind, Paper, Report};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "errata",
    kind: Kind::Benchmark,
    paper: Paper::Several,
    place: "errors in the text of all five papers",
    claim: "Our own claims: at each place listed, the paper's printed text is wrong or contradicts itself.",
    short: "Text and formulas of the papers contain errors, each shown by computation.",
    headlines: &[Headline::new(
        "Errors in the text or formulas of the five papers",
        &[
            "ranknet-table-*",
            "ranknet-theorem",
            "ranknet-lemma",
            "lambdarank-*",
            "hessian-sign",
            "regulariser-sign",
            "wta-equation",
            "margin-jump",
            "optimality-*",
            "lambdaloss-eq-9",
            "lambdaloss-discount",
            "lambdaloss-gain",
            "lambdaloss-text",
        ],
    )],
    time: "a second",
    facts: FACTS,
    run,
    ..Experiment::BASE
};

const COMPUTED: &str = "computed from the printed formula or table";
const WORDS: &str = "two quotations side by side; nothing to compute";

const fn erratum(id: &'static str, statement: &'static str, paper: &'static str, check: facts::Check) -> Fact {
    Fact { id, statement, paper, convention: COMPUTED, check }
}

const FACTS: &[Fact] = &[
    erratum(
        "ranknet-table-2",
        "RankNet, section 5.2: Table 2 is said to show errors, but shows accuracies",
        "\"The Table shows the pairwise test error\"; 0.595, 0.670, 0.681, 0.690",
        checks::ranknet_table_2,
    ),
    erratum(
        "ranknet-table-1",
        "RankNet, section 5.1: Table 1 is said to show test errors, its caption says percent correct",
        "\"Table 1 shows the test error\"; \"Test Pairwise % Correct\"",
        checks::ranknet_table_1,
    ),
    erratum(
        "ranknet-theorem",
        "RankNet, section 3.1: the theorem allows posteriors of 0 and 1, with which it does not hold",
        "\"an arbitrary target posterior 0 <= P <= 1\" is \"sufficient to uniquely identify\" all",
        checks::ranknet_theorem,
    ),
    erratum(
        "ranknet-lemma",
        "RankNet, section 3.1: the lemma's strict increase for P > 1/2 does not hold for P = 1",
        "\"increases strictly monotonically with n\"",
        checks::ranknet_lemma,
    ),
    erratum(
        "lambdarank-slopes",
        "LambdaRank, section 6.1: V1 is called both close to quadratic and close to linear; the second must be V2",
        "\"slopes of V1 and V2 to be 1.943 and 1.185\"; \"V1 is close to quadratic ... and V1 is close to linear\"",
        checks::lambdarank_slopes,
    ),
    Fact {
        convention: WORDS,
        ..erratum(
            "lambdarank-caption",
            "LambdaRank, Figure 1: caption and text describe the right panel differently",
            "caption: \"Right: two layer nets\"; text: \"The right panel shows a log log plot of training time versus \
             number of documents\"",
            checks::quoted,
        )
    },
    erratum(
        "hessian-sign",
        "LambdaRank, section 4, and Function Approximation, section 6: the Hessian is not the Jacobian of the lambdas \
         but minus it",
        "lambda = -dC/ds; \"its Hessian is just the above Jacobian\", to be \"positive semidefinite\"",
        checks::hessian_is_minus_jacobian,
    ),
    erratum(
        "regulariser-sign",
        "Both 2006 papers: as printed, the regulariser alpha s therefore makes the cost less convex; it must be \
         subtracted",
        "lambda becomes lambda + alpha s, alpha > 0, for \"positive definiteness\"",
        checks::regulariser_sign,
    ),
    erratum(
        "wta-equation",
        "Function Approximation, Eq. 3: the formula is the accuracy, the text before it says cost",
        "\"If the top ranked document ... is relevant, the WTA cost is zero\"; WTA = mean of delta(l_1, 1)",
        checks::wta_equation,
    ),
    erratum(
        "margin-jump",
        "Function Approximation, Eq. 26-28: the lambda jumps at ties unless the margin is 1; Figure 2 and the text \
         show it as smooth",
        "\"the gradient goes smoothly to zero\"; 1 for x < 0, delta - x from 0 to delta",
        checks::margin_jump,
    ),
    erratum(
        "optimality-mrr",
        "Local optimality, section 7.2: in Table 3 training on NDCG does not have the highest MRR",
        "\"the highest test accuracy for MRR comes from training on mean NDCG\"; 0.546, with NDCG@10 0.548",
        checks::optimality_mrr,
    ),
    erratum(
        "optimality-mark",
        "Local optimality, Table 3: a difference of seven standard errors is marked as not significant, a smaller one \
         as significant",
        "NDCG@10: 0.442 +- 0.002 against 0.422 +- 0.002, \"N\"",
        checks::optimality_mark,
    ),
    Fact {
        convention: WORDS,
        ..erratum(
            "optimality-pairs",
            "Local optimality, section 7.2: NDCG@10 is said to learn from fewer pairs than itself; the last must be \
             NDCG",
            "\"both MRR and NDCG@10 learn from fewer effective pairs than NDCG@10\"; \"mean NDCG has more effective \
             pairs ... than mean NDCG@10\"",
            checks::quoted,
        )
    },
    erratum(
        "lambdaloss-eq-9",
        "LambdaLoss, Eq. 9: the second line lacks a minus",
        "minus the sum over rankings of P log P(y) is about \"1/K sum of log P(y)\"",
        checks::lambdaloss_eq_9,
    ),
    erratum(
        "lambdaloss-discount",
        "LambdaLoss, section 5.2: for MRR-like metrics D_i must be i, not 1/i",
        "\"using G_i = y_i and D_i = 1/i\"",
        checks::lambdaloss_discount,
    ),
    erratum(
        "lambdaloss-gain",
        "LambdaLoss, section 5.4: the scaled gain G' is 0/0 or infinite at rank 1",
        "G' = G (1 - 1/D_i') / (1 - 1/D_i), D_1 = 1",
        checks::lambdaloss_gain,
    ),
    erratum(
        "lambdaloss-text",
        "LambdaLoss, section 7.1: NDCG-Loss2 is said to be better than ARP-Loss1, which Table 3 does not show \
         everywhere",
        "\"NDCG-Loss2 is also better than ARP-Loss1 and ARP-Loss2\"",
        checks::lambdaloss_text,
    ),
    erratum(
        "lambdaloss-tables",
        "LambdaLoss, Tables 3 and 4: opposite orders of NDCG-Loss2 and LambdaMART, which the text attributes to \
         overfitting",
        "\"NDCG-Loss2 tuned using validation data set does not perform well in LightGBM\"",
        checks::lambdaloss_tables,
    ),
    erratum(
        "piecewise-constant",
        "Function Approximation, section 6: Eq. 33 holds trivially for piecewise constant lambdas, but that does \
         not mean that they have a cost",
        "\"trivially satisfied\"; Eq. 33 is needed \"everywhere\"",
        checks::piecewise_constant,
    ),
    erratum(
        "ranknet-quadratic",
        "RankNet, Table 4: the test value of quadratic PRank is inconsistent with its validation value; one of \
         them may be a misprint",
        "validation 0.379, test 0.327 +- 0.011",
        checks::ranknet_quadratic,
    ),
];

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    Ok(Report {
        notes: vec![
            "In this report a confirmed claim is a confirmed error. The column *paper* quotes the printed text.".into(),
            "Left: Eq. 26 to 28 of Function Approximation around a tie. Right: the metric that NDCG-Loss2 would \
             optimise for one relevant document, with D_i = i (the reciprocal rank) and with the printed D_i = 1/i \
             (which is larger for lower ranks)."
                .into(),
            "The source is the text extracted from the papers' PDF files, which may lose signs: among the errors above \
             this concerns the minus in LambdaLoss's Eq. 9. For the same reason missing primes in back-propagation \
             formulas are not listed."
                .into(),
        ],
        protocol: vec![
            "Errors in formulas and tables are verified by computation; statements that contradict each other in words \
             are quoted next to each other."
                .into(),
        ],
        figure: figure()?,
        ..facts::report(execution, FACTS, "errors are confirmed")?
    })
}

fn figure() -> anyhow::Result<Figure> {
    let lambdas = [0.5, 1.0, 1.5].into_iter().enumerate().map(|(colour, delta)| {
        Series::line(format!("margin {delta}"), colour, margin::quarters(-4, 8).map(|x| (x, margin::lambda(delta, x))))
    });
    let ranks = |discount: fn(f64) -> f64| (1..=6).map(move |rank| (f64::from(rank), 1.0 / discount(f64::from(rank))));
    draw(&[
        Panel {
            title: "Eq. 26 to 28: the lambda jumps at a tie".into(),
            x_label: "x = s1 - s2".into(),
            y_label: "lambda of the relevant document".into(),
            ticks: (-1..=2).map(|tick| (f64::from(tick), tick.to_string())).collect(),
            series: lambdas.collect(),
            zero: Some(0.0),
            ..Panel::default()
        },
        Panel {
            title: "One relevant document: sum of G / D".into(),
            x_label: "rank".into(),
            y_label: "metric".into(),
            ticks: (1..=6).map(|tick| (f64::from(tick), tick.to_string())).collect(),
            series: vec![
                Series::line("D = i: the reciprocal rank", 0, ranks(|i| i)),
                Series::line("D = 1/i, as printed", 1, ranks(|i| 1.0 / i)),
            ],
            ..Panel::default()
        },
    ])
}
