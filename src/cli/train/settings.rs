//! The settings of a training run on the command line.

use burnrank::{
    Activation, Architecture, GradientPath, Init, Objective, OptimizerKind, ScaleKind, StepRule, TrainConfig,
};

/// What decides how a ranker is trained.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Training")]
pub struct Settings {
    /// What is optimised [default: lambdarank:ndcg; for the demonstration, three of them]
    #[arg(long, value_name = "NAME")]
    pub objective: Option<String>,
    /// The net: linear or mlp (two layers)
    #[arg(long, value_name = "NET", default_value = "mlp", value_parser = ["linear", "mlp"])]
    pub model: String,
    /// Hidden units of the two-layer net
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub hidden: usize,
    /// Function of the hidden units: sigmoid, tanh or relu
    #[arg(long, value_name = "NAME", default_value_t = Activation::Tanh)]
    pub activation: Activation,
    /// First weights: burn (uniform by the number of inputs) or paper (RankNet's)
    #[arg(long, value_name = "NAME", default_value_t = Init::Burn)]
    pub init: Init,
    /// The measure that chooses the best epoch on the validation queries
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub metric: String,
    /// The most epochs
    #[arg(long, value_name = "N", default_value_t = default().epochs)]
    pub epochs: usize,
    /// Step size [default: 0.01 for linear nets and the demonstration, 0.001 for two-layer nets]
    #[arg(long, value_name = "RATE")]
    pub lr: Option<f64>,
    /// sgd, momentum or adam
    #[arg(long, value_name = "NAME", default_value_t = default().optimizer)]
    pub optimizer: OptimizerKind,
    /// Queries per batch; 1 is the papers' batch per query
    #[arg(long, value_name = "N", default_value_t = default().batch_queries)]
    pub batch_queries: usize,
    /// When the step size shrinks: constant, halve (worse loss: halved), shrink (worse: times 0.8), or
    /// shrink-sometimes (worse training metric: times 0.8 with probability 0.3)
    #[arg(long, value_name = "RULE", default_value_t = default().step_rule)]
    pub step_rule: StepRule,
    /// Stop after this many epochs without a better validation value; 0 never stops
    #[arg(long, value_name = "EPOCHS", default_value_t = default().patience)]
    pub patience: usize,
    /// Start again from new random weights after this many epochs without a better validation value; 0 never does
    #[arg(long, value_name = "EPOCHS", default_value_t = 0)]
    pub restart: usize,
    /// L2 penalty on all weights
    #[arg(long, value_name = "PENALTY", default_value_t = 0.0)]
    pub l2: f64,
    /// Largest norm of each parameter's gradient; 0 for no limit
    #[arg(long, value_name = "NORM", default_value_t = 0.0)]
    pub clip: f64,
    /// What is done to features: none, log1p, zscore, minmax, log1p-zscore, query-minmax or query-zscore
    #[arg(long, value_name = "KIND", default_value_t = default().scaling)]
    pub scale: ScaleKind,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where to compute: auto, or one of the backends of this build
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub device: String,
    /// How gradients are computed: auto, lambda (closed form on the host) or tensor (autodiff on the device)
    #[arg(long, value_name = "PATH", default_value_t = GradientPath::Auto)]
    pub gradient: GradientPath,
    /// The most pairs in memory at once on the tensor path
    #[arg(long, value_name = "PAIRS", default_value_t = default().pair_budget)]
    pub pair_budget: usize,
}

/// Chosen as the library's default scaling and step were, for linear nets.
const LINEAR_STEP: f64 = 0.01;

const DEFAULT_OBJECTIVE: &str = "lambdarank:ndcg";

fn default() -> TrainConfig {
    TrainConfig::default()
}

impl Settings {
    /// The library's configuration, checked.
    pub fn config(&self) -> burnrank::Result<TrainConfig> {
        let architecture = match self.model.as_str() {
            "linear" => Architecture::Linear,
            _ => Architecture::Mlp { hidden: self.hidden, activation: self.activation },
        };
        let config = TrainConfig {
            objective: Objective::parse(self.objective.as_deref().unwrap_or(DEFAULT_OBJECTIVE))?,
            architecture,
            init: self.init,
            scaling: self.scale,
            metric: self.metric.clone(),
            epochs: self.epochs,
            learning_rate: self.lr.unwrap_or(match architecture {
                Architecture::Linear => LINEAR_STEP,
                Architecture::Mlp { .. } => default().learning_rate,
            }),
            optimizer: self.optimizer,
            batch_queries: self.batch_queries,
            step_rule: self.step_rule,
            patience: self.patience,
            restart: self.restart,
            l2: self.l2,
            clip: self.clip,
            seed: self.seed,
            gradient: self.gradient,
            pair_budget: self.pair_budget,
        };
        config.check()?;
        Ok(config)
    }
}
