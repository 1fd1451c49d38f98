//! The papers' own slips: where the printed text is wrong or contradicts itself.

use super::slips;
use crate::approximation::margin;
use crate::harness::facts::{self, Fact};
use crate::harness::figure::{Figure, Panel, Series, draw};
use crate::harness::{Claim, Execution, Experiment, Kind, Paper, Report, Session};
use serde_json::Value;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "errata",
    kind: Kind::Paper,
    paper: Paper::Several,
    place: "slips in the text of all five papers",
    claim: "Each claim here is ours: \"as printed, the paper's text is wrong or contradicts itself at this place\". \
            'Reproduced' means that the slip is confirmed.",
    time: "a second",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const COMPUTED: &str = "computed from the printed formula or table";
const WORDS: &str = "two quotations side by side; nothing to compute";

const fn slip(id: &'static str, statement: &'static str, paper: &'static str, check: facts::Check) -> Fact {
    Fact { id, primary: true, statement, paper, convention: COMPUTED, check }
}

const FACTS: &[Fact] = &[
    slip(
        "ranknet-table-2",
        "RankNet, section 5.2: Table 2 is said to show errors, but shows accuracies",
        "\"The Table shows the pairwise test error\"; 0.595, 0.670, 0.681, 0.690",
        slips::ranknet_table_2,
    ),
    slip(
        "ranknet-table-1",
        "RankNet, section 5.1: Table 1 is said to show test errors, its caption says percent correct",
        "\"Table 1 shows the test error\"; \"Test Pairwise % Correct\"",
        slips::ranknet_table_1,
    ),
    slip(
        "ranknet-theorem",
        "RankNet, section 3.1: the theorem allows posteriors of 0 and 1, with which it does not hold",
        "\"an arbitrary target posterior 0 <= P <= 1\" is \"sufficient to uniquely identify\" all",
        slips::ranknet_theorem,
    ),
    slip(
        "ranknet-lemma",
        "RankNet, section 3.1: the lemma's strict increase for P > 1/2 does not hold for P = 1",
        "\"increases strictly monotonically with n\"",
        slips::ranknet_lemma,
    ),
    slip(
        "lambdarank-slopes",
        "LambdaRank, section 6.1: V1 is called both close to quadratic and close to linear; the second must be V2",
        "\"slopes of V1 and V2 to be 1.943 and 1.185\"; \"V1 is close to quadratic ... and V1 is close to linear\"",
        slips::lambdarank_slopes,
    ),
    Fact {
        convention: WORDS,
        ..slip(
            "lambdarank-caption",
            "LambdaRank, Figure 1: caption and text say different things of the right panel",
            "caption: \"Right: two layer nets\"; text: \"The right panel shows a log log plot of training time versus \
             number of documents\"",
            slips::quoted,
        )
    },
    slip(
        "hessian-sign",
        "LambdaRank, section 4, and Function Approximation, section 6: the Hessian is not the Jacobian of the lambdas \
         but minus it",
        "lambda = -dC/ds; \"its Hessian is just the above Jacobian\", to be \"positive semidefinite\"",
        slips::hessian_is_minus_jacobian,
    ),
    slip(
        "regulariser-sign",
        "Both 2006 papers: the regulariser alpha s therefore makes the cost less convex as printed; it must be \
         subtracted",
        "lambda becomes lambda + alpha s, alpha > 0, for \"positive definiteness\"",
        slips::regulariser_sign,
    ),
    slip(
        "wta-equation",
        "Function Approximation, Eq. 3: the formula is the accuracy, the words before it say cost",
        "\"If the top ranked document ... is relevant, the WTA cost is zero\"; WTA = mean of delta(l_1, 1)",
        slips::wta_equation,
    ),
    slip(
        "margin-jump",
        "Function Approximation, Eq. 26-28: the push jumps where the pair ties unless the margin is 1, where Figure 2 \
         and the text have it smooth",
        "\"the gradient goes smoothly to zero\"; 1 for x < 0, delta - x from 0 to delta",
        slips::margin_jump,
    ),
    slip(
        "optimality-mrr",
        "Local optimality, section 7.2: Table 3 does not have the highest MRR from training on NDCG",
        "\"the highest test accuracy for MRR comes from training on mean NDCG\"; 0.546, with NDCG@10 0.548",
        slips::optimality_mrr,
    ),
    slip(
        "optimality-mark",
        "Local optimality, Table 3: a difference of seven standard errors is marked as not significant, a smaller one \
         as significant",
        "NDCG@10: 0.442 +- 0.002 against 0.422 +- 0.002, \"N\"",
        slips::optimality_mark,
    ),
    Fact {
        convention: WORDS,
        ..slip(
            "optimality-pairs",
            "Local optimality, section 7.2: NDCG@10 is said to learn from fewer pairs than itself; the last must be \
             NDCG",
            "\"both MRR and NDCG@10 learn from fewer effective pairs than NDCG@10\"; \"mean NDCG has more effective \
             pairs ... than mean NDCG@10\"",
            slips::quoted,
        )
    },
    slip(
        "lambdaloss-eq-9",
        "LambdaLoss, Eq. 9: the second line lacks a minus",
        "minus the sum over rankings of P log P(y) is about \"1/K sum of log P(y)\"",
        slips::lambdaloss_eq_9,
    ),
    slip(
        "lambdaloss-discount",
        "LambdaLoss, section 5.2: for MRR-like metrics D_i must be i, not 1/i",
        "\"using G_i = y_i and D_i = 1/i\"",
        slips::lambdaloss_discount,
    ),
    slip(
        "lambdaloss-gain",
        "LambdaLoss, section 5.4: the scaled gain G' is 0/0 or infinite at rank 1",
        "G' = G (1 - 1/D_i') / (1 - 1/D_i), D_1 = 1",
        slips::lambdaloss_gain,
    ),
    slip(
        "lambdaloss-text",
        "LambdaLoss, section 7.1: NDCG-Loss2 is said to be better than ARP-Loss1, which Table 3 does not show \
         everywhere",
        "\"NDCG-Loss2 is also better than ARP-Loss1 and ARP-Loss2\"",
        slips::lambdaloss_text,
    ),
    Fact {
        primary: false,
        ..slip(
            "lambdaloss-tables",
            "LambdaLoss, Tables 3 and 4: opposite orders of NDCG-Loss2 and LambdaMART, which the text puts down to \
             overfitting",
            "\"NDCG-Loss2 tuned using validation data set does not perform well in LightGBM\"",
            slips::lambdaloss_tables,
        )
    },
    Fact {
        primary: false,
        ..slip(
            "piecewise-constant",
            "Function Approximation, section 6: that Eq. 33 holds trivially for piecewise constant lambdas does not \
             mean that they have a cost",
            "\"trivially satisfied\"; Eq. 33 is needed \"everywhere\"",
            slips::piecewise_constant,
        )
    },
    Fact {
        primary: false,
        ..slip(
            "ranknet-quadratic",
            "RankNet, Table 4: the test value of quadratic PRank does not fit its validation value; one of them may \
             be misprinted",
            "validation 0.379, test 0.327 +- 0.011",
            slips::ranknet_quadratic,
        )
    },
];

fn claims(_: &Session) -> Vec<Claim> {
    facts::claims(FACTS)
}

fn protocol(_: &Session) -> anyhow::Result<Value> {
    Ok(facts::protocol(FACTS))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    Ok(Report {
        notes: vec![
            "In this report 'holds' means: the slip is there. The column *paper* quotes what is printed.".into(),
            "Left: Eq. 26 to 28 of Function Approximation around a tie. Right: the metric that NDCG-Loss2 would \
             optimise for one relevant document, with D_i = i (it is the reciprocal rank) and with the printed D_i = \
             1/i (it grows the lower the document is)."
                .into(),
            "What was read is the text of the papers as extracted from their PDF files, in which a sign could be \
             lost: of the slips above this concerns the minus of LambdaLoss's Eq. 9. Missing primes in formulas of \
             back-propagation are not listed for that reason."
                .into(),
        ],
        protocol: vec![
            "A slip that can be computed is computed, from the printed formulas or tables; two statements that \
             contradict each other in words are quoted side by side."
                .into(),
        ],
        figure: figure()?,
        ..facts::report(execution, FACTS, "slips are confirmed")?
    })
}

fn figure() -> anyhow::Result<Figure> {
    let pushes = [0.5, 1.0, 1.5].into_iter().enumerate().map(|(colour, delta)| {
        Series::line(format!("margin {delta}"), colour, margin::quarters(-4, 8).map(|x| (x, margin::force(delta, x))))
    });
    let ranks = |discount: fn(f64) -> f64| (1..=6).map(move |rank| (f64::from(rank), 1.0 / discount(f64::from(rank))));
    draw(&[
        Panel {
            title: "Eq. 26-28: the push jumps at a tie".into(),
            x_label: "x = s1 - s2".into(),
            y_label: "push on the relevant document".into(),
            ticks: (-1..=2).map(|tick| (f64::from(tick), tick.to_string())).collect(),
            series: pushes.collect(),
            zero: Some(0.0),
            ..Panel::default()
        },
        Panel {
            title: "one relevant document: sum of G / D".into(),
            x_label: "its rank".into(),
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
