//! The settings of a training run on the command line.

use burnrank::train::{Method, ModelChoice, TreeSettings};
use burnrank::{
    Activation, Architecture, Error, GradientPath, Init, Objective, OptimizerKind, ScaleKind, StepRule, TrainConfig,
};
use std::fmt;
use std::str::FromStr;

/// What decides how a model is trained.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Training")]
pub struct Settings {
    /// What is optimised [default: lambdarank:ndcg; for the demonstration, three of them]
    #[arg(long, value_name = "NAME")]
    pub objective: Option<String>,
    /// What is trained: one of the models below
    #[arg(long, value_name = "NAME", default_value = "mlp")]
    pub model: ModelChoice,
    /// The measure that chooses the best epoch on the validation queries
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub metric: String,
    /// The most epochs: passes over the data, or rounds of other systems [default: 100 for nets]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Stop after this many epochs or trees without a better validation value; 0 never stops [default: 20 for nets, 50
    /// for trees]
    #[arg(long, value_name = "EPOCHS")]
    pub patience: Option<usize>,
    /// L2 penalty on all weights of a net, or all values of leaves
    #[arg(long, value_name = "PENALTY", default_value_t = 0.0)]
    pub l2: f64,
    /// What is done to features: none, log1p, zscore, minmax, log1p-zscore, quantile (bounded, whatever the
    /// outliers), query-minmax or query-zscore [default: query-minmax for nets, none for trees]
    #[arg(long, value_name = "KIND")]
    pub scale: Option<ScaleKind>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub nets: NetSettings,
    #[command(flatten)]
    trees: TreeArgs,
}

/// What nets have, and nothing else has.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Nets")]
pub struct NetSettings {
    /// Hidden units of an mlp, one number per layer, as in 32,16 [default: 10]
    #[arg(long, value_name = "UNITS")]
    hidden: Option<HiddenLayers>,
    /// Function of the hidden units: sigmoid, tanh or relu [default: tanh]
    #[arg(long, value_name = "NAME")]
    activation: Option<Activation>,
    /// First weights: burn (uniform by the number of inputs) or paper (RankNet's) [default: burn]
    #[arg(long, value_name = "NAME")]
    init: Option<Init>,
    /// Step size [default: 0.01 for linear nets and the demonstration, 0.001 for others]
    #[arg(long, value_name = "RATE")]
    pub lr: Option<f64>,
    /// sgd, momentum or adam [default: adam]
    #[arg(long, value_name = "NAME")]
    optimizer: Option<OptimizerKind>,
    /// Queries per batch; 1 is the papers' batch per query [default: 10]
    #[arg(long, value_name = "N")]
    batch_queries: Option<usize>,
    /// When the step size shrinks: constant, halve (worse loss: halved), shrink (worse: times 0.8), or
    /// shrink-sometimes (worse training metric: times 0.8 with probability 0.3) [default: constant]
    #[arg(long, value_name = "RULE")]
    step_rule: Option<StepRule>,
    /// Start again from new random weights after this many epochs without a better validation value; 0 never does
    /// [default: 0]
    #[arg(long, value_name = "EPOCHS")]
    restart: Option<usize>,
    /// Largest norm of each parameter's gradient; 0 for no limit [default: 0]
    #[arg(long, value_name = "NORM")]
    clip: Option<f64>,
    /// Where to compute: auto, or one of the backends of this build
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub device: String,
    /// How gradients are computed: auto, lambda (closed form on the host) or tensor (autodiff on the device) [default:
    /// auto]
    #[arg(long, value_name = "PATH")]
    gradient: Option<GradientPath>,
    /// The most pairs in memory at once on the tensor path [default: 4194304]
    #[arg(long, value_name = "PAIRS")]
    pair_budget: Option<usize>,
}

/// What trees have, and nothing else has.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Trees")]
struct TreeArgs {
    /// The most trees [default: 500]
    #[arg(long, value_name = "N", conflicts_with = "epochs")]
    trees: Option<usize>,
    /// The most leaves of a tree [default: 31]
    #[arg(long, value_name = "N")]
    leaves: Option<usize>,
    /// What each tree's values are multiplied with [default: 0.1]
    #[arg(long, value_name = "RATE")]
    shrinkage: Option<f64>,
    /// The fewest documents in a leaf [default: 20]
    #[arg(long, value_name = "N")]
    min_data: Option<usize>,
    /// The smallest sum of second derivatives in a leaf [default: 0.001]
    #[arg(long, value_name = "SUM")]
    min_hessian: Option<f64>,
    /// The most values that a feature is told apart by [default: 255]
    #[arg(long, value_name = "N")]
    bins: Option<usize>,
    /// The share of documents that each tree is grown on [default: 1]
    #[arg(long, value_name = "SHARE")]
    subsample: Option<f64>,
    /// The share of features that each tree may split by [default: 1]
    #[arg(long, value_name = "SHARE")]
    feature_fraction: Option<f64>,
}

const DEFAULT_OBJECTIVE: &str = "lambdarank:ndcg";

/// The number of units of each hidden layer, as in 32,16.
#[derive(Debug, Clone)]
struct HiddenLayers(Vec<usize>);

impl FromStr for HiddenLayers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let units = |part: &str| {
            part.trim().parse().map_err(|_| {
                Error::Config(format!(
                    "--hidden {text}: '{part}' is not a number of hidden units: give one number per layer, as in 10 or 32,16"
                ))
            })
        };
        text.split(',').map(units).collect::<Result<_, _>>().map(HiddenLayers)
    }
}

impl fmt::Display for HiddenLayers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
    }
}

impl NetSettings {
    /// The first of them that is given.
    fn given(&self) -> Option<&'static str> {
        let all = [
            ("--hidden", self.hidden.is_some()),
            ("--activation", self.activation.is_some()),
            ("--init", self.init.is_some()),
            ("--lr", self.lr.is_some()),
            ("--optimizer", self.optimizer.is_some()),
            ("--batch-queries", self.batch_queries.is_some()),
            ("--step-rule", self.step_rule.is_some()),
            ("--restart", self.restart.is_some()),
            ("--clip", self.clip.is_some()),
            ("--gradient", self.gradient.is_some()),
            ("--pair-budget", self.pair_budget.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

impl TreeArgs {
    /// The first of them that is given.
    fn given(&self) -> Option<&'static str> {
        let all = [
            ("--trees", self.trees.is_some()),
            ("--leaves", self.leaves.is_some()),
            ("--shrinkage", self.shrinkage.is_some()),
            ("--min-data", self.min_data.is_some()),
            ("--min-hessian", self.min_hessian.is_some()),
            ("--bins", self.bins.is_some()),
            ("--subsample", self.subsample.is_some()),
            ("--feature-fraction", self.feature_fraction.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    fn settings(&self, preset: &TreeSettings) -> TreeSettings {
        TreeSettings {
            min_data: self.min_data.unwrap_or(preset.min_data),
            min_hessian: self.min_hessian.unwrap_or(preset.min_hessian),
            bins: self.bins.unwrap_or(preset.bins),
            subsample: self.subsample.unwrap_or(preset.subsample),
            feature_fraction: self.feature_fraction.unwrap_or(preset.feature_fraction),
        }
    }
}

impl Settings {
    /// The library's configuration, checked.
    pub fn config(&self) -> burnrank::Result<TrainConfig> {
        let mut preset = self.model.config();
        let mut epochs = self.epochs.unwrap_or(preset.epochs);
        let (name, boosts) = (self.model.kind.name, matches!(preset.method, Method::Boosting(_)));
        if let Some(flag) = self.trees.given().filter(|_| !boosts) {
            return Err(Error::Config(format!(
                "{flag} is for trees, not for {name}: leave it out, or add --model trees"
            )));
        }
        if let Some(flag) = self.nets.given().filter(|_| preset.method != Method::Gradient) {
            let instead = if boosts && flag == "--lr" { ": trees have --shrinkage" } else { ": leave it out" };
            return Err(Error::Config(format!("{flag} is for nets, not for {name}{instead}")));
        }
        if let Architecture::Mlp { hidden, activation } = &mut preset.architecture {
            *hidden = self.nets.hidden.as_ref().map_or(hidden.clone(), |layers| layers.0.clone());
            *activation = self.nets.activation.unwrap_or(*activation);
        }
        if let (Method::Boosting(settings), Architecture::Trees { trees, leaves }) =
            (&mut preset.method, &mut preset.architecture)
        {
            *settings = self.trees.settings(settings);
            epochs = self.trees.trees.unwrap_or(epochs);
            (*trees, *leaves) = (epochs, self.trees.leaves.unwrap_or(*leaves));
        }
        let config = TrainConfig {
            objective: self.objective()?,
            init: self.nets.init.unwrap_or(preset.init),
            scaling: self.scale.unwrap_or(preset.scaling),
            metric: self.metric.clone(),
            epochs,
            learning_rate: self.nets.lr.or(self.trees.shrinkage).unwrap_or(preset.learning_rate),
            optimizer: self.nets.optimizer.unwrap_or(preset.optimizer),
            batch_queries: self.nets.batch_queries.unwrap_or(preset.batch_queries),
            step_rule: self.nets.step_rule.unwrap_or(preset.step_rule),
            patience: self.patience.unwrap_or(preset.patience),
            restart: self.nets.restart.unwrap_or(preset.restart),
            l2: self.l2,
            clip: self.nets.clip.unwrap_or(preset.clip),
            seed: self.seed,
            gradient: self.nets.gradient.unwrap_or(preset.gradient),
            pair_budget: self.nets.pair_budget.unwrap_or(preset.pair_budget),
            ..preset
        };
        config.check()?;
        Ok(config)
    }

    fn objective(&self) -> burnrank::Result<Objective> {
        let kind = self.model.kind;
        match (&self.objective, kind.optimises) {
            (Some(_), Some(aim)) => Err(Error::Config(format!(
                "--model {} optimises {aim}: --objective is for nets and trees, leave it out",
                kind.name
            ))),
            (name, _) => Objective::parse(name.as_deref().unwrap_or(DEFAULT_OBJECTIVE)),
        }
    }
}
