//! The settings of a training run on the command line.

use burnrank::train::ModelChoice;
use burnrank::{
    Activation, Architecture, Error, GradientPath, Init, Objective, OptimizerKind, ScaleKind, StepRule, TrainConfig,
};
use std::fmt;
use std::str::FromStr;

/// What decides how a ranker is trained.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Training")]
pub struct Settings {
    /// What is optimised [default: lambdarank:ndcg; for the demonstration, three of them]
    #[arg(long, value_name = "NAME")]
    pub objective: Option<String>,
    #[arg(long, value_name = "NAME", default_value = "mlp", help = "What is trained: one of the models below")]
    pub model: ModelChoice,
    /// Hidden units of an mlp, one number per layer, as in 32,16
    #[arg(long, value_name = "UNITS", default_value_t = HiddenLayers(vec![10]))]
    pub hidden: HiddenLayers,
    /// Function of the hidden units: sigmoid, tanh or relu
    #[arg(long, value_name = "NAME", default_value_t = Activation::Tanh)]
    pub activation: Activation,
    /// First weights: burn (uniform by the number of inputs) or paper (RankNet's)
    #[arg(long, value_name = "NAME", default_value_t = Init::Burn)]
    pub init: Init,
    /// The measure that chooses the best epoch on the validation queries
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub metric: String,
    /// The most epochs: passes over the data, trees, or rounds [default: 100 for nets]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Step size [default: 0.01 for linear nets and the demonstration, 0.001 for others]
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
    /// Stop after this many epochs without a better validation value; 0 never stops [default: 20 for nets]
    #[arg(long, value_name = "EPOCHS")]
    pub patience: Option<usize>,
    /// Start again from new random weights after this many epochs without a better validation value; 0 never does
    #[arg(long, value_name = "EPOCHS", default_value_t = 0)]
    pub restart: usize,
    /// L2 penalty on all weights
    #[arg(long, value_name = "PENALTY", default_value_t = 0.0)]
    pub l2: f64,
    /// Largest norm of each parameter's gradient; 0 for no limit
    #[arg(long, value_name = "NORM", default_value_t = 0.0)]
    pub clip: f64,
    /// What is done to features: none, log1p, zscore, minmax, log1p-zscore, query-minmax or query-zscore [default:
    /// query-minmax for nets, none for trees]
    #[arg(long, value_name = "KIND")]
    pub scale: Option<ScaleKind>,
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

const DEFAULT_OBJECTIVE: &str = "lambdarank:ndcg";

fn default() -> TrainConfig {
    TrainConfig::default()
}

/// The number of units of each hidden layer, as in 32,16.
#[derive(Debug, Clone)]
pub struct HiddenLayers(Vec<usize>);

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

impl Settings {
    /// The library's configuration, checked.
    pub fn config(&self) -> burnrank::Result<TrainConfig> {
        let net = Architecture::Mlp { hidden: self.hidden.0.clone(), activation: self.activation };
        let preset = self.model.config(net);
        let objective = match &self.objective {
            Some(_) if !self.model.kind.takes_objective() => {
                let (name, aim) = (self.model.kind.name, self.model.kind.optimises.unwrap_or_default());
                return Err(Error::Config(format!(
                    "--model {name} optimises {aim}: --objective is for nets and trees, leave it out"
                )));
            }
            Some(name) => name.as_str(),
            None => DEFAULT_OBJECTIVE,
        };
        let config = TrainConfig {
            objective: Objective::parse(objective)?,
            init: self.init,
            scaling: self.scale.unwrap_or(preset.scaling),
            metric: self.metric.clone(),
            epochs: self.epochs.unwrap_or(preset.epochs),
            learning_rate: self.lr.unwrap_or(preset.learning_rate),
            optimizer: self.optimizer,
            batch_queries: self.batch_queries,
            step_rule: self.step_rule,
            patience: self.patience.unwrap_or(preset.patience),
            restart: self.restart,
            l2: self.l2,
            clip: self.clip,
            seed: self.seed,
            gradient: self.gradient,
            pair_budget: self.pair_budget,
            ..preset
        };
        config.check()?;
        Ok(config)
    }
}
