//! The options that only nets have.

use burnrank::{Activation, Error, GradientPath, Init, OptimizerKind, Schedule};
use std::fmt;
use std::str::FromStr;

/// What nets have, and nothing else has.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Nets")]
pub struct NetSettings {
    /// Hidden units of an mlp, one number per layer, as in 32,16 [default: 10]
    #[arg(long, value_name = "UNITS")]
    pub hidden: Option<HiddenLayers>,
    /// Function of the hidden units: sigmoid, tanh or relu [default: tanh]
    #[arg(long, value_name = "NAME")]
    pub activation: Option<Activation>,
    /// First weights: burn (uniform by the number of inputs) or paper (RankNet's) [default: burn]
    #[arg(long, value_name = "NAME")]
    pub init: Option<Init>,
    /// Step size [default: 0.03 for linear nets, 0.01 for others]
    #[arg(long, value_name = "RATE")]
    pub lr: Option<f64>,
    /// sgd, momentum or adam [default: adam]
    #[arg(long, value_name = "NAME")]
    pub optimizer: Option<OptimizerKind>,
    /// Queries per batch; 1 is the papers' batch per query [default: 10]
    #[arg(long, value_name = "N")]
    pub batch_queries: Option<usize>,
    /// When the learning rate shrinks: constant, halve (worse loss: halved), shrink (worse: times 0.8), shrink-sometimes
    /// (worse training metric: times 0.8 with probability 0.3), or cosine (to 0 over all epochs) [default: cosine, or
    /// constant with --epochs or --restart]
    #[arg(long, value_name = "RULE")]
    pub schedule: Option<Schedule>,
    /// Start again from new random weights after this many epochs without a better validation value; 0 never does
    /// [default: 0]
    #[arg(long, value_name = "EPOCHS")]
    pub restart: Option<usize>,
    /// Largest norm of each parameter's gradient; 0 for no limit [default: 0]
    #[arg(long, value_name = "NORM")]
    pub clip: Option<f64>,
    /// Where to compute: auto, or a name that 'burnrank devices' lists
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub device: String,
    /// How gradients are computed: auto, lambda (closed form on the host) or tensor (autodiff on the device) [default:
    /// auto]
    #[arg(long, value_name = "PATH")]
    pub gradient: Option<GradientPath>,
    /// The most pairs in memory at once on the tensor path [default: 4194304]
    #[arg(long, value_name = "PAIRS")]
    pub pair_budget: Option<usize>,
    /// Cut the queries into so many shares, which up to so many processes train to the same model, byte for byte [default:
    /// none; under mpirun 12, or 4 with batches of fewer than 48 queries]
    #[arg(long, value_name = "N")]
    pub shares: Option<usize>,
}

/// The number of units of each hidden layer, as in 32,16.
#[derive(Debug, Clone)]
pub struct HiddenLayers(pub Vec<usize>);

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
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--hidden", self.hidden.is_some()),
            ("--activation", self.activation.is_some()),
            ("--init", self.init.is_some()),
            ("--lr", self.lr.is_some()),
            ("--optimizer", self.optimizer.is_some()),
            ("--batch-queries", self.batch_queries.is_some()),
            ("--schedule", self.schedule.is_some()),
            ("--restart", self.restart.is_some()),
            ("--clip", self.clip.is_some()),
            ("--gradient", self.gradient.is_some()),
            ("--pair-budget", self.pair_budget.is_some()),
            ("--shares", self.shares.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}
