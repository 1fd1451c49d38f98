//! Section 3 of the RankNet paper: the cost, combining probabilities, adjacency posteriors, and inconsistent pairs.

use super::posteriors::{self, cost, steps};
use super::three_items;
use crate::harness::facts::{self, Fact};
use crate::harness::figure::{Figure, Panel, Series, draw};
use crate::harness::{Execution, Experiment, Headline, Paper, Report};
use burnrank::analysis::probability::combine;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-probabilities",
    paper: Paper::RankNet,
    place: "section 3: Eq. 1 to 6, Figure 1, the theorem, the lemma and the remark on Bradley and Terry's model",
    claim: "The pair cost is linear for large errors and minimal at equal scores for a target of 1/2; probabilities combine \
            by Eq. 5, with fixed points 0, 1/2 and 1 only; adjacent posteriors determine all others; inconsistent and \
            incomplete pairs can be trained.",
    short: "The pair cost has the stated shape; probabilities combine consistently; contradictory pairs can be \
            trained.",
    headlines: &[
        Headline::new(
            "The cost of a pair is linear for large errors and, for a target of 1/2, lowest at equal scores (Eq. 3, Figure 1 left)",
            &["eq-3", "asymptote", "half"],
        ),
        Headline::new(
            "Probabilities combine as Eq. 5 says, and adjacent posteriors determine all others (Eq. 4 to 6, theorem, lemma)",
            &["eq-5", "fixed-points", "confidence", "theorem", "necessary", "equal-links", "lemma"],
        ),
        Headline::new(
            "Pairs that are inconsistent or incomplete can be trained (remark on Bradley and Terry's model)",
            &["bradley-terry", "certain", "circle", "contradiction", "incomplete"],
        ),
    ],
    time: "a few seconds",
    facts: FACTS,
    run,
    ..Experiment::BASE
};

const FACTS: &[Fact] = &[
    Fact {
        id: "eq-3",
        statement: "Eq. 3 follows from Eq. 1 and 2",
        paper: "Eq. 1-3",
        convention: "natural logarithm; targets 0 to 1 by 0.05, outputs -10 to 10 by 0.25, to 1e-6; the library's \
                     cost of a pair too",
        check: posteriors::eq_3,
    },
    Fact {
        id: "asymptote",
        statement: "Figure 1 left: the cost asymptotes to a linear function",
        paper: "\"asymptotes to a linear function\"",
        convention: "(1 - P) o for large o, -P o for large -o; the difference at o = +-30, below 1e-9",
        check: posteriors::asymptote,
    },
    Fact {
        id: "half",
        statement: "For a target of 1/2 the cost is symmetric with its minimum at the origin",
        paper: "\"symmetric, with its minimum at the origin\"",
        convention: "outputs to 10 by 0.01",
        check: posteriors::half,
    },
    Fact {
        id: "eq-5",
        statement: "Eq. 5 follows from Eq. 4: log odds add",
        paper: "Eq. 4-6",
        convention: "all pairs of 0.01 to 0.99 by 0.01, to 1e-12",
        check: posteriors::eq_5,
    },
    Fact {
        id: "fixed-points",
        statement: "Figure 1 right: the combined probability is P at 0, 1/2 and 1, and only there",
        paper: "\"and only at those points\"",
        convention: "0 to 1 by 1e-5, and the factors of the difference: -P (2P - 1)(P - 1) / (1 + 2P^2 - 2P)",
        check: posteriors::fixed_points,
    },
    Fact {
        id: "confidence",
        statement: "Confidence builds: below P for 0 < P < 1/2, above P for 1/2 < P < 1; 0.6 and 0.6 give more than \
                    0.6",
        paper: "P(A>C) > 0.6",
        convention: "the same grid",
        check: posteriors::confidence,
    },
    Fact {
        id: "theorem",
        statement: "Theorem, sufficient: adjacent posteriors of any order of the samples determine all posteriors in [0, 1], \
                    independent of the path",
        paper: "\"sufficient to uniquely identify\"",
        convention: "200 random orders of 8 samples, posteriors strictly between 0 and 1; each pair along 20 random \
                     ways, to 1e-9",
        check: posteriors::theorem,
    },
    Fact {
        id: "necessary",
        statement: "Theorem, necessary: without one of them, posteriors across the gap are not determined",
        paper: "\"necessary\"",
        convention: "read as: all m - 1 are needed; two completions that agree on the other six and differ by more \
                     than 0.1 across the gap",
        check: posteriors::necessary,
    },
    Fact {
        id: "equal-links",
        statement: "Equal adjacent posteriors P give D^n / (1 + D^n) at distance n, with D = P / (1 - P)",
        paper: "formula",
        convention: "P from 0.05 to 0.95 by 0.05, n to 12, to 1e-12",
        check: posteriors::equal_links,
    },
    Fact {
        id: "lemma",
        statement: "Lemma: P(n) equals P at n = 1, grows strictly with n for P > 1/2, falls strictly for P < 1/2, \
                    stays 1/2 at 1/2",
        paper: "lemma",
        convention: "the same grid; P strictly between 0 and 1",
        check: posteriors::lemma,
    },
    Fact {
        id: "bradley-terry",
        statement: "No probabilities of the Bradley-Terry form give P(A>B) = P(B>C) = P(A>C) = 1",
        paper: "\"there exists no underlying P\"",
        convention: "all three of 0 to 1 by 0.02, zeros included; 0/0 is no probability",
        check: posteriors::bradley_terry,
    },
    Fact {
        id: "certain",
        statement: "RankNet can be trained on this certain ranking",
        paper: "\"overly restrictive for our needs\"",
        convention: "order A, B, C with all probabilities between 0.99 and 1 and a cost below 0.01",
        check: three_items::certain,
    },
    Fact {
        id: "circle",
        statement: "Inconsistent pairs can be trained: A over B, B over C, C over A reaches the minimum cost 3 ln 2 at equal \
                    scores",
        paper: "\"need not be ... even consistent\"",
        convention: "gradient descent by the library's gradient, and a linear net trained from a file of targets, \
                     both to 1e-4 of the least cost",
        check: three_items::circle,
    },
    Fact {
        id: "contradiction",
        statement: "Targets of 0.9, 0.9 and 0.2 can be trained: the minimum cost is reached, with probabilities that obey Eq. 5 \
                    and miss the targets",
        paper: "\"no set of outputs of the model that give the desired pairwise probabilities\"",
        convention: "as above; missed: by more than 0.05",
        check: three_items::contradiction,
    },
    Fact {
        id: "incomplete",
        statement: "Incomplete pairs can be trained: a target for A and B is met, and C is unchanged",
        paper: "\"need not be complete\"",
        convention: "as above, the target to 0.001",
        check: three_items::incomplete,
    },
    Fact {
        id: "consistent",
        statement: "Targets that obey Eq. 5 are all met",
        paper: "\"there exist ideal outputs\"",
        convention: "as above",
        check: three_items::consistent,
    },
    Fact {
        id: "bounded-slope",
        statement: "The gradient of the cost is at most 1, which limits the effect of a wrong label; that of a squared error is \
                    unbounded",
        paper: "\"likely to be more robust than a quadratic cost\"",
        convention: "outputs to +-50, targets 0, 1/2, 1; squared error of the output against a target of 1",
        check: posteriors::bounded_slope,
    },
    Fact {
        id: "theorem-at-certainty",
        statement: "The theorem also holds for posteriors of 0 or 1, as printed (0 <= P <= 1)",
        paper: "\"arbitrary target posterior 0 <= P <= 1\"",
        convention: "P(A>B) = 1 and P(B>C) = 0",
        check: posteriors::theorem_at_certainty,
    },
    Fact {
        id: "lemma-at-certainty",
        statement: "The lemma also holds for P = 1, as printed (P > 1/2)",
        paper: "\"increases strictly monotonically\"",
        convention: "n from 1 to 5",
        check: posteriors::lemma_at_certainty,
    },
];

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let mut report = facts::report(execution, FACTS, "statements hold")?;
    report.protocol.push(
        "The three-item examples are trained by gradient descent on three scores with the library's gradient for given \
         probabilities, and as a linear net over one-hot features with `--targets`; Newton's method in double precision gives \
         the minimum cost."
            .into(),
    );
    Ok(Report {
        tables: vec![three_items::table(execution.session)?],
        notes: vec![
            "The panels are those of Figure 1 of the paper, drawn from the equations. The circle's three pairs are \
             inconsistent: training ends at equal scores, where each pair has probability 1/2."
                .into(),
            "The secondary statements that fail are those for posteriors of exactly 0 or 1.".into(),
        ],
        deviations: vec![
            "Statements that the paper proves for all numbers are checked on grids and random numbers.".into(),
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
        Series::line("P (equal at 0, 1/2 and 1)", 1, [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]),
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
