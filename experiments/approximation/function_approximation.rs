//! All examples of the paper as facts that are computed, most of them without random numbers.

use super::{fields, margin, metrics};
use crate::harness::facts::{self, Fact};
use crate::harness::figure::{Figure, Panel, Series, draw};
use crate::harness::{Control, Execution, Experiment, Headline, Paper, Report};
use burnrank::Objective;
use burnrank::analysis::lambda_field::FieldReport;
use burnrank::internal::text::Table;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "function-approximation",
    paper: Paper::Approximation,
    place: "Table 1, Eq. 18 to 33, Theorem 2, Figure 2 and the examples of sections 1, 2, 5.2 and 6",
    claim: "Pairs can contradict each other; ranking metrics have no gradient; a smooth pair cost may improve while WTA \
            gets worse; lambdas have a cost if and only if their Jacobian is symmetric.",
    short: "Ranking metrics have no gradient; lambdas have a cost only if their Jacobian is symmetric.",
    headlines: &[
        Headline::new(
            "Pairs can contradict each other, metrics have no gradient, and a pair cost can improve while the top gets worse",
            &["table-1", "flat", "wta", "auc", "eq-23"],
        ),
        Headline::new(
            "The lambdas of a margin have a continuous cost with a positive semidefinite Hessian (Eq. 24 to 31, Figure 2)",
            &["margin-slope", "figure-2", "margin-hessian"],
        ),
        Headline::new(
            "Lambdas have a cost if and only if their Jacobian is symmetric, a convex one if it is also positive semidefinite",
            &["poincare", "convex", "piecewise-constant", "regulariser", "springs"],
        ),
    ],
    time: "a few seconds",
    facts: FACTS,
    run,
    ..Experiment::BASE
};

/// All statements, in the order of the paper.
const FACTS: &[Fact] = &[
    Fact {
        id: "table-1",
        statement: "Table 1: A is stronger than B, B than C, C than A, so no order of the three agrees with all pairs",
        paper: "\"Callippus is stronger than Archimedes\"",
        convention: "stronger: faster with at least two of three theorems",
        check: metrics::table_1,
    },
    Fact {
        id: "flat",
        statement: "None of the four metrics (pair error, NDCG, MRR, WTA) is differentiable, and all depend on several \
                    documents",
        paper: "\"none are differentiable, and all are multivariate\"",
        convention: "200 random queries of 12 documents, labels 0 and 1, NDCG at 10; steps of 0.4 of the smallest \
                     distance of scores",
        check: metrics::metrics_are_flat,
    },
    Fact {
        id: "wta",
        statement: "1,000 documents, relevant ones moved from ranks 1 and 1000 to 2 and 3: 996 fewer wrong pairs, WTA \
                    cost from 0 to 1",
        paper: "996 errors; from zero to one",
        convention: "counted pair by pair",
        check: metrics::winner_takes_all,
    },
    Fact {
        id: "auc",
        statement: "The area under the ROC curve is the share of correctly ordered pairs of a binary ranking",
        paper: "\"exactly a binary ranking problem\"",
        convention: "trapezia; equal scores count one half; 1000 random queries, to 1e-12",
        check: metrics::area_is_pair_accuracy,
    },
    Fact {
        id: "eq-23",
        statement: "Eq. 23: with relevant documents at ranks 2 and 1000, a smooth cost that discounts low ranks has a \
                    much larger gradient at the first; RankNet's cost does not",
        paper: "first derivative much larger than the second",
        convention: "smooth WTA: 1 less the softmax share of relevant documents; 1,000 scores falling evenly from 10 \
                     to 0; much: 10 times",
        check: metrics::discounting_cost_meets_eq_23,
    },
    Fact {
        id: "margin-slope",
        statement: "Eq. 24 to 31: the margin's lambdas are minus the gradient of the stated cost, which is continuous",
        paper: "\"a corresponding cost function exists\"",
        convention: "margins 0.25, 0.5, 1, 1.5; 501 places from -2 to 3; central differences, to 1e-8",
        check: margin::lambdas_are_gradients,
    },
    Fact {
        id: "figure-2",
        statement: "Figure 2: the lambda is constant in the wrong order, falls smoothly to 0 at the margin, and is 0 \
                    beyond",
        paper: "figure",
        convention: "margin 1, the only one for which Eq. 26 and 27 meet",
        check: margin::figure_2,
    },
    Fact {
        id: "margin-hessian",
        statement: "The Hessian of this cost is positive semidefinite where it exists; the minimum value is unique and \
                    reached at many scores",
        paper: "\"positive semidefinite ... a unique minimum value\"",
        convention: "same margins and places; eigenvalues to 1e-6",
        check: margin::hessian,
    },
    Fact {
        id: "poincare",
        statement: "Theorem 2, Eq. 32-33: lambdas have a cost if and only if their Jacobian is symmetric",
        paper: "Poincaré's lemma",
        convention: "random quadratic fields of four documents, the cost built as work along the way from 0; and \
                     RankNet's field",
        check: fields::poincare,
    },
    Fact {
        id: "convex",
        statement: "The cost is convex if and only if the Jacobian is positive semidefinite",
        paper: "\"the Jacobian be positive semidefinite everywhere\"",
        convention: "lambda = dC as in the sentence after Eq. 32 (with Eq. 24's sign the Jacobian must be negative \
                     semidefinite); random quadratic costs, 2,000 chords each",
        check: fields::convex_where_positive,
    },
    Fact {
        id: "piecewise-constant",
        statement: "For piecewise constant lambdas the Jacobian is symmetric and positive semidefinite, trivially",
        paper: "\"trivially satisfied\"",
        convention: "between ties, where a Jacobian exists: it is 0",
        check: fields::piecewise_constant,
    },
    Fact {
        id: "regulariser",
        statement: "Terms alpha s_i add a constant to the diagonal of the Hessian, which makes it positive definite",
        paper: "\"adding a positive constant along the diagonal of the Hessian\"",
        convention: "lambda = dC as above; 50 random saddles, alpha 2.5",
        check: fields::regulariser,
    },
    Fact {
        id: "springs",
        statement: "Linear lambdas are springs: if positive semidefinite, gradient descent reaches the minimum energy from \
                    any start; not so for arbitrary springs",
        paper: "\"a unique global minimum of the potential energy\"",
        convention: "four documents, all pairs joined; 5,000 steps of 0.05; the energy is unique, positions are up to \
                     a shift",
        check: fields::springs,
    },
    Fact {
        id: "back-propagation",
        statement: "Eq. 18 to 22: the gradient for a pair is the difference of two back-propagations with one common \
                    factor",
        paper: "Eq. 18-22",
        convention: "tanh units, linear output, cost ln(1 + e^(o2 - o1)); central differences, to 1e-8",
        check: margin::back_propagation,
    },
    Fact {
        id: "no-wrong-pair",
        statement: "If no pair is wrong, all metrics are perfect too",
        paper: "\"it has also achieved zero cost using any of the above measures\"",
        convention: "1000 random queries with labels 0 and 1",
        check: metrics::no_wrong_pair_is_perfect,
    },
    Fact {
        id: "smooth-for-every-margin",
        statement: "The lambda goes smoothly to zero for every margin, as the text says of \"some chosen margin\"",
        paper: "\"the gradient goes smoothly to zero\"",
        convention: "Eq. 26 and 27 as printed",
        check: margin::smooth_for_every_margin,
    },
    Fact {
        id: "convex-for-every-margin",
        statement: "The cost is convex for every margin (the paper states it for the Hessian only)",
        paper: "not said",
        convention: "across the tie too, where there is no Hessian",
        check: margin::convex_for_every_margin,
    },
    Fact {
        id: "piecewise-constant-cost",
        statement: "Piecewise constant lambdas therefore have a cost (the paper does not draw this conclusion)",
        paper: "not said",
        convention: "the pieces are orders of the documents; a cost must be continuous where they meet",
        check: fields::piecewise_constant_has_a_cost,
    },
    Fact {
        id: "eq-23-lambdarank",
        statement: "LambdaRank, as defined later, satisfies Eq. 23 for NDCG, MRR and WTA",
        paper: "not said: this paper leaves the choice of lambdas open",
        convention: "the same query; pair weights: what a swap changes (for MRR Eq. 11 of the 2009 paper)",
        check: metrics::lambdarank_meets_eq_23,
    },
];

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    Ok(Report {
        controls: controls()?,
        tables: vec![gradients_table()?, margin_table()],
        notes: vec![
            "Left: the lambdas of Eq. 26 to 28, as in Figure 2 of the paper. Middle: the same for other margins; the \
             lambda jumps at ties for all margins except 1. Right: the cost of Eq. 29 to 31, which is continuous for \
             every margin."
                .into(),
            "Section 5.1 (the probabilistic cost, combining probabilities, Theorem 1, Lemma 1) repeats the RankNet \
             paper: see `ranknet-probabilities`. Errors in the paper's text are in `errata`."
                .into(),
        ],
        deviations: vec![
            "Statements that the paper proves for all fields, costs or queries are checked on random ones: this can find \
             a counterexample but proves nothing."
                .into(),
        ],
        figure: figure()?,
        ..facts::report(execution, FACTS, "statements of the paper hold")?
    })
}

/// Gradients of many objectives for the query of Eq. 23.
fn gradients_table() -> anyhow::Result<Table> {
    let title = "The query of Eq. 23: derivatives at the relevant documents at ranks 2 and 1000 of 1,000, with evenly \
                 spaced scores from a top score to 0. The paper requires a ratio much larger than 1:";
    let mut table = Table::titled(title, &["cost", "top score", "rank 2", "rank 1000", "ratio"]);
    let names = [
        "ranknet",
        "lambdarank:wta",
        "lambdarank:mrr",
        "lambdarank:ndcg",
        "lambdarank:ndcg@10",
        "lambdarank:map",
        "ndcg-loss2",
        "listnet",
    ];
    for top in [1.0, metrics::TOP] {
        let mut row = |name: &str, [first, second]: [f64; 2]| {
            let ratio = format!("{:.3e}", first / second);
            table.row([name.into(), top.to_string(), format!("{first:.3e}"), format!("{second:.3e}"), ratio]);
        };
        row("smooth WTA", metrics::soft_wta(top));
        for name in names {
            row(name, metrics::gradients(name, top)?);
        }
    }
    Ok(table)
}

fn margin_table() -> Table {
    let title = "The margin's lambda and cost at x = s1 - s2:";
    let mut table =
        Table::titled(title, &["margin", "lambda at -0.001", "lambda at 0", "jump at the tie", "minimum cost"]);
    for delta in margin::MARGINS {
        let cells = [
            margin::lambda(delta, -0.001),
            margin::lambda(delta, 0.0),
            margin::jump(delta),
            margin::cost(delta, delta),
        ];
        table.row([delta.to_string()].into_iter().chain(cells.map(|cell| format!("{cell:.3}"))));
    }
    table
}

/// Controls: fields with a known answer.
fn controls() -> anyhow::Result<Vec<Control>> {
    let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
    let mut controls = vec![];
    for (name, expected) in [("ranknet", true), ("lambdarank:ndcg", false)] {
        let report = FieldReport::new(&Objective::parse(name)?.as_field()?, &scores, &labels)?;
        controls.push(Control {
            description: format!("{name} has one cost for all orders"),
            expected: expected.to_string(),
            ours: format!("{}, asymmetry {:.0e}", report.conservative(), report.asymmetry),
            holds: report.conservative() == expected && report.symmetric(),
        });
    }
    Ok(controls)
}

fn figure() -> anyhow::Result<Figure> {
    let line = |name: String, colour, value: &dyn Fn(f64) -> f64| {
        Series::line(name, colour, margin::quarters(-8, 12).map(|x| (x, value(x))))
    };
    let panel = |title: &str, y: &str, series| Panel {
        title: title.into(),
        x_label: "x = s1 - s2".into(),
        y_label: y.into(),
        ticks: (-2..=3).map(|tick| (f64::from(tick), tick.to_string())).collect(),
        series,
        zero: Some(0.0),
        ..Panel::default()
    };
    let lambdas = vec![
        line("lambda 1, the relevant document".into(), 0, &|x| margin::lambda(1.0, x)),
        line("lambda 2, the other".into(), 1, &|x| -margin::lambda(1.0, x)),
    ];
    let named = |delta: f64| format!("margin {delta}");
    let others = [0.5, 1.0, 1.5].into_iter().enumerate();
    let jumps =
        others.clone().map(|(colour, delta)| line(named(delta), colour, &|x| margin::lambda(delta, x))).collect();
    let costs = others.map(|(colour, delta)| line(named(delta), colour, &|x| margin::cost(delta, x))).collect();
    draw(&[
        panel("Figure 2: lambdas, margin 1", "lambda", lambdas),
        panel("Lambda of the relevant document", "lambda", jumps),
        panel("Cost of Eq. 29 to 31", "cost", costs),
    ])
}
