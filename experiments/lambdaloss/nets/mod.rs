//! Nets on random functions: every arm of a comparison tuned alike, trained on the same functions with the same seeds,
//! and judged on the same test queries.

mod parts;
mod plan;
mod study;

pub use parts::{Parts, binary_function, function};
pub use plan::Plan;
pub use study::{Found, LearningRates, Study, gap_text, judged, mean_text, point};

use crate::harness::tuning::{Tuned, tune};
use crate::harness::units::mean;
use crate::harness::{Execution, Job, OneEntryCache, Session, Ticker, train};
use anyhow::Context;
use burnrank::{Activation, Architecture, Model, Objective, ScaleKind, Schedule, Synthetic, TrainConfig};
use serde_json::{Value, json};

/// Hidden units of the net that most comparisons train.
pub const HIDDEN: usize = 10;

/// The numbers of functions that only step sizes are chosen on: none of them is judged.
const FIRST_TUNING_FUNCTION: u64 = 900;

/// One thing that is compared.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Unique, part of the names of its runs.
    pub key: String,
    pub objective: Objective,
    /// What chooses epoch and step size on validation queries, and what is kept of each test query.
    pub metric: String,
    pub hidden: usize,
}

impl Arm {
    /// An objective by its name, with the usual net.
    pub fn new(objective: &str, metric: &str) -> anyhow::Result<Arm> {
        let (key, objective) = (objective.to_owned(), Objective::parse(objective)?);
        Ok(Arm { key, objective, metric: metric.into(), hidden: HIDDEN })
    }

    /// Two layers of tanh units, Adam, ten queries per batch, a constant step size.
    pub fn config(&self, plan: &Plan, scaling: ScaleKind, step: f64, seed: u64) -> TrainConfig {
        TrainConfig {
            objective: self.objective.clone(),
            architecture: Architecture::Mlp { hidden: vec![self.hidden], activation: Activation::Tanh },
            scaling,
            metric: self.metric.clone(),
            epochs: plan.epochs,
            patience: plan.patience,
            learning_rate: step,
            schedule: Schedule::Constant,
            seed,
            ..TrainConfig::default()
        }
    }
}

/// Every setting that decides the runs of a comparison.
pub fn protocol(session: &Session, plan: &Plan, arms: &[Arm]) -> Value {
    let all: Vec<TrainConfig> =
        arms.iter().map(|arm| arm.config(plan, ScaleKind::None, 0.001, net_seed(session, 0))).collect();
    json!({"plan": plan, "data": Synthetic::lambdarank(), "runs": all})
}

/// The seed of a net's first weights and of the order of its batches.
pub fn net_seed(session: &Session, seed: u64) -> u64 {
    // Never that of a function.
    session.seed.wrapping_mul(1_000).wrapping_add(500 + seed)
}

/// Chooses a step size for each arm on functions of their own, trains every arm on every function, and judges the test
/// queries.
///
/// `also` is told of every net of a judged function: arm, function, seed, and its queries.
pub fn run(
    execution: &Execution<'_>,
    plan: &Plan,
    arms: &[Arm],
    measures: &[&str],
    also: impl Fn(usize, u64, &[Model], &Parts) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<Study> {
    let tuned = choose_steps(execution, plan, arms)?;
    let mut jobs = vec![];
    for function in 0..plan.functions {
        for (arm, of) in arms.iter().enumerate() {
            let key = format!("function {} {}", function + 1, of.key);
            jobs.push(Job { key, work: plan.seeds as f64, what: (function, arm) });
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (function, arm) = job.what;
        let parts = kept.get(function, || Parts::planned(execution.session, function, plan.binary, plan.queries))?;
        let step = tuned[arm].best;
        let models = (0..plan.seeds)
            .map(|seed| {
                let share = (seed as f64 / plan.seeds as f64, (seed + 1) as f64 / plan.seeds as f64);
                one(execution, &job.key, plan, &arms[arm], &parts, step, seed, (ticker, share))
            })
            .collect::<anyhow::Result<Vec<Model>>>()?;
        also(arm, function, &models, &parts)?;
        judged(&arms[arm], &models, step, &parts.sets, measures)
    })?;
    Ok(Study::new(plan, arms, tuned, jobs.iter().map(|job| job.what.1).zip(found)))
}

/// The step size of each arm, with the best mean validation value over the functions for tuning.
pub fn choose_steps(execution: &Execution<'_>, plan: &Plan, arms: &[Arm]) -> anyhow::Result<Vec<Tuned>> {
    let job = |(number, arm): (usize, &Arm)| Job { key: format!("step size {}", arm.key), work: 8.0, what: number };
    let jobs: Vec<Job<usize>> = arms.iter().enumerate().map(job).collect();
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let all = kept.get((), || {
            let part = |number| {
                let [n_train, n_valid, _] = plan.queries;
                let number = FIRST_TUNING_FUNCTION + number;
                Parts::planned(execution.session, number, plan.binary, [n_train, n_valid, 1])
            };
            (0..plan.tuning_functions).map(part).collect::<anyhow::Result<Vec<Parts>>>()
        })?;
        let mut done = 0.0;
        let tuned = tune(plan.learning_rates, plan.extensions, |step| {
            let mut values = vec![];
            for (number, parts) in all.iter().enumerate() {
                let key = format!("{} {step} {number}", job.key);
                let share = (done, 0.5 * (done + 1.0));
                done = share.1;
                let model = one(execution, &key, plan, &arms[job.what], parts, step, 0, (ticker, share))?;
                values.push(model.best_value().context("no epoch was trained")?);
            }
            Ok(mean(&values))
        })?;
        Ok(LearningRates(tuned))
    })?;
    Ok(found.into_iter().map(|learning_rates| learning_rates.0).collect())
}

/// One training.
#[allow(clippy::too_many_arguments)]
pub fn one(
    execution: &Execution<'_>,
    key: &str,
    plan: &Plan,
    arm: &Arm,
    parts: &Parts,
    step: f64,
    seed: u64,
    share: (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Model> {
    let config = arm.config(plan, parts.scaling, step, net_seed(execution.session, seed));
    train(execution, &format!("{key} seed {seed}"), &config, &parts.data, share, |_| false)
}
