//! Comparisons of nets on random functions: all arms have the same tuning, functions, seeds and test queries.

mod parts;
mod plan;
mod study;

pub use parts::{Parts, binary_function, function};
pub use plan::{Plan, QUICK};
pub use study::{Evaluation, LearningRates, Study, evaluate, marked, paper_gains};

use crate::harness::comparison::run_grid;
use crate::harness::tuning::{Tuned, tune};
use crate::harness::units::mean;
use crate::harness::{Execution, Job, OneEntryCache, Session, Ticker, train};
use anyhow::Context;
use burnrank::{Activation, Architecture, Model, Objective, ScaleKind, Schedule, Synthetic, TrainConfig};
use serde_json::{Value, json};

/// Default number of hidden units.
pub const HIDDEN: usize = 10;

/// Number of the first function used for tuning; functions for tuning are not used for evaluation.
const FIRST_TUNING_FUNCTION: u64 = 900;

/// One of the objectives or nets in a comparison.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Unique name, part of the keys of its runs.
    pub key: String,
    pub objective: Objective,
    /// Metric that selects the epoch and the learning rate on validation queries; its values on test queries are stored.
    pub metric: String,
    pub hidden: usize,
}

impl Arm {
    /// An objective by name, with the default net.
    pub fn new(objective: &str, metric: &str) -> anyhow::Result<Arm> {
        let (key, objective) = (objective.to_owned(), Objective::parse(objective)?);
        Ok(Arm { key, objective, metric: metric.into(), hidden: HIDDEN })
    }

    /// Settings of a run: a two-layer net of tanh units, Adam, ten queries per batch, a constant learning rate.
    pub fn config(&self, plan: &Plan, scaling: ScaleKind, learning_rate: f64, seed: u64) -> TrainConfig {
        TrainConfig {
            objective: self.objective.clone(),
            architecture: Architecture::Mlp { hidden: vec![self.hidden], activation: Activation::Tanh },
            scaling,
            metric: self.metric.clone(),
            epochs: plan.epochs,
            patience: plan.patience,
            learning_rate,
            schedule: Schedule::Constant,
            seed,
            ..TrainConfig::default()
        }
    }
}

/// All settings that determine the runs of a comparison.
pub fn protocol(session: &Session, plan: &Plan, arms: &[Arm]) -> Value {
    let runs: Vec<TrainConfig> =
        arms.iter().map(|arm| arm.config(plan, ScaleKind::None, 0.001, net_seed(session, 0))).collect();
    json!({"plan": plan, "data": Synthetic::lambdarank(), "runs": runs})
}

/// Seed of a net's initial weights and batches.
pub fn net_seed(session: &Session, seed: u64) -> u64 {
    // Differs from the seeds of all functions.
    session.seed.wrapping_mul(1_000).wrapping_add(500 + seed)
}

/// Tunes the learning rate of each arm on separate functions, trains every arm on every function, and evaluates the nets on
/// test queries.
pub fn run(execution: &Execution<'_>, plan: &Plan, arms: &[Arm]) -> anyhow::Result<Study> {
    run_with(execution, plan, arms, |_, _, _, _| Ok(()))
}

/// As [`run`]; calls `inspect` with the arm, the function, its models (one per seed) and its queries.
pub fn run_with(
    execution: &Execution<'_>,
    plan: &Plan,
    arms: &[Arm],
    inspect: impl Fn(usize, u64, &[Model], &Parts) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<Study> {
    let tuned = tune_learning_rates(execution, plan, arms)?;
    let name = |function, arm: usize| Some((run_key(function, &arms[arm].key), plan.seeds as f64));
    let load = |function| Parts::planned(execution.session, function, plan.binary, plan.queries);
    let runs = run_grid(execution, 0..plan.functions, arms.len(), name, load, |parts, job, ticker| {
        let (function, arm) = job.what;
        let learning_rate = tuned[arm].best;
        let models = (0..plan.seeds)
            .map(|seed| {
                let share = (seed as f64 / plan.seeds as f64, (seed + 1) as f64 / plan.seeds as f64);
                train_one(execution, &job.key, plan, &arms[arm], parts, learning_rate, seed, (ticker, share))
            })
            .collect::<anyhow::Result<Vec<Model>>>()?;
        inspect(arm, function, &models, parts)?;
        evaluate(&arms[arm], &models, learning_rate, &parts.sets)
    })?;
    Ok(Study::new(plan, arms, tuned, runs))
}

/// Key of the run of an arm on a function.
pub fn run_key(function: u64, arm: &str) -> String {
    format!("function {} {arm}", function + 1)
}

/// Learning rate of each arm with the best mean validation metric over the functions for tuning.
pub fn tune_learning_rates(execution: &Execution<'_>, plan: &Plan, arms: &[Arm]) -> anyhow::Result<Vec<Tuned>> {
    let job = |(number, arm): (usize, &Arm)| Job { key: format!("step size {}", arm.key), work: 8.0, what: number };
    let jobs: Vec<Job<usize>> = arms.iter().enumerate().map(job).collect();
    let cache = OneEntryCache::default();
    let results = execution.run_all(&jobs, |job, ticker| {
        let functions = cache.get((), || {
            let part = |number| {
                let [n_train, n_valid, _] = plan.queries;
                let number = FIRST_TUNING_FUNCTION + number;
                Parts::planned(execution.session, number, plan.binary, [n_train, n_valid, 1])
            };
            (0..plan.tuning_functions).map(part).collect::<anyhow::Result<Vec<Parts>>>()
        })?;
        let mut done = 0.0;
        let tuned = tune(plan.learning_rates, plan.extensions, |learning_rate| {
            let mut values = vec![];
            for (number, parts) in functions.iter().enumerate() {
                let key = format!("{} {learning_rate} {number}", job.key);
                let share = (done, 0.5 * (done + 1.0));
                done = share.1;
                let model =
                    train_one(execution, &key, plan, &arms[job.what], parts, learning_rate, 0, (ticker, share))?;
                values.push(model.best_value().context("no epoch was trained")?);
            }
            Ok(mean(&values))
        })?;
        Ok(LearningRates(tuned))
    })?;
    Ok(results.into_iter().map(|learning_rates| learning_rates.0).collect())
}

/// Trains one net.
#[allow(clippy::too_many_arguments)]
pub fn train_one(
    execution: &Execution<'_>,
    key: &str,
    plan: &Plan,
    arm: &Arm,
    parts: &Parts,
    learning_rate: f64,
    seed: u64,
    share: (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Model> {
    let config = arm.config(plan, parts.scaling, learning_rate, net_seed(execution.session, seed));
    train(execution, &format!("{key} seed {seed}"), &config, &parts.data, share, |_| false)
}
