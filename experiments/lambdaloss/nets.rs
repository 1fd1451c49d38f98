//! Nets on random functions: every arm of a comparison tuned alike, trained on the same functions with the same seeds,
//! and judged on the same test queries.

use crate::harness::figure::Point;
use crate::harness::finding::{Finding, no_share, no_step_size};
use crate::harness::real;
use crate::harness::tuning::{Tuned, tune};
use crate::harness::units::{less, mean};
use crate::harness::{Execution, Job, OneEntryCache, Packed, Session, Spread, Ticker, per_query, train};
use anyhow::Context;
use burnrank::data::FoldFiles;
use burnrank::data::synthetic::{Generator, LabelMix};
use burnrank::text::{fixed, signed};
use burnrank::train::TrainingData;
use burnrank::{Activation, Architecture, Dataset, Model, Objective, ScaleKind, Synthetic, TrainConfig};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hidden units of the net that most comparisons train.
pub const HIDDEN: usize = 10;

/// The numbers of functions that only step sizes are chosen on: none of them is judged.
const FIRST_TUNING_FUNCTION: u64 = 900;

/// How much of everything.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Plan {
    /// Training, validation and test queries of a function.
    pub queries: [usize; 3],
    pub functions: u64,
    /// Further functions, on whose validation queries the step size is chosen.
    pub tuning_functions: u64,
    pub seeds: u64,
    pub epochs: usize,
    pub patience: usize,
    /// Step sizes that are tried for every arm.
    pub steps: &'static [f64],
    /// How often the grid may grow beyond an end that is the best.
    pub wider: usize,
    /// Whether labels are 0 and 1 (3% of the documents) in place of 0 to 4.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

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

/// A random cubic polynomial of 50 features with labels 0 to 4 in the shares of judged web pages.
pub fn function(session: &Session, number: u64) -> anyhow::Result<Generator> {
    Ok(Synthetic { seed: function_seed(session, number), ..Synthetic::lambdarank() }.generator()?)
}

/// The same with labels 0 and 1, for as many documents as have the two highest labels there.
pub fn binary_function(session: &Session, number: u64) -> anyhow::Result<Generator> {
    let mix = LabelMix::new(vec![0.97, 0.03])?;
    Ok(Synthetic { seed: function_seed(session, number), mix, ..Synthetic::lambdarank() }.generator()?)
}

fn function_seed(session: &Session, number: u64) -> u64 {
    session.seed.wrapping_mul(1_000).wrapping_add(number)
}

/// Training, validation and test queries with raw features, and what is trained on.
pub struct Parts {
    pub sets: [Dataset; 3],
    pub scaling: ScaleKind,
    pub data: Arc<TrainingData<'static>>,
}

impl Parts {
    /// The queries of a function.
    pub fn of_function(session: &Session, number: u64, queries: [usize; 3]) -> anyhow::Result<Parts> {
        Parts::of_generator(&function(session, number)?, queries)
    }

    /// The queries of a function that a plan asks for.
    fn planned(session: &Session, number: u64, binary: bool, queries: [usize; 3]) -> anyhow::Result<Parts> {
        let generator = if binary { binary_function(session, number)? } else { function(session, number)? };
        Parts::of_generator(&generator, queries)
    }

    fn of_generator(generator: &Generator, [n_train, n_valid, n_test]: [usize; 3]) -> anyhow::Result<Parts> {
        let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
        Parts::new([part(0, n_train)?, part(n_train, n_valid)?, part(n_train + n_valid, n_test)?], ScaleKind::None)
    }

    /// The queries of a fold of real data; features by their logarithm, then of mean 0 and variance 1 on training
    /// queries.
    pub fn of_fold(files: &FoldFiles) -> anyhow::Result<Parts> {
        Parts::new(real::load(files)?, ScaleKind::Log1pZScore)
    }

    pub fn new(sets: [Dataset; 3], scaling: ScaleKind) -> anyhow::Result<Parts> {
        let data = Arc::new(TrainingData::new(scaling, sets[0].clone(), sets[1].clone())?);
        Ok(Parts { sets, scaling, data })
    }
}

/// What a search over step sizes found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Steps(pub Tuned);

impl Finding for Steps {
    fn impossible(&self) -> Option<String> {
        no_step_size(self.0.tried.iter().map(|tried| tried.0).chain([self.0.best]))
            .or_else(|| no_share("a validation value", self.0.tried.iter().map(|tried| tried.1)))
    }
}

/// One arm on one function or fold: means over seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// What was tried, where the step size was chosen on this fold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    pub step_size: f64,
    pub best_epochs: Vec<usize>,
    /// How many epochs each run had.
    pub epochs: Vec<usize>,
    /// The arm's metric on training and validation queries.
    pub train: f64,
    pub valid: f64,
    /// Measures of the test queries.
    pub test: BTreeMap<String, f64>,
    /// The arm's metric of each test query.
    pub per_query: Packed,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        no_step_size([self.step_size])
            .or_else(|| self.steps.as_ref().and_then(Finding::impossible))
            .or_else(|| no_share("a mean", self.test.values().copied().chain([self.train, self.valid])))
    }
}

/// Judges the nets of an arm, one per seed.
pub fn judged(
    arm: &Arm,
    models: &[Model],
    step_size: f64,
    sets: &[Dataset; 3],
    measures: &[&str],
) -> anyhow::Result<Found> {
    let over_seeds = |set: &Dataset, measure: &str| -> anyhow::Result<Vec<f64>> {
        let mut sum = vec![0.0; set.n_queries()];
        for model in models {
            let values = per_query(model, set, measure)?;
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
        }
        Ok(sum)
    };
    let own = over_seeds(&sets[2], &arm.metric)?;
    let mut test = BTreeMap::from([(arm.metric.clone(), mean(&own))]);
    for &measure in measures.iter().filter(|&&measure| measure != arm.metric) {
        test.insert(measure.to_owned(), mean(&over_seeds(&sets[2], measure)?));
    }
    Ok(Found {
        steps: None,
        step_size,
        best_epochs: models.iter().map(|model| model.info.best_epoch).collect(),
        epochs: models.iter().map(|model| model.history.len()).collect(),
        train: mean(&over_seeds(&sets[0], &arm.metric)?),
        valid: mean(&over_seeds(&sets[1], &arm.metric)?),
        test,
        per_query: Packed::new(own),
    })
}

/// A comparison that was run.
pub struct Study {
    /// By arm: what the search over step sizes found.
    pub tuned: Vec<Tuned>,
    /// By arm and function.
    pub found: Vec<Vec<Found>>,
    /// How many runs there were, and how many of them the limit of epochs ended while they still got better.
    pub runs: usize,
    pub capped: usize,
}

impl Study {
    /// A measure of the test queries in percent, one number per function.
    pub fn test(&self, arm: usize, measure: &str) -> Vec<f64> {
        self.found[arm].iter().map(|found| 100.0 * found.test[measure]).collect()
    }

    /// A measure of the first arm less that of the second, in points, function by function.
    pub fn less(&self, first: usize, second: usize, measure: &str) -> Vec<f64> {
        less(&self.test(first, measure), &self.test(second, measure))
    }

    /// The arm's metric on training queries in percent, one number per function.
    pub fn train(&self, arm: usize) -> Vec<f64> {
        self.found[arm].iter().map(|found| 100.0 * found.train).collect()
    }

    /// The arm's metric on validation queries in percent, one number per function.
    pub fn valid(&self, arm: usize) -> Vec<f64> {
        self.found[arm].iter().map(|found| 100.0 * found.valid).collect()
    }

    /// The step size of an arm, marked where wider grids were not enough.
    pub fn step(&self, arm: usize) -> String {
        let Tuned { best, at_edge, .. } = self.tuned[arm];
        format!("{best}{}", if at_edge { " (at the edge)" } else { "" })
    }

    /// Where training ended, in a sentence.
    pub fn endings(&self) -> String {
        format!(
            "{} of {} runs were ended by the limit of epochs, all others because the validation value had stopped \
             rising.",
            self.capped, self.runs
        )
    }
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
    let mut study = Study { tuned, found: vec![vec![]; arms.len()], runs: 0, capped: 0 };
    for (job, found) in jobs.iter().zip(found) {
        study.runs += found.epochs.len();
        study.capped += capped(plan, &found);
        study.found[job.what.1].push(found);
    }
    Ok(study)
}

/// How many runs ended at the last epoch before they had waited long enough.
pub fn capped(plan: &Plan, found: &Found) -> usize {
    let ends = found.epochs.iter().zip(&found.best_epochs);
    ends.filter(|&(&epochs, &best)| epochs >= plan.epochs && best + plan.patience > epochs).count()
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
        let tuned = tune(plan.steps, plan.wider, |step| {
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
        Ok(Steps(tuned))
    })?;
    Ok(found.into_iter().map(|steps| steps.0).collect())
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

/// How nets are trained and tuned, as reports say it.
pub fn words(plan: &Plan) -> Vec<String> {
    let [n_train, n_valid, n_test] = plan.queries;
    vec![
        format!(
            "Data: {} random cubic polynomials of 50 features (the LambdaRank paper's artificial data), each with \
             {n_train} training, {n_valid} validation and {n_test} test queries of 50 documents; {}. One function is \
             one unit; every loss sees the same queries, first weights and order of batches.",
            plan.functions,
            if plan.binary {
                "labels 1 for 3% of the documents, 0 for all others"
            } else {
                "labels 0 to 4 for 52%, 32%, 13%, 2% and 1% of the documents"
            }
        ),
        format!(
            "Training: two-layer nets of tanh units, Adam, ten queries per batch, a constant step size, up to {} \
             epochs, ended after {} without a better validation value; the best epoch counts. {} seed(s) per function, \
             averaged before anything is tested.",
            plan.epochs, plan.patience, plan.seeds
        ),
        format!(
            "Step sizes are chosen for each loss by the same rule: of {:?}, wider (at most {} times) while the best is \
             at an end, the one with the best mean validation value over {} further function(s) that are not judged. \
             Test queries are looked at once. A query with nothing relevant counts 0, equal scores are ranked \
             pessimistically.",
            plan.steps, plan.wider, plan.tuning_functions
        ),
    ]
}

/// Mean and half of its 95% interval over units, as in 61.20 ± 0.34.
pub fn mean_text(values: &[f64]) -> String {
    let half = Spread::of(values).map_or(String::new(), |spread| format!(" ± {}", fixed(spread.half, 2)));
    format!("{}{half}", fixed(mean(values), 2))
}

/// The same of differences, with a sign.
pub fn gap_text(values: &[f64]) -> String {
    let half = Spread::of(values).map_or(String::new(), |spread| format!(" ± {}", fixed(spread.half, 2)));
    format!("{}{half}", signed(mean(values), 2))
}

/// Mean and 95% interval over units at a place of a figure.
pub fn point(x: f64, values: &[f64]) -> Point {
    let ends = Spread::of(values).map(|spread| (spread.mean - spread.half, spread.mean + spread.half));
    (x, mean(values), ends)
}
