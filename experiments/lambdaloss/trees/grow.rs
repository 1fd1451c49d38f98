//! Growing, tuning and evaluating boosted trees on semi-artificial web data and on real folds.

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

/// Metric for model selection on validation queries and for evaluation.
pub const METRIC: &str = "ndcg@5";

/// Settings of trees. The learning rate is 0.1 in both of the paper's libraries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub leaves: usize,
    pub min_hessian: f64,
    pub min_data: usize,
    pub bins: usize,
    /// Number of trees without a better validation metric before early stopping.
    pub patience: usize,
}

/// RankLib's settings: its 256 thresholds per feature become bins. RankLib has no minimum hessian; the small one here avoids
/// division by almost 0.
pub const RANKLIB: Shape = Shape { leaves: 10, min_hessian: 1e-3, min_data: 1, bins: 256, patience: 100 };

/// LightGBM's settings without tuning.
pub const LIGHTGBM: Shape = Shape { leaves: 31, min_hessian: 1e-3, min_data: 20, bins: 255, patience: 30 };

/// The paper's best settings for LambdaRank on WEB10K, except the minimum hessian, because the scale of hessians depends on the
/// implementation.
pub const LARGE: Shape = Shape { leaves: 255, min_data: 50, ..LIGHTGBM };

impl Shape {
    /// Part of the keys of stored searches.
    pub fn words(self) -> String {
        format!("{} leaves, hessian {}, {} documents", self.leaves, self.min_hessian, self.min_data)
    }
}

/// Numbers of queries, teachers and trees, and the grids of the search.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Plan {
    /// Training, validation and test queries per teacher.
    pub queries: [usize; 3],
    /// Mean number of documents per query.
    pub documents: usize,
    pub teachers: u64,
    /// Number of teachers for the losses of all pairs.
    pub untruncated_teachers: u64,
    /// Maximum number of trees.
    pub trees: usize,
    /// Grid of the number of leaves.
    pub leaves: &'static [f64],
    /// Grid of the minimum hessian of a leaf.
    pub hessians: &'static [f64],
    /// Grid of the minimum number of documents of a leaf.
    pub documents_in_leaf: &'static [f64],
    /// Maximum number of extensions of a grid while the best value is at its end.
    pub extensions: usize,
}

/// Number of the teacher for tuning, which is not used for evaluation.
pub const TUNING_TEACHER: u64 = 900;

/// Data of a teacher.
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

/// Error of a build without trees.
#[derive(Debug)]
pub struct NoTrees;

impl std::fmt::Display for NoTrees {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this build does not support trees")
    }
}

impl std::error::Error for NoTrees {}

/// Training, validation and test queries, and the binned training data.
pub struct Parts {
    sets: [Dataset; 3],
    data: Arc<TrainingData<'static>>,
}

impl Parts {
    pub fn of_teacher(session: &Session, plan: &Plan, teacher: u64) -> anyhow::Result<Parts> {
        require_trees()?;
        let generator: WebGenerator = web(session, plan, teacher).generator()?;
        let [n_train, n_valid, n_test] = plan.queries;
        let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
        Parts::new([part(0, n_train)?, part(n_train, n_valid)?, part(n_train + n_valid, n_test)?])
    }

    pub fn of_fold(files: &FoldFiles) -> anyhow::Result<Parts> {
        require_trees()?;
        Parts::new(real::load(files)?)
    }

    fn new(sets: [Dataset; 3]) -> anyhow::Result<Parts> {
        let data = Arc::new(TrainingData::new(ScaleKind::None, sets[0].clone(), sets[1].clone())?);
        Ok(Parts { sets, data })
    }
}

/// Fails before data is generated if the build has no trees.
fn require_trees() -> anyhow::Result<()> {
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
        metric: METRIC.into(),
        epochs: trees,
        patience: shape.patience,
        learning_rate: 0.1,
        schedule: Schedule::Constant,
        l2: 0.0,
        seed: session.seed,
        ..TrainConfig::default()
    })
}

/// Results of one forest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Forest {
    /// NDCG@5 on training queries.
    pub train: f64,
    /// NDCG@5 on validation queries.
    pub valid: f64,
    /// NDCG@5 on test queries.
    pub test: f64,
    /// Number of trees with the best validation metric.
    pub trees: usize,
    /// Number of trees before early stopping.
    pub grown: usize,
    /// NDCG@5 of each test query.
    pub per_query: Packed,
}

impl Finding for Forest {
    fn impossible(&self) -> Option<String> {
        no_share("a mean", [self.train, self.valid, self.test]).or_else(|| no_epoch(self.trees, self.grown))
    }
}

/// Grows a forest and evaluates it on all queries.
pub fn run(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    parts: &Parts,
    share: (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Forest> {
    let model = grow(execution, key, config, parts, share)?;
    let values = |set: usize| per_query(&model, &parts.sets[set], METRIC);
    let test = values(2)?;
    Ok(Forest {
        train: mean(&values(0)?),
        valid: mean(&values(1)?),
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

/// Result of a search over three settings, one at a time with the others at their best values so far.
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

/// Tunes the number of leaves, then the minimum hessian, then the minimum number of documents of a leaf on validation queries.
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
    // The first search uses the middle values of the other grids.
    let middle = |grid: &[f64]| grid[grid.len() / 2];
    let mut shape =
        Shape { min_hessian: middle(plan.hessians), min_data: middle(plan.documents_in_leaf) as usize, ..LIGHTGBM };
    let leaves = tune(plan.leaves, plan.extensions, |leaves| value(Shape { leaves: whole_leaves(leaves), ..shape }))?;
    shape.leaves = whole_leaves(leaves.best);
    let hessian = tune(plan.hessians, plan.extensions, |min_hessian| value(Shape { min_hessian, ..shape }))?;
    shape.min_hessian = hessian.best;
    let documents = tune(plan.documents_in_leaf, plan.extensions, |min_data| {
        value(Shape { min_data: whole_documents(min_data), ..shape })
    })?;
    Ok(Search { leaves, hessian, documents })
}

/// Number of leaves for a value of the grid, at least two.
pub fn whole_leaves(setting: f64) -> usize {
    whole(setting, 2)
}

/// Minimum number of documents of a leaf for a value of the grid, at least one.
pub fn whole_documents(setting: f64) -> usize {
    whole(setting, 1)
}

/// Rounds a value of a grid.
fn whole(value: f64, min: usize) -> usize {
    (value.round() as usize).max(min)
}
