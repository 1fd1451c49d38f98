//! Section 7 of the paper: RankNet with kernels, and the form of its solution.

use super::kernel_solver::{Kernel, Problem, dot, linear, parts, rows, solve};
use crate::harness::facts::{self, Checked, Fact};
use crate::harness::figure::{Panel, Series, Whose, draw};
use crate::harness::{Claim, Control, Execution, Experiment, Kind, Paper, Report, Scale, Session};
use burnrank::analysis::field::eigenvalues;
use burnrank::metric::{judge, parse};
use burnrank::text::Table;
use burnrank::train::ModelChoice;
use burnrank::{
    Architecture, Conventions, Dataset, Objective, OptimizerKind, ScaleKind, StepRule, Synthetic, TrainConfig, Trainer,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-kernel",
    kind: Kind::Paper,
    paper: Paper::RankNet,
    place: "section 7: Eq. 17 and 18",
    claim: "RankNet can be trained with kernels; a function that minimises Eq. 17 is a sum of kernels at training documents (the representer \
            theorem); gradient descent can find it; depending on the kernel, the objective may not be convex.",
    time: "about a minute",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const LAMBDA: f64 = 1.0;
const FEATURES: usize = 8;
const GAUSSIAN: Kernel = Kernel::Gaussian(1.0 / FEATURES as f64);

struct Sizes {
    functions: u64,
    queries: usize,
    documents: usize,
    /// Of gradient descent.
    steps: usize,
}

fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes { functions: 5, queries: 12, documents: 15, steps: 5000 },
        Sizes { functions: 2, queries: 5, documents: 8, steps: 2000 },
    )
}

const DATA: &str = "on data of each of several random nets; lambda 1";

const FACTS: &[Fact] = &[
    Fact {
        id: "linear-kernel",
        primary: true,
        statement: "With a linear kernel, kernel RankNet is the linear RankNet with the same penalty: the same least value, the same scores of \
                    unseen documents",
        paper: "Eq. 17",
        convention: "both solved by Newton's method, one in coefficients of documents, one in weights; values to 1e-9 of them, scores to 1e-6",
        check: linear_kernel,
    },
    Fact {
        id: "representer",
        primary: true,
        statement: "Eq. 18: kernels at further points, free to be used, do not lower the least value and get no weight",
        paper: "\"any solution that minimizes (17) can be written in the form\" of a sum over training documents",
        convention: "as many further points as training documents, Gaussian kernel; value to 1e-9 of it, weights below 1e-6",
        check: representer,
    },
    Fact {
        id: "orthogonal",
        primary: true,
        statement: "Parts of a function that are orthogonal to the kernels at training documents do not change their scores and raise Eq. 17",
        paper: "\"f appears only through its evaluations on training points\"",
        convention: "kernels at 20 random points less their projection, times +-0.1 and +-1; scores to 1e-6",
        check: orthogonal,
    },
    Fact {
        id: "gradient-descent",
        primary: true,
        statement: "Gradient descent minimises Eq. 17",
        paper: "\"One could again certainly minimize Eq. 17 using gradient descent\"",
        convention: "in the kernel's space, from 0, Gaussian and linear kernel; to 1e-6 of Newton's value",
        check: gradient_descent,
    },
    Fact {
        id: "convexity",
        primary: true,
        statement: "Depending on the kernel, the objective may not be convex: it is for positive kernels (linear, Gaussian, quadratic), it is not \
                    for tanh(x.z - 1)",
        paper: "\"depending on the kernel, the objective function may not be convex\"",
        convention: "smallest eigenvalue of the second derivatives in the coefficients, at 0 and at 5 random coefficients, 24 documents",
        check: convexity,
    },
    Fact {
        id: "library",
        primary: true,
        statement: "The program's model `kernel-ranknet` reaches the least value of Eq. 17 with a Gaussian kernel",
        paper: "Eq. 17",
        convention: "gamma 1/features; its kernel matrix is in single precision: to 1e-3 of the value in double precision",
        check: library,
    },
    Fact {
        id: "linear-net",
        primary: false,
        statement: "A linear net trained by gradient descent with the same penalty reaches the pair cost of the linear-kernel solution",
        paper: "not said",
        convention: "full batches, constant step, 3,000 epochs; to 1e-3 of the cost",
        check: linear_net,
    },
    Fact {
        id: "unique",
        primary: false,
        statement: "From other starting coefficients the same function is found",
        paper: "not said",
        convention: "Gaussian kernel, 3 random starts; scores of training documents to 1e-5",
        check: unique,
    },
    Fact {
        id: "dense",
        primary: false,
        statement: "No coefficient is 0: scoring takes a kernel for each training document that is in a pair",
        paper: "\"kernel methods ... must be used with care if the resulting algorithm is to be wieldy\"",
        convention: "above 1e-9; Gaussian kernel",
        check: dense,
    },
];

/// Training and unseen queries of each random net.
fn data(session: &Session) -> anyhow::Result<Vec<(Dataset, Dataset)>> {
    let sizes = sizes(session.scale);
    let one = |function: u64| {
        let seed = session.seed.wrapping_mul(1000).wrapping_add(function);
        let settings = Synthetic { documents: sizes.documents, features: FEATURES, seed, ..Synthetic::net() };
        let generator = settings.generator()?;
        let part = |from: usize| generator.part(from..from + sizes.queries).map(|part| part.0);
        anyhow::Ok((part(0)?, part(sizes.queries)?))
    };
    (0..sizes.functions).map(one).collect()
}

/// Of a function given by its points and their coefficients.
fn score(kernel: Kernel, points: &[&[f32]], alphas: &[f64], row: &[f32]) -> f64 {
    points.iter().zip(alphas).map(|(point, alpha)| alpha * kernel.value(point, row)).sum()
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most: f64, value| if value.is_nan() { f64::NAN } else { most.max(value.abs()) })
}

fn linear_kernel(session: &Session) -> anyhow::Result<Checked> {
    let (mut values, mut scores) = (vec![], vec![]);
    for (train, unseen) in data(session)? {
        let problem = Problem::new(&train, &[], Kernel::Linear, LAMBDA);
        let (alphas, value) = problem.least(&vec![0.0; problem.points])?;
        let (weights, direct) = linear(&train, LAMBDA)?;
        values.push((value - direct) / direct);
        for row in rows(&unseen) {
            let own: f64 = row.iter().zip(&weights).map(|(&x, w)| f64::from(x) * w).sum();
            scores.push(score(Kernel::Linear, &rows(&train), &alphas, row) - own);
        }
    }
    let (value, score) = (largest(values), largest(scores));
    let ours = format!(
        "{} data sets: values differ by {value:.0e} of them, scores of unseen documents by {score:.0e}",
        data(session)?.len()
    );
    Checked::new(value < 1e-9 && score < 1e-6, format!("{ours} at most"))
}

fn representer(session: &Session) -> anyhow::Result<Checked> {
    let (mut lower, mut weights) = (0.0f64, 0.0f64);
    for (train, unseen) in data(session)? {
        let own = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let value = own.least(&vec![0.0; own.points])?.1;
        let wider = Problem::new(&train, &rows(&unseen), GAUSSIAN, LAMBDA);
        // A start that uses them all.
        let (alphas, wide) = wider.least(&vec![0.1; wider.points])?;
        lower = lower.max((value - wide) / value);
        weights = weights.max(largest(alphas[own.points..].iter().copied()));
    }
    let ours =
        format!("the least value falls by {lower:.0e} of it; the largest weight of a further point is {weights:.0e}");
    Checked::new(lower < 1e-9 && weights < 1e-6, ours)
}

fn orthogonal(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 21);
    let (mut changes, mut raised, mut as_expected) = (0.0f64, true, 0.0f64);
    for (train, _) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let (alphas, value) = problem.least(&vec![0.0; problem.points])?;
        for _ in 0..20 {
            let point: Vec<f32> = (0..FEATURES).map(|_| random.random_range(-1.0..1.0)).collect();
            let across: Vec<f64> = rows(&train).iter().map(|row| GAUSSIAN.value(row, &point)).collect();
            let projection = solve(problem.kernel.clone(), across.clone())?;
            let wider = Problem::new(&train, &[&point], GAUSSIAN, LAMBDA);
            let norm = GAUSSIAN.value(&point, &point) - dot(&projection, &across);
            for size in [-1.0, -0.1, 0.1, 1.0] {
                let mut moved: Vec<f64> = alphas.iter().zip(&projection).map(|(alpha, p)| alpha - size * p).collect();
                moved.push(size);
                let (before, after) = (problem.scores(&alphas), wider.scores(&moved));
                changes = changes.max(largest(before.iter().zip(&after).map(|(before, after)| before - after)));
                let gain = wider.value(&moved)? - value;
                raised &= gain > 0.0;
                as_expected = as_expected.max((gain - LAMBDA * size * size * norm).abs());
            }
        }
    }
    let ours = format!(
        "scores of training documents change by {changes:.0e}; Eq. 17 always rises: {raised}, by lambda times the square norm to {as_expected:.0e}"
    );
    Checked::new(changes < 1e-6 && raised && as_expected < 1e-6, ours)
}

fn gradient_descent(session: &Session) -> anyhow::Result<Checked> {
    let mut worst = 0.0f64;
    for (train, _) in data(session)? {
        for kernel in [Kernel::Linear, GAUSSIAN] {
            let problem = Problem::new(&train, &[], kernel, LAMBDA);
            let value = problem.least(&vec![0.0; problem.points])?.1;
            worst = worst.max((problem.descend(sizes(session.scale).steps)? - value).abs() / value);
        }
    }
    Checked::new(
        worst < 1e-6,
        format!("{} steps end {worst:.0e} above the least value, as a share of it", sizes(session.scale).steps),
    )
}

/// The smallest eigenvalue of F's second derivatives at several places, by the largest.
fn smallest(kernel: Kernel, session: &Session) -> anyhow::Result<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 22);
    let settings = Synthetic { documents: 8, features: FEATURES, seed: session.seed, ..Synthetic::net() };
    let train = settings.generator()?.part(0..3)?.0;
    let problem = Problem::new(&train, &[], kernel, LAMBDA);
    let mut least = f64::INFINITY;
    for place in 0..6 {
        let size = if place == 0 { 0.0 } else { 0.1 };
        let alphas: Vec<f64> = (0..problem.points).map(|_| size * random.random_range(-1.0..1.0)).collect();
        let spectrum = eigenvalues(&problem.hessian(&alphas)?)?;
        least = least.min(spectrum[0] / spectrum[spectrum.len() - 1]);
    }
    Ok(least)
}

fn convexity(session: &Session) -> anyhow::Result<Checked> {
    let mut positive = vec![];
    for kernel in [Kernel::Linear, GAUSSIAN, Kernel::Quadratic] {
        positive.push(smallest(kernel, session)?);
    }
    let odd = smallest(Kernel::Tanh, session)?;
    let ours = format!(
        "smallest eigenvalue, as a share of the largest: linear {:.0e}, Gaussian {:.0e}, quadratic {:.0e}, tanh {odd:.3}",
        positive[0], positive[1], positive[2]
    );
    Checked::new(positive.iter().all(|least| *least > -1e-9) && odd < -1e-3, ours)
}

fn library(session: &Session) -> anyhow::Result<Checked> {
    let mut worst = 0.0f64;
    for (train, unseen) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let value = problem.least(&vec![0.0; problem.points])?.1;
        let mut config = "kernel-ranknet:lambda=1".parse::<ModelChoice>()?.config();
        (config.scaling, config.seed) = (ScaleKind::None, session.seed);
        let mut trainer = Trainer::new(config, &train, &unseen, &session.device)?;
        while trainer.finished().is_none() {
            trainer.epoch()?;
        }
        let found = trainer.history().last().map_or(f64::NAN, |epoch| epoch.loss) * train.n_queries() as f64;
        worst = worst.max((found - value).abs() / value);
    }
    Checked::new(worst < 1e-3, format!("values differ by {worst:.0e} of them at most"))
}

fn linear_net(session: &Session) -> anyhow::Result<Checked> {
    let mut worst = 0.0f64;
    for (train, unseen) in data(session)? {
        let queries = train.n_queries() as f64;
        let weights = linear(&train, LAMBDA)?.0;
        let scores: Vec<f64> =
            rows(&train).iter().map(|row| row.iter().zip(&weights).map(|(&x, w)| f64::from(x) * w).sum()).collect();
        let cost = parts(&train, &scores, train.n_documents())?.cost / queries;
        let config = TrainConfig {
            objective: Objective::parse("ranknet")?,
            architecture: Architecture::Linear,
            scaling: ScaleKind::None,
            epochs: 3000,
            learning_rate: 0.01,
            optimizer: OptimizerKind::Sgd,
            batch_queries: train.n_queries(),
            step_rule: StepRule::Constant,
            patience: 0,
            // The cost is a mean over queries, and the penalty's slope is l2 w.
            l2: 2.0 * LAMBDA / queries,
            seed: session.seed,
            ..TrainConfig::default()
        };
        let mut trainer = Trainer::new(config, &train, &unseen, &session.device)?;
        while trainer.finished().is_none() {
            trainer.epoch()?;
        }
        let found = trainer.history().last().map_or(f64::NAN, |epoch| epoch.loss);
        worst = worst.max((found - cost).abs() / cost);
    }
    Checked::new(worst < 1e-3, format!("pair costs differ by {worst:.0e} of them at most"))
}

fn unique(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 23);
    let mut worst = 0.0f64;
    for (train, _) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let first = problem.scores(&problem.least(&vec![0.0; problem.points])?.0);
        for _ in 0..3 {
            let start: Vec<f64> = (0..problem.points).map(|_| random.random_range(-1.0..1.0)).collect();
            let again = problem.scores(&problem.least(&start)?.0);
            worst = worst.max(largest(first.iter().zip(&again).map(|(first, again)| first - again)));
        }
    }
    Checked::new(worst < 1e-5, format!("scores differ by {worst:.0e} at most"))
}

fn dense(session: &Session) -> anyhow::Result<Checked> {
    let (mut used, mut all) = (0, 0);
    for (train, _) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let alphas = problem.least(&vec![0.0; problem.points])?.0;
        let in_pairs = train.queries().filter(|query| query.labels.iter().any(|label| *label != query.labels[0]));
        all += in_pairs.map(|query| query.labels.len()).sum::<usize>();
        used += alphas.iter().filter(|alpha| alpha.abs() > 1e-9).count();
    }
    Checked::new(used == all, format!("{used} of {all} training documents in pairs have a coefficient"))
}

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
    let evidence = facts::check(execution, FACTS)?;
    let Sizes { functions, queries, documents, .. } = sizes(session.scale);
    let (table, panel) = penalties(session)?;
    Ok(Report {
        main: format!("{} statements hold; {} others", facts::count(FACTS, &evidence, true), facts::count(FACTS, &evidence, false)),
        evidence,
        controls: vec![zero_function(session)?],
        tables: vec![table],
        notes: vec![
            "The figure and the table are of the first data set: how well unseen queries are ranked by the penalty. The paper states nothing of \
             this, and one small data set shows nothing in general."
                .into(),
            "The objective can only fail to be convex for a kernel that is not positive, and such a kernel belongs to no Hilbert space, as Eq. 17 \
             has one: for all kernels that Eq. 17 is defined for, the objective is convex."
                .into(),
        ],
        protocol: vec![format!(
            "Data: {functions} random nets, {queries} training and {queries} unseen queries of {documents} documents with {FEATURES} features each; \
             every statement is checked {DATA}. A small solver in double precision minimises Eq. 17 for any positive kernel, by Newton's method, \
             with the library's RankNet cost, slopes and second derivatives."
        )],
        deviations: vec![
            "The paper describes kernel RankNet without training it. The sum of Eq. 17 is taken over pairs of the same query with different \
             labels, as in the rest of the paper."
                .into(),
        ],
        figure: draw(&[panel])?,
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
        what: format!("Eq. 17 of the function 0 over {pairs} pairs"),
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
                let values = judge(&*parse("pairs")?, &scores, data.labels(), data.offsets(), &Conventions::default())?;
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
