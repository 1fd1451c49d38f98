//! Section 7 of the paper: RankNet with kernels, and the form of its solution.

use super::kernel_checks::{self, FEATURES, GAUSSIAN, LAMBDA, Sizes, data, score, sizes};
use super::kernel_solver::{Kernel, Problem, rows};
use crate::harness::facts::{self, Fact};
use crate::harness::figure::{Panel, Series, draw};
use crate::harness::{Control, Execution, Experiment, Headline, Paper, Report, Session};
use burnrank::internal::text::Table;
use burnrank::metric::{evaluate, parse};
use burnrank::{Conventions, Dataset};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-kernel",
    paper: Paper::RankNet,
    place: "section 7: Eq. 17 and 18",
    claim: "RankNet can be trained with kernels; a function that minimises Eq. 17 is a sum of kernels at training \
            documents (the representer theorem); gradient descent can find it; depending on the kernel, the objective \
            may not be convex.",
    short: "RankNet can be trained with kernels; solutions are sums of kernels at training documents.",
    headlines: &[
        Headline::new(
            "A minimum of Eq. 17 is a sum of kernels at training documents (Eq. 18, representer theorem)",
            &["representer", "orthogonal"],
        ),
        Headline::new(
            "Kernel RankNet can be trained by gradient descent, and generalises linear RankNet",
            &["linear-kernel", "gradient-descent", "library"],
        ),
        Headline::new("Depending on the kernel, the objective may not be convex", &["convexity"]),
    ],
    time: "about a minute",
    facts: FACTS,
    protocol,
    run,
    ..Experiment::BASE
};

const FACTS: &[Fact] = &[
    Fact {
        id: "linear-kernel",
        statement: "With a linear kernel, kernel RankNet is linear RankNet with the same penalty: the same minimum and the \
                    same scores of unseen documents",
        paper: "Eq. 17",
        convention: "both solved by Newton's method, one in coefficients of documents, one in weights; values to 1e-9 \
                     of them, scores to 1e-6",
        check: kernel_checks::linear_kernel,
    },
    Fact {
        id: "representer",
        statement: "Eq. 18: kernels at additional points do not lower the minimum and get no weight",
        paper: "\"any solution that minimizes (17) can be written in the form\" of a sum over training documents",
        convention: "as many further points as training documents, Gaussian kernel; value to 1e-9 of it, weights \
                     below 1e-6",
        check: kernel_checks::representer,
    },
    Fact {
        id: "orthogonal",
        statement: "Components of a function orthogonal to the kernels at training documents do not change the scores of these \
                    documents and raise Eq. 17",
        paper: "\"f appears only through its evaluations on training points\"",
        convention: "kernels at 20 random points less their projection, times +-0.1 and +-1; scores to 1e-6",
        check: kernel_checks::orthogonal,
    },
    Fact {
        id: "gradient-descent",
        statement: "Gradient descent minimises Eq. 17",
        paper: "\"One could again certainly minimize Eq. 17 using gradient descent\"",
        convention: "in the kernel's space, from 0, Gaussian and linear kernel; to 1e-6 of Newton's value",
        check: kernel_checks::gradient_descent,
    },
    Fact {
        id: "convexity",
        statement: "Depending on the kernel, the objective may not be convex: it is convex for positive kernels (linear, \
                    Gaussian, quadratic) but not for tanh(x.z - 1)",
        paper: "\"depending on the kernel, the objective function may not be convex\"",
        convention: "smallest eigenvalue of the second derivatives in the coefficients, at 0 and at 5 random \
                     coefficients, 24 documents",
        check: kernel_checks::convexity,
    },
    Fact {
        id: "library",
        statement: "The library's `kernel-ranknet` reaches the minimum of Eq. 17 with a Gaussian kernel",
        paper: "Eq. 17",
        convention: "gamma 1/features; its kernel matrix is in single precision: to 1e-3 of the value in double \
                     precision",
        check: kernel_checks::library,
    },
    Fact {
        id: "linear-net",
        statement: "A linear net trained by gradient descent with the same penalty reaches the pair cost of the \
                    linear-kernel solution",
        paper: "not stated",
        convention: "full batches, constant step, 3,000 epochs; to 1e-3 of the cost",
        check: kernel_checks::linear_net,
    },
    Fact {
        id: "unique",
        statement: "Training from other coefficients gives the same function",
        paper: "not stated",
        convention: "Gaussian kernel, 3 random starts; scores of training documents to 1e-5",
        check: kernel_checks::unique,
    },
    Fact {
        id: "dense",
        statement: "No coefficient is 0: scoring evaluates a kernel for each training document that is in a pair",
        paper: "\"kernel methods ... must be used with care if the resulting algorithm is to be wieldy\"",
        convention: "above 1e-9; Gaussian kernel",
        check: kernel_checks::dense,
    },
];

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let Sizes { functions, queries, documents, steps } = sizes(session.scale);
    Ok(json!({
        "functions": functions,
        "queries": queries,
        "documents": documents,
        "features": FEATURES,
        "lambda": LAMBDA,
        "steps": steps,
    }))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let session = execution.session;
    let Sizes { functions, queries, documents, .. } = sizes(session.scale);
    let (table, panel) = penalties(session)?;
    Ok(Report {
        controls: vec![zero_function(session)?],
        tables: vec![table],
        notes: vec![
            "The figure and the table show the accuracy on unseen queries by penalty for the first data set. The paper makes no \
             claim about this, and one small data set does not generalise."
                .into(),
            "The objective can be non-convex only for a kernel that is not positive, which has no Hilbert space as Eq. 17 \
             requires: for all kernels for which Eq. 17 is defined, the objective is convex."
                .into(),
        ],
        protocol: vec![format!(
            "Data: {functions} random nets, {queries} training and {queries} unseen queries of {documents} documents \
             with {FEATURES} features each; every statement is checked on all of them with lambda 1. A small solver in double \
             precision minimises Eq. 17 for any positive kernel by Newton's method, with the library's RankNet cost, gradient \
             and hessian."
        )],
        deviations: vec![
            "The paper describes kernel RankNet without an experiment. The sum of Eq. 17 is over pairs of the same query with \
             different labels, as in the rest of the paper."
                .into(),
        ],
        figure: draw(&[panel])?,
        ..facts::report(execution, FACTS, "statements hold")?
    })
}

/// Control: with all coefficients 0, every pair costs ln 2.
fn zero_function(session: &Session) -> anyhow::Result<Control> {
    let (train, _) = data(session)?.swap_remove(0);
    let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
    let value = problem.value(&vec![0.0; problem.points])?;
    let mut pairs = 0;
    for query in train.queries() {
        pairs +=
            query.labels.iter().map(|label| query.labels.iter().filter(|other| *other < label).count()).sum::<usize>();
    }
    let expected = pairs as f64 * 2f64.ln();
    Ok(Control {
        description: format!("Eq. 17 of the zero function over {pairs} pairs"),
        expected: format!("{expected:.6}"),
        ours: format!("{value:.6}"),
        holds: (value - expected).abs() < 1e-9 * expected,
    })
}

/// Accuracy on unseen queries by penalty, for both kernels.
fn penalties(session: &Session) -> anyhow::Result<(Table, Panel)> {
    let (train, unseen) = data(session)?.swap_remove(0);
    let mut table = Table::titled(
        "Pairs in the right order in percent, by penalty lambda:",
        &["kernel", "lambda", "training", "unseen"],
    );
    let lambdas = [0.01, 0.1, 1.0, 10.0, 100.0];
    let mut series = vec![];
    for (colour, (name, kernel)) in [("linear", Kernel::Linear), ("Gaussian", GAUSSIAN)].into_iter().enumerate() {
        let mut points = vec![];
        for (place, lambda) in lambdas.into_iter().enumerate() {
            let problem = Problem::new(&train, &[], kernel, lambda);
            let alphas = problem.minimum(&vec![0.0; problem.points])?.0;
            let percent = |data: &Dataset| -> anyhow::Result<f64> {
                let scores: Vec<f64> =
                    rows(data).iter().map(|row| score(kernel, &rows(&train), &alphas, row)).collect();
                let values =
                    evaluate(&*parse("pairs")?, &scores, data.labels(), data.offsets(), &Conventions::default())?;
                let values: Vec<f64> = values.into_iter().flatten().collect();
                Ok(100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64)
            };
            let (seen, new) = (percent(&train)?, percent(&unseen)?);
            table.row([name.to_owned(), lambda.to_string(), format!("{seen:.2}"), format!("{new:.2}")]);
            points.push((place as f64, new));
        }
        series.push(Series::line(format!("{name} kernel"), colour, points));
    }
    let panel = Panel {
        title: "unseen queries, by penalty".into(),
        x_label: "lambda".into(),
        y_label: "pairs in the right order, percent".into(),
        ticks: lambdas.iter().enumerate().map(|(place, lambda)| (place as f64, lambda.to_string())).collect(),
        series,
        ..Panel::default()
    };
    Ok((table, panel))
}
