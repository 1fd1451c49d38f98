//! Growing and evaluating boosted trees on semi-artificial web data and on real folds.

use crate::harness::comparison::Measured;
use crate::harness::finding::{Finding, no_epoch, no_share};
use crate::harness::units::mean;
use crate::harness::{Execution, Packed, Scale, Session, Ticker, per_query, real, train};
use burnrank::data::FoldFiles;
use burnrank::data::synthetic::{Web, WebGenerator};
use burnrank::setting::{GROWS_TREES, Method, TreeSettings};
use burnrank::train::TrainingData;
use burnrank::{Architecture, Dataset, Model, Objective, ScaleKind, Schedule, TrainConfig};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Primary metric of the paper, for model selection on validation queries and for evaluation.
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

/// Numbers of queries and documents per teacher, and the limit of trees.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Sizes {
    /// Training, validation and test queries per teacher.
    pub queries: [usize; 3],
    /// Mean number of documents per query.
    pub documents: usize,
    /// Maximum number of trees.
    pub trees: usize,
}

impl Sizes {
    /// Sizes at full or quick scale.
    pub fn at(scale: Scale) -> Sizes {
        scale.pick(
            Sizes { queries: [1500, 500, 2000], documents: 120, trees: 1000 },
            Sizes { queries: [20, 10, 20], documents: 20, trees: 8 },
        )
    }

    /// Description of the data and of growing for reports.
    pub fn words(&self) -> [String; 2] {
        let ([n_train, n_valid, n_test], Sizes { documents, trees, .. }) = (self.queries, self);
        [
            format!(
                "Data: semi-artificial web pages (`burnrank generate web`): 136 features of words, links and clicks in the order of \
                 WEB10K, about {documents} documents per query, labels 0 to 4 for 52%, 32%, 13%, 2% and 1% of the documents. Labels \
                 are bins of a teacher (a sum of 400 random rules on up to three features with fitted weights) plus noise with 70% \
                 of the variance. Each teacher has separate {n_train} training, {n_valid} validation and {n_test} test queries. One \
                 teacher is one unit; all losses have the same queries."
            ),
            format!(
                "LightGBM grows the trees from the gradient and hessian of each loss: learning rate 0.1, at most {trees} trees, no \
                 subsampling, no regularisation; the number of trees is that of the best validation metric."
            ),
        ]
    }
}

/// Data of a teacher.
pub fn web(session: &Session, sizes: &Sizes, teacher: u64) -> Web {
    let number = session.seed.wrapping_mul(1_000).wrapping_add(teacher);
    Web {
        queries: sizes.queries.iter().sum(),
        documents: sizes.documents,
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
    pub fn of_teacher(session: &Session, sizes: &Sizes, teacher: u64) -> anyhow::Result<Parts> {
        require_trees()?;
        let generator: WebGenerator = web(session, sizes, teacher).generator()?;
        let [n_train, n_valid, n_test] = sizes.queries;
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
pub fn config(
    objective: &str,
    shape: Shape,
    trees: usize,
    metric: &str,
    session: &Session,
) -> anyhow::Result<TrainConfig> {
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
        metric: metric.into(),
        epochs: trees,
        patience: shape.patience,
        learning_rate: 0.1,
        schedule: Schedule::Constant,
        l2: 0.0,
        seed: session.seed,
        ..TrainConfig::default()
    })
}

/// Whether a run failed because no split leaves large enough leaves.
pub fn grew_no_tree(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(burnrank::Error::Training(_)))
}

/// Results of one forest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Forest {
    /// Mean metric on training queries.
    pub train: f64,
    /// Mean metric on validation queries.
    pub valid: f64,
    /// Mean metric on test queries.
    pub test: f64,
    /// Number of trees with the best validation metric.
    pub trees: usize,
    /// Number of trees before early stopping.
    pub grown: usize,
    /// Metric of each test query.
    pub per_query: Packed,
}

impl Finding for Forest {
    fn impossible(&self) -> Option<String> {
        no_share("a mean", self.means()).or_else(|| no_epoch(self.trees, self.grown))
    }
}

impl Measured for Forest {
    fn means(&self) -> [f64; 3] {
        [self.train, self.valid, self.test]
    }
}

impl Forest {
    /// Evaluates a model on all queries.
    pub fn of(model: &Model, parts: &Parts, metric: &str) -> anyhow::Result<Forest> {
        let values = |set: usize| per_query(model, &parts.sets[set], metric);
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
}

/// Grows a forest and evaluates it by its metric.
pub fn run(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    parts: &Parts,
    share: (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Forest> {
    Forest::of(&grow(execution, key, config, parts, share)?, parts, &config.metric)
}

/// Grows a forest.
pub fn grow(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    parts: &Parts,
    share: (&Ticker<'_>, (f64, f64)),
) -> anyhow::Result<Model> {
    train(execution, key, config, &parts.data, share, |_| false)
}
