//! Boosted trees on semi-artificial web pages and on real folds: how they are grown, tuned and judged.

use crate::harness::finding::{Finding, no_epoch, no_share};
use crate::harness::tuning::{Tuned, tune};
use crate::harness::units::mean;
use crate::harness::{Execution, Packed, Session, Ticker, per_query, real, train};
use anyhow::Context;
use burnrank::data::FoldFiles;
use burnrank::data::synthetic::{Web, WebGenerator};
use burnrank::setting::{GROWS_TREES, Method, TreeSettings};
use burnrank::train::TrainingData;
use burnrank::{Architecture, Dataset, Model, Objective, ScaleKind, Schedule, TrainConfig};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What chooses the number of trees and all settings on validation queries, and what is reported.
pub const MEASURE: &str = "ndcg@5";

/// How trees are grown. The shrinkage is 0.1 in both of the paper's libraries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub leaves: usize,
    pub min_hessian: f64,
    pub min_data: usize,
    pub bins: usize,
    /// Growing ends after so many trees without a better validation value.
    pub patience: usize,
}

/// RankLib's: its 256 thresholds per feature are bins here. It asks for no sum of second derivatives; the small one keeps a
/// leaf from dividing by almost nothing.
pub const RANKLIB: Shape = Shape { leaves: 10, min_hessian: 1e-3, min_data: 1, bins: 256, patience: 100 };

/// LightGBM's, where nothing is tuned.
pub const LIGHTGBM: Shape = Shape { leaves: 31, min_hessian: 1e-3, min_data: 20, bins: 255, patience: 30 };

/// What the paper found best for LambdaRank on WEB10K, but for the smallest sum of second derivatives: how large these are
/// is up to the implementation.
pub const LARGE: Shape = Shape { leaves: 255, min_data: 50, ..LIGHTGBM };

impl Shape {
    pub fn words(self) -> String {
        format!("{} leaves, hessian {}, {} documents", self.leaves, self.min_hessian, self.min_data)
    }
}

/// How much of everything.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Plan {
    /// Training, validation and test queries of a teacher.
    pub queries: [usize; 3],
    /// Documents per query, on average.
    pub documents: usize,
    pub teachers: u64,
    /// The first of them also see the losses of all pairs.
    pub untruncated_teachers: u64,
    /// The most trees.
    pub trees: usize,
    /// Leaves that are tried, smallest sums of second derivatives, and fewest documents of a leaf.
    pub leaves: &'static [f64],
    pub hessians: &'static [f64],
    pub documents_in_leaf: &'static [f64],
    /// How often a grid may grow beyond an end that is the best.
    pub extensions: usize,
}

/// The number of the teacher that settings are chosen on: it is not judged.
pub const TUNING_TEACHER: u64 = 900;

/// The queries of a teacher.
pub fn web(session: &Session, plan: &Plan, teacher: u64) -> Web {
    let number = session.seed.wrapping_mul(1_000).wrapping_add(teacher);
    Web {
        queries: plan.queries.iter().sum(),
        documents: plan.documents,
        teacher: number,
        seed: number,
        ..Web::default()
    }
}

/// A build that grows no trees.
#[derive(Debug)]
pub struct NoTrees;

impl std::fmt::Display for NoTrees {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this build does not grow trees")
    }
}

impl std::error::Error for NoTrees {}

/// Training, validation and test queries, and what is trained on.
pub struct Parts {
    sets: [Dataset; 3],
    data: Arc<TrainingData<'static>>,
}

impl Parts {
    pub fn of_teacher(session: &Session, plan: &Plan, teacher: u64) -> anyhow::Result<Parts> {
        refuse()?;
        let generator: WebGenerator = web(session, plan, teacher).generator()?;
        let [n_train, n_valid, n_test] = plan.queries;
        let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
        Parts::new([part(0, n_train)?, part(n_train, n_valid)?, part(n_train + n_valid, n_test)?])
    }

    pub fn of_fold(files: &FoldFiles) -> anyhow::Result<Parts> {
        refuse()?;
        Parts::new(real::load(files)?)
    }

    fn new(sets: [Dataset; 3]) -> anyhow::Result<Parts> {
        let data = Arc::new(TrainingData::new(ScaleKind::None, sets[0].clone(), sets[1].clone())?);
        Ok(Parts { sets, data })
    }
}

/// Before any data is made.
fn refuse() -> anyhow::Result<()> {
    if GROWS_TREES { Ok(()) } else { Err(NoTrees.into()) }
}

/// Settings of a run.
pub fn config(objective: &str, shape: Shape, trees: usize, session: &Session) -> anyhow::Result<TrainConfig> {
    Ok(TrainConfig {
        objective: Objective::parse(objective)?,
        architecture: Architecture::Trees { trees, leaves: shape.leaves },
        method: Method::Boosting(TreeSettings {
            min_data: shape.min_data,
            min_hessian: shape.min_hessian,
            bins: shape.bins,
            ..TreeSettings::default()
        }),
        scaling: ScaleKind::None,
        metric: MEASURE.into(),
        epochs: trees,
        patience: shape.patience,
        learning_rate: 0.1,
        schedule: Schedule::Constant,
        l2: 0.0,
        seed: session.seed,
        ..TrainConfig::default()
    })
}

/// One forest, judged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// NDCG@5 of the training and validation queries, and the mean of `per_query`.
    pub train: f64,
    pub valid: f64,
    pub test: f64,
    /// Trees of the forest, and trees that were grown.
    pub trees: usize,
    pub grown: usize,
    /// NDCG@5 of each test query.
    pub per_query: Packed,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        no_share("a mean", [self.train, self.valid, self.test]).or_else(|| no_epoch(self.trees, self.grown))
    }
}

/// Grows a forest, and judges it on all queries.
pub fn run(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    parts: &Parts,
    share: (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Found> {
    let model = grow(execution, key, config, parts, share)?;
    let [on_train, on_valid, test] = [0, 1, 2].map(|set: usize| per_query(&model, &parts.sets[set], MEASURE));
    let test = test?;
    Ok(Found {
        train: mean(&on_train?),
        valid: mean(&on_valid?),
        test: mean(&test),
        trees: model.info.best_epoch,
        grown: model.history.len(),
        per_query: Packed::new(test),
    })
}

fn grow(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    parts: &Parts,
    share: (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Model> {
    train(execution, key, config, &parts.data, share, |_| false)
}

/// What a search found: each of three settings in turn, the others at their best so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Search {
    pub leaves: Tuned,
    pub hessian: Tuned,
    pub documents: Tuned,
}

impl Search {
    pub fn shape(&self) -> Shape {
        Shape {
            leaves: whole_leaves(self.leaves.best),
            min_hessian: self.hessian.best,
            min_data: whole_documents(self.documents.best),
            ..LIGHTGBM
        }
    }
}

impl Finding for Search {
    fn impossible(&self) -> Option<String> {
        let all = [&self.leaves, &self.hessian, &self.documents];
        no_share("a validation value", all.iter().flat_map(|tuned| &tuned.trials).map(|trial| trial.1))
    }
}

/// Chooses leaves, then the smallest sum of second derivatives, then the fewest documents of a leaf, by the validation queries.
pub fn search(
    execution: &Execution<'_>,
    plan: &Plan,
    key: &str,
    objective: &str,
    parts: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Search> {
    let mut done = 0.0;
    let mut value = |shape: Shape| -> anyhow::Result<f64> {
        let share = (done, 0.85 * done + 0.15);
        done = share.1;
        let config = config(objective, shape, plan.trees, execution.session)?;
        let model = grow(execution, &format!("{key} {}", shape.words()), &config, parts, (ticker, share))?;
        model.best_value().context("no tree was grown")
    };
    // The first search is with the middle of the other grids.
    let middle = |grid: &[f64]| grid[grid.len() / 2];
    let mut shape =
        Shape { min_hessian: middle(plan.hessians), min_data: middle(plan.documents_in_leaf) as usize, ..LIGHTGBM };
    let leaves = tune(plan.leaves, plan.extensions, |leaves| value(Shape { leaves: whole_leaves(leaves), ..shape }))?;
    shape.leaves = whole_leaves(leaves.best);
    let hessian = tune(plan.hessians, plan.extensions, |min_hessian| value(Shape { min_hessian, ..shape }))?;
    shape.min_hessian = hessian.best;
    let documents = tune(plan.documents_in_leaf, plan.extensions, |fewest| {
        value(Shape { min_data: whole_documents(fewest), ..shape })
    })?;
    Ok(Search { leaves, hessian, documents })
}

/// The leaves that a setting of the grid stands for: a tree has two or more.
pub fn whole_leaves(setting: f64) -> usize {
    whole(setting, 2)
}

/// The same of the fewest documents of a leaf.
pub fn whole_documents(setting: f64) -> usize {
    whole(setting, 1)
}

/// Grids are of real numbers.
fn whole(value: f64, least: usize) -> usize {
    (value.round() as usize).max(least)
}
