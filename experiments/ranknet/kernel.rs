//! Section 7 of the paper: RankNet with kernels, and the form of its solution.

use super::kernel_checks::{self, FEATURES, GAUSSIAN, LAMBDA, Sizes, data, score, sizes};
use super::kernel_solver::{Kernel, Problem, rows};
use crate::harness::facts::{self, Fact};
use crate::harness::figure::{Panel, Series, Whose, draw};
use crate::harness::{Claim, Control, Execution, Experiment, Kind, Paper, Report, Session};
use burnrank::internal::text::Table;
use burnrank::metric::{evaluate, parse};
use burnrank::{Conventions, Dataset};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-kernel",
    kind: Kind::Paper,
    paper: Paper::RankNet,
    place: "section 7: Eq. 17 and 18",
    claim: "RankNet can be trained with kernels; a function that minimises Eq. 17 is a sum of kernels at training \
            documents (the representer theorem); gradient descent can find it; depending on the kernel, the objective \
            may not be convex.",
    time: "about a minute",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const DATA: &str = "on data of each of several random nets; lambda 1";

const FACTS: &[Fact] = &[
    Fact {
        id: "linear-kernel",
        primary: true,
        statement: "With a linear kernel, kernel RankNet is the linear RankNet with the same penalty: the same least \
                    value, the same scores of unseen documents",
        paper: "Eq. 17",
        convention: "both solved by Newton's method, one in coefficients of documents, one in weights; values to 1e-9 \
                     of them, scores to 1e-6",
        check: kernel_checks::linear_kernel,
    },
    Fact {
        id: "representer",
        primary: true,
        statement: "Eq. 18: kernels at further points, free to be used, do not lower the least value and get no weight",
        paper: "\"any solution that minimizes (17) can be written in the form\" of a sum over training documents",
        convention: "as many further points as training documents, Gaussian kernel; value to 1e-9 of it, weights \
                     below 1e-6",
        check: kernel_checks::representer,
    },
    Fact {
        id: "orthogonal",
        primary: true,
        statement: "Parts of a function that are orthogonal to the kernels at training documents do not change their \
                    scores and raise Eq. 17",
        paper: "\"f appears only through its evaluations on training points\"",
        convention: "kernels at 20 random points less their projection, times +-0.1 and +-1; scores to 1e-6",
        check: kernel_checks::orthogonal,
    },
    Fact {
        id: "gradient-descent",
        primary: true,
        statement: "Gradient descent minimises Eq. 17",
        paper: "\"One could again certainly minimize Eq. 17 using gradient descent\"",
        convention: "in the kernel's space, from 0, Gaussian and linear kernel; to 1e-6 of Newton's value",
        check: kernel_checks::gradient_descent,
    },
    Fact {
        id: "convexity",
        primary: true,
        statement: "Depending on the kernel, the objective may not be convex: it is for positive kernels (linear, \
                    Gaussian, quadratic), it is not for tanh(x.z - 1)",
        paper: "\"depending on the kernel, the objective function may not be convex\"",
        convention: "smallest eigenvalue of the second derivatives in the coefficients, at 0 and at 5 random \
                     coefficients, 24 documents",
        check: kernel_checks::convexity,
    },
    Fact {
        id: "library",
        primary: true,
        statement: "The program's model `kernel-ranknet` reaches the least value of Eq. 17 with a Gaussian kernel",
        paper: "Eq. 17",
        convention: "gamma 1/features; its kernel matrix is in single precision: to 1e-3 of the value in double \
                     precision",
        check: kernel_checks::library,
    },
    Fact {
        id: "linear-net",
        primary: false,
        statement: "A linear net trained by gradient descent with the same penalty reaches the pair cost of the \
                    linear-kernel solution",
        paper: "not said",
        convention: "full batches, constant step, 3,000 epochs; to 1e-3 of the cost",
        check: kernel_checks::linear_net,
    },
    Fact {
        id: "unique",
        primary: false,
        statement: "From other starting coefficients the same function is found",
        paper: "not said",
        convention: "Gaussian kernel, 3 random starts; scores of training documents to 1e-5",
        check: kernel_checks::unique,
    },
    Fact {
        id: "dense",
        primary: false,
        statement: "No coefficient is 0: scoring takes a kernel for each training document that is in a pair",
        paper: "\"kernel methods ... must be used with care if the resulting algorithm is to be wieldy\"",
        convention: "above 1e-9; Gaussian kernel",
        check: kernel_checks::dense,
    },
];

fn claims(_: &Session) -> Vec<Claim> {
    facts::claims(FACTS)
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let Sizes { functions, queries, documents, steps } = sizes(session.scale);
    Ok(json!({
        "facts": facts::protocol(FACTS),
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
            "The figure and the table are of the first data set: how well unseen queries are ranked by the penalty. \
             The paper states nothing of this, and one small data set shows nothing in general."
                .into(),
            "The objective can only fail to be convex for a kernel that is not positive, and such a kernel belongs to \
             no Hilbert space, as Eq. 17 has one: for all kernels that Eq. 17 is defined for, the objective is convex."
                .into(),
        ],
        protocol: vec![format!(
            "Data: {functions} random nets, {queries} training and {queries} unseen queries of {documents} documents \
             with {FEATURES} features each; every statement is checked {DATA}. A small solver in double precision \
             minimises Eq. 17 for any positive kernel, by Newton's method, with the library's RankNet cost, slopes \
             and second derivatives."
        )],
        deviations: vec![
            "The paper describes kernel RankNet without training it. The sum of Eq. 17 is taken over pairs of the \
             same query with different labels, as in the rest of the paper."
                .into(),
        ],
        figure: draw(&[panel])?,
        ..facts::report(execution, FACTS, "statements hold")?
    })
}

/// All coefficients 0: every pair costs ln 2.
fn zero_function(session: &Session) -> anyhow::Result<Control> {
    let (train, _) = data(session)?.swap_remove(0);
    let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
    let found = problem.value(&vec![0.0; problem.points])?;
    let mut pairs = 0;
    for query in train.queries() {
        pairs += query.labels.iter().map(|own| query.labels.iter().filter(|other| *other < own).count()).sum::<usize>();
    }
    let expected = pairs as f64 * 2f64.ln();
    Ok(Control {
        description: format!("Eq. 17 of the function 0 over {pairs} pairs"),
        expected: format!("{expected:.6}"),
        ours: format!("{found:.6}"),
        holds: (found - expected).abs() < 1e-9 * expected,
    })
}

/// Unseen queries by penalty, for both kernels.
fn penalties(session: &Session) -> anyhow::Result<(Table, Panel)> {
    let (train, unseen) = data(session)?.swap_remove(0);
    let mut table = Table::titled(
        "Share of pairs in the right order, percent, by the penalty lambda:",
        &["kernel", "lambda", "training", "unseen"],
    );
    let lambdas = [0.01, 0.1, 1.0, 10.0, 100.0];
    let mut series = vec![];
    for (colour, (name, kernel)) in [("linear", Kernel::Linear), ("Gaussian", GAUSSIAN)].into_iter().enumerate() {
        let mut points = vec![];
        for (place, lambda) in lambdas.into_iter().enumerate() {
            let problem = Problem::new(&train, &[], kernel, lambda);
            let alphas = problem.least(&vec![0.0; problem.points])?.0;
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
            points.push((place as f64, new, None));
        }
        series.push(Series { name: format!("{name} kernel"), whose: Whose::Ours, colour, joined: true, points });
    }
    let panel = Panel {
        title: "unseen queries, by the penalty".into(),
        x_label: "lambda".into(),
        y_label: "percent of pairs right".into(),
        ticks: lambdas.iter().enumerate().map(|(place, lambda)| (place as f64, lambda.to_string())).collect(),
        series,
        ..Panel::default()
    };
    Ok((table, panel))
}
