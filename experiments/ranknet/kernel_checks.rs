//! Checks of RankNet with kernels, each on several small data sets.

use super::kernel_solver::{Kernel, Problem, dot, linear, parts, rows, solve};
use crate::harness::facts::Checked;
use crate::harness::{Scale, Session};
use burnrank::analysis::lambda_field::eigenvalues;
use burnrank::setting::ModelChoice;
use burnrank::{Architecture, Dataset, Objective, OptimizerKind, ScaleKind, Schedule, Synthetic, TrainConfig, Trainer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub const LAMBDA: f64 = 1.0;
pub const FEATURES: usize = 8;
pub const GAUSSIAN: Kernel = Kernel::Gaussian(1.0 / FEATURES as f64);

pub struct Sizes {
    pub functions: u64,
    pub queries: usize,
    pub documents: usize,
    /// Steps of gradient descent.
    pub steps: usize,
}

pub fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes { functions: 5, queries: 12, documents: 15, steps: 5000 },
        Sizes { functions: 2, queries: 5, documents: 8, steps: 2000 },
    )
}

/// Training and unseen queries of each random net.
pub fn data(session: &Session) -> anyhow::Result<Vec<(Dataset, Dataset)>> {
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

/// Score of a document by kernels at points with coefficients.
pub fn score(kernel: Kernel, points: &[&[f32]], alphas: &[f64], row: &[f32]) -> f64 {
    points.iter().zip(alphas).map(|(point, alpha)| alpha * kernel.value(point, row)).sum()
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |max: f64, value| if value.is_nan() { f64::NAN } else { max.max(value.abs()) })
}

pub fn linear_kernel(session: &Session) -> anyhow::Result<Checked> {
    let (mut values, mut scores) = (vec![], vec![]);
    for (train, unseen) in data(session)? {
        let problem = Problem::new(&train, &[], Kernel::Linear, LAMBDA);
        let (alphas, value) = problem.minimum(&vec![0.0; problem.points])?;
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

pub fn representer(session: &Session) -> anyhow::Result<Checked> {
    let (mut lower, mut weights) = (0.0f64, 0.0f64);
    for (train, unseen) in data(session)? {
        let own = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let value = own.minimum(&vec![0.0; own.points])?.1;
        let extensions = Problem::new(&train, &rows(&unseen), GAUSSIAN, LAMBDA);
        // The start gives weight to all points.
        let (alphas, wide) = extensions.minimum(&vec![0.1; extensions.points])?;
        lower = lower.max((value - wide) / value);
        weights = weights.max(largest(alphas[own.points..].iter().copied()));
    }
    let ours =
        format!("the least value falls by {lower:.0e} of it; the largest weight of a further point is {weights:.0e}");
    Checked::new(lower < 1e-9 && weights < 1e-6, ours)
}

pub fn orthogonal(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 21);
    let (mut changes, mut raised, mut as_expected) = (0.0f64, true, 0.0f64);
    for (train, _) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let (alphas, value) = problem.minimum(&vec![0.0; problem.points])?;
        for _ in 0..20 {
            let point: Vec<f32> = (0..FEATURES).map(|_| random.random_range(-1.0..1.0)).collect();
            let across: Vec<f64> = rows(&train).iter().map(|row| GAUSSIAN.value(row, &point)).collect();
            let projection = solve(problem.kernel.clone(), across.clone())?;
            let extensions = Problem::new(&train, &[&point], GAUSSIAN, LAMBDA);
            let norm = GAUSSIAN.value(&point, &point) - dot(&projection, &across);
            for size in [-1.0, -0.1, 0.1, 1.0] {
                let mut moved: Vec<f64> = alphas.iter().zip(&projection).map(|(alpha, p)| alpha - size * p).collect();
                moved.push(size);
                let (before, after) = (problem.scores(&alphas), extensions.scores(&moved));
                changes = changes.max(largest(before.iter().zip(&after).map(|(before, after)| before - after)));
                let gain = extensions.value(&moved)? - value;
                raised &= gain > 0.0;
                as_expected = as_expected.max((gain - LAMBDA * size * size * norm).abs());
            }
        }
    }
    let ours = format!(
        "scores of training documents change by {changes:.0e}; Eq. 17 always rises: {raised}, by lambda times the \
         square norm to {as_expected:.0e}"
    );
    Checked::new(changes < 1e-6 && raised && as_expected < 1e-6, ours)
}

pub fn gradient_descent(session: &Session) -> anyhow::Result<Checked> {
    let mut worst = 0.0f64;
    for (train, _) in data(session)? {
        for kernel in [Kernel::Linear, GAUSSIAN] {
            let problem = Problem::new(&train, &[], kernel, LAMBDA);
            let value = problem.minimum(&vec![0.0; problem.points])?.1;
            worst = worst.max((problem.descend(sizes(session.scale).steps)? - value).abs() / value);
        }
    }
    Checked::new(
        worst < 1e-6,
        format!("{} steps end {worst:.0e} above the least value, as a share of it", sizes(session.scale).steps),
    )
}

/// Minimum over several points of the ratio of the smallest to the largest eigenvalue of F's hessian.
fn smallest(kernel: Kernel, session: &Session) -> anyhow::Result<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 22);
    let settings = Synthetic { documents: 8, features: FEATURES, seed: session.seed, ..Synthetic::net() };
    let train = settings.generator()?.part(0..3)?.0;
    let problem = Problem::new(&train, &[], kernel, LAMBDA);
    let mut minimum = f64::INFINITY;
    for place in 0..6 {
        let size = if place == 0 { 0.0 } else { 0.1 };
        let alphas: Vec<f64> = (0..problem.points).map(|_| size * random.random_range(-1.0..1.0)).collect();
        let spectrum = eigenvalues(&problem.hessian(&alphas)?)?;
        minimum = minimum.min(spectrum[0] / spectrum[spectrum.len() - 1]);
    }
    Ok(minimum)
}

pub fn convexity(session: &Session) -> anyhow::Result<Checked> {
    let mut positive = vec![];
    for kernel in [Kernel::Linear, GAUSSIAN, Kernel::Quadratic] {
        positive.push(smallest(kernel, session)?);
    }
    let odd = smallest(Kernel::Tanh, session)?;
    let ours = format!(
        "smallest eigenvalue, as a share of the largest: linear {:.0e}, Gaussian {:.0e}, quadratic {:.0e}, tanh \
         {odd:.3}",
        positive[0], positive[1], positive[2]
    );
    Checked::new(positive.iter().all(|minimum| *minimum > -1e-9) && odd < -1e-3, ours)
}

pub fn library(session: &Session) -> anyhow::Result<Checked> {
    let mut worst = 0.0f64;
    for (train, unseen) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let value = problem.minimum(&vec![0.0; problem.points])?.1;
        let mut config = "kernel-ranknet:lambda=1".parse::<ModelChoice>()?.config();
        (config.scaling, config.seed) = (ScaleKind::None, session.seed);
        let trainer = Trainer::new(config, &train, &unseen, &session.device)?;
        let loss = trainer.train()?.history.last().map_or(f64::NAN, |epoch| epoch.loss) * train.n_queries() as f64;
        worst = worst.max((loss - value).abs() / value);
    }
    Checked::new(worst < 1e-3, format!("values differ by {worst:.0e} of them at most"))
}

pub fn linear_net(session: &Session) -> anyhow::Result<Checked> {
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
            schedule: Schedule::Constant,
            patience: 0,
            // The cost is a mean over queries, and the penalty's gradient is l2 w.
            l2: 2.0 * LAMBDA / queries,
            seed: session.seed,
            ..TrainConfig::default()
        };
        let trainer = Trainer::new(config, &train, &unseen, &session.device)?;
        let loss = trainer.train()?.history.last().map_or(f64::NAN, |epoch| epoch.loss);
        worst = worst.max((loss - cost).abs() / cost);
    }
    Checked::new(worst < 1e-3, format!("pair costs differ by {worst:.0e} of them at most"))
}

pub fn unique(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 23);
    let mut worst = 0.0f64;
    for (train, _) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let first = problem.scores(&problem.minimum(&vec![0.0; problem.points])?.0);
        for _ in 0..3 {
            let start: Vec<f64> = (0..problem.points).map(|_| random.random_range(-1.0..1.0)).collect();
            let again = problem.scores(&problem.minimum(&start)?.0);
            worst = worst.max(largest(first.iter().zip(&again).map(|(first, again)| first - again)));
        }
    }
    Checked::new(worst < 1e-5, format!("scores differ by {worst:.0e} at most"))
}

pub fn dense(session: &Session) -> anyhow::Result<Checked> {
    let (mut used, mut all) = (0, 0);
    for (train, _) in data(session)? {
        let problem = Problem::new(&train, &[], GAUSSIAN, LAMBDA);
        let alphas = problem.minimum(&vec![0.0; problem.points])?.0;
        let in_pairs = train.queries().filter(|query| query.labels.iter().any(|label| *label != query.labels[0]));
        all += in_pairs.map(|query| query.labels.len()).sum::<usize>();
        used += alphas.iter().filter(|alpha| alpha.abs() > 1e-9).count();
    }
    Checked::new(used == all, format!("{used} of {all} training documents in pairs have a coefficient"))
}
