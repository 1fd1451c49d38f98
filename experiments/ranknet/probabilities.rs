//! Section 3 of the paper: the cost, combining probabilities, adjacency posteriors, and pairs that do not agree.

use super::posteriors::{self, cost, steps};
use super::three_items;
use crate::harness::facts::{self, Fact};
use crate::harness::figure::{Figure, Panel, Series, draw};
use crate::harness::{Claim, Execution, Experiment, Kind, Paper, Report, Session};
use burnrank::analysis::probability::combine;
use serde_json::Value;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-probabilities",
    kind: Kind::Paper,
    paper: Paper::RankNet,
    place: "section 3: Eq. 1 to 6, Figure 1, the theorem, the lemma and the remark on Bradley and Terry's model",
    claim: "The pair cost is linear for large errors and lowest at equal scores for a target of 1/2; probabilities \
            combine as Eq. 5 says, with fixed points 0, 1/2 and 1 only; adjacent posteriors determine all; pairs that \
            contradict each other or say too little can be trained.",
    time: "a few seconds",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const FACTS: &[Fact] = &[
    Fact {
        id: "eq-3",
        primary: true,
        statement: "Eq. 3 is Eq. 1 with Eq. 2 put in",
        paper: "Eq. 1-3",
        convention: "natural logarithm; targets 0 to 1 by 0.05, outputs -10 to 10 by 0.25, to 1e-6; the library's \
                     cost of a pair too",
        check: posteriors::eq_3,
    },
    Fact {
        id: "asymptote",
        primary: true,
        statement: "Figure 1 left: the cost asymptotes to a linear function",
        paper: "\"asymptotes to a linear function\"",
        convention: "(1 - P) o for large o, -P o for large -o; the difference at o = +-30, below 1e-9",
        check: posteriors::asymptote,
    },
    Fact {
        id: "half",
        primary: true,
        statement: "For a target of 1/2 the cost is symmetric, with its minimum at the origin",
        paper: "\"symmetric, with its minimum at the origin\"",
        convention: "outputs to 10 by 0.01",
        check: posteriors::half,
    },
    Fact {
        id: "eq-5",
        primary: true,
        statement: "Eq. 5 follows from Eq. 4: log odds add",
        paper: "Eq. 4-6",
        convention: "all pairs of 0.01 to 0.99 by 0.01, to 1e-12",
        check: posteriors::eq_5,
    },
    Fact {
        id: "fixed-points",
        primary: true,
        statement: "Figure 1 right: the combined probability is P at 0, 1/2 and 1, and only there",
        paper: "\"and only at those points\"",
        convention: "0 to 1 by 1e-5, and the factors of the difference: -P (2P - 1)(P - 1) / (1 + 2P^2 - 2P)",
        check: posteriors::fixed_points,
    },
    Fact {
        id: "confidence",
        primary: true,
        statement: "Confidence builds: below P for 0 < P < 1/2, above P for 1/2 < P < 1; 0.6 and 0.6 give more than \
                    0.6",
        paper: "P(A>C) > 0.6",
        convention: "the same grid",
        check: posteriors::confidence,
    },
    Fact {
        id: "theorem",
        primary: true,
        statement: "Theorem, sufficient: adjacent posteriors of any order of the samples determine all posteriors, in \
                    [0, 1], whatever the way",
        paper: "\"sufficient to uniquely identify\"",
        convention: "200 random orders of 8 samples, posteriors strictly between 0 and 1; each pair along 20 random \
                     ways, to 1e-9",
        check: posteriors::theorem,
    },
    Fact {
        id: "necessary",
        primary: true,
        statement: "Theorem, necessary: without one of them, posteriors across it are not determined",
        paper: "\"necessary\"",
        convention: "read as: all m - 1 are needed; two completions that agree on the other six and differ by more \
                     than 0.1 across the gap",
        check: posteriors::necessary,
    },
    Fact {
        id: "equal-links",
        primary: true,
        statement: "Equal adjacent posteriors P give D^n / (1 + D^n) at distance n, with D = P / (1 - P)",
        paper: "formula",
        convention: "P from 0.05 to 0.95 by 0.05, n to 12, to 1e-12",
        check: posteriors::equal_links,
    },
    Fact {
        id: "lemma",
        primary: true,
        statement: "Lemma: P(n) equals P at n = 1, grows strictly with n for P > 1/2, falls strictly for P < 1/2, \
                    stays 1/2 at 1/2",
        paper: "lemma",
        convention: "the same grid; P strictly between 0 and 1",
        check: posteriors::lemma,
    },
    Fact {
        id: "bradley-terry",
        primary: true,
        statement: "No underlying probabilities of Bradley and Terry's form give P(A>B) = P(B>C) = P(A>C) = 1",
        paper: "\"there exists no underlying P\"",
        convention: "all three of 0 to 1 by 0.02, zeros included; 0/0 is no probability",
        check: posteriors::bradley_terry,
    },
    Fact {
        id: "certain",
        primary: true,
        statement: "RankNet can be trained on that certain ranking all the same",
        paper: "\"overly restrictive for our needs\"",
        convention: "order A, B, C with all probabilities between 0.99 and 1 and a cost below 0.01",
        check: three_items::certain,
    },
    Fact {
        id: "circle",
        primary: true,
        statement: "Inconsistent pairs can be trained: A over B, B over C, C over A ends in the least cost, 3 ln 2, \
                    at equal scores",
        paper: "\"need not be ... even consistent\"",
        convention: "gradient descent by the library's gradient, and a linear net trained from a file of targets, \
                     both to 1e-4 of the least cost",
        check: three_items::circle,
    },
    Fact {
        id: "contradiction",
        primary: true,
        statement: "So can targets of 0.9, 0.9 and 0.2: the least cost is reached, with probabilities that obey Eq. 5 \
                    and miss the targets",
        paper: "\"no set of outputs of the model that give the desired pairwise probabilities\"",
        convention: "as above; missed: by more than 0.05",
        check: three_items::contradiction,
    },
    Fact {
        id: "incomplete",
        primary: true,
        statement: "Incomplete pairs can be trained: a target for A and B alone is met, and C is left alone",
        paper: "\"need not be complete\"",
        convention: "as above, the target to 0.001",
        check: three_items::incomplete,
    },
    Fact {
        id: "consistent",
        primary: false,
        statement: "Targets that obey Eq. 5 are all met",
        paper: "\"there exist ideal outputs\"",
        convention: "as above",
        check: three_items::consistent,
    },
    Fact {
        id: "bounded-slope",
        primary: false,
        statement: "The cost's slope is at most 1, so that no wrong label counts for more; a squared error's grows \
                    without bound",
        paper: "\"likely to be more robust than a quadratic cost\"",
        convention: "outputs to +-50, targets 0, 1/2, 1; squared error of the output against a target of 1",
        check: posteriors::bounded_slope,
    },
    Fact {
        id: "theorem-at-certainty",
        primary: false,
        statement: "The theorem also holds where posteriors are 0 or 1, as it is printed (0 <= P <= 1)",
        paper: "\"arbitrary target posterior 0 <= P <= 1\"",
        convention: "P(A>B) = 1 and P(B>C) = 0",
        check: posteriors::theorem_at_certainty,
    },
    Fact {
        id: "lemma-at-certainty",
        primary: false,
        statement: "The lemma also holds for P = 1, as it is printed (P > 1/2)",
        paper: "\"increases strictly monotonically\"",
        convention: "n from 1 to 5",
        check: posteriors::lemma_at_certainty,
    },
];

fn claims(_: &Session) -> Vec<Claim> {
    facts::claims(FACTS)
}

fn protocol(_: &Session) -> anyhow::Result<Value> {
    Ok(facts::protocol(FACTS))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let mut report = facts::report(execution, FACTS, "statements hold")?;
    report.protocol.push(
        "The three-item examples are trained: gradient descent on three scores by the library's gradient for given \
         probabilities, and a linear net over one-hot features, trained as the tool does with `--targets`; the least cost is \
         found by Newton's method in double precision."
            .into(),
    );
    Ok(Report {
        tables: vec![three_items::table(execution.session)?],
        notes: vec![
            "Left and right are the two panels of Figure 1 of the paper, drawn from the equations. The circle's three \
             pairs cannot all be right: training ends at equal scores, where each pair has probability 1/2."
                .into(),
            "The further statements that do not hold are those for posteriors of exactly 0 or 1.".into(),
        ],
        deviations: vec![
            "Where the paper proves a statement for all numbers, it is checked on grids and random ones.".into(),
        ],
        figure: figure()?,
        ..report
    })
}

fn figure() -> anyhow::Result<Figure> {
    let costs = [0.0, 0.5, 1.0].into_iter().enumerate().map(|(colour, target)| {
        Series::line(format!("P = {target}"), colour, steps(-5.0, 5.0, 20).map(|o| (o, cost(target, o))))
    });
    let combined = vec![
        Series::line("combined", 0, steps(0.0, 1.0, 20).map(|p| (p, combine(p, p).unwrap_or(f64::NAN)))),
        Series::line("P itself: they meet at 0, 1/2 and 1", 1, [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]),
    ];
    draw(&[
        Panel {
            title: "the cost of a pair, Eq. 3".into(),
            x_label: "difference of scores".into(),
            y_label: "cost".into(),
            ticks: (-5..=5).map(|tick| (f64::from(tick), tick.to_string())).collect(),
            series: costs.collect(),
            ..Panel::default()
        },
        Panel {
            title: "combining probabilities, Eq. 5".into(),
            x_label: "P(A>B) = P(B>C) = P".into(),
            y_label: "P(A>C)".into(),
            ticks: (0..=5).map(|tick| (f64::from(tick) / 5.0, format!("{:.1}", f64::from(tick) / 5.0))).collect(),
            series: combined,
            ..Panel::default()
        },
    ])
}
