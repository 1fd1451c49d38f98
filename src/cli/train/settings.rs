//! Training settings on the command line.

mod model_arg;
mod options;

use burnrank::setting::{Kinds, Method, ModelChoice, Setting, resolve};
use burnrank::train::Ensemble;
use burnrank::{Error, ScaleKind, TrainConfig};
use model_arg::ModelArg;
use options::Options;

/// The options that select the model and how to train it.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Training")]
pub struct Settings {
    /// Model to train, as in linear, mlp or trees; see the list below [default: auto, or mlp with options that auto does not support]
    #[arg(long, value_name = "NAME")]
    model: Option<ModelArg>,
    #[command(flatten)]
    options: Options,
    /// Train N nets or tree models in parallel and average them into one model. They differ in their seeds and, without
    /// --valid, in the queries held out for validation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = members)]
    pub ensemble: usize,
    /// Device: auto, or a name listed by 'burnrank devices'
    #[arg(long, value_name = "NAME", default_value = "auto", help_heading = "Nets")]
    pub device: String,
    #[command(flatten)]
    pub auto: AutoArgs,
}

/// Limits of model selection.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Model selection (auto)")]
pub struct AutoArgs {
    /// Maximum number of runs; without --seconds, the same seed gives the same model [default: as many as needed]
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..))]
    pub trials: Option<u64>,
    /// Maximum time in seconds; the first run always finishes
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
}

/// Parses a time limit.
fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=1e9).contains(number));
    number.ok_or_else(|| "expected a number of seconds".to_owned())
}

/// How the model is chosen.
pub enum Choice {
    /// On the data. `explicit`: the user passed `--model auto`.
    Auto { explicit: bool },
    /// By `--model`, or by an option for a specific model.
    Named,
}

/// Maximum number of models to average.
const MAX_MEMBERS: usize = 1000;

/// Parses a number of models to average.
fn members(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_MEMBERS).contains(number));
    number.ok_or_else(|| format!("expected a number of 1 to {MAX_MEMBERS}"))
}

/// Default settings of the demonstration. They are fixed, because its data is plentiful and free of noise, and its models are
/// shipped: they must not change with the general defaults.
const DEMONSTRATION: [(&str, &str); 10] = [
    ("hidden", "10"),
    ("activation", "tanh"),
    ("init", "burn"),
    ("optimizer", "adam"),
    ("batch-queries", "10"),
    ("lr", "0.01"),
    ("scale", "none"),
    ("schedule", "constant"),
    ("epochs", "50"),
    ("patience", "20"),
];

impl Settings {
    /// The model, unless it is selected on the data.
    pub fn model(&self) -> ModelChoice {
        match &self.model {
            Some(ModelArg::Named(choice)) => choice.clone(),
            _ => ModelChoice::mlp(),
        }
    }

    /// The value that the user passed for a setting.
    pub fn stated(&self, key: &str) -> Option<&str> {
        self.options.given.get(key)
    }

    /// Random seed.
    pub fn seed(&self) -> u64 {
        self.stated("seed").and_then(|seed| seed.parse().ok()).unwrap_or(TrainConfig::default().seed)
    }

    /// The metric that selects epochs and models.
    pub fn metric(&self) -> String {
        self.stated("metric").map_or_else(|| TrainConfig::default().metric, str::to_owned)
    }

    /// The scaling that the user passed.
    pub fn scaling(&self) -> Option<ScaleKind> {
        self.stated("scale").and_then(|name| name.parse().ok())
    }

    /// Whether to choose the scaling of a net on the data.
    pub fn chooses_scaling(&self, config: &TrainConfig) -> bool {
        self.options.chooses_scaling && config.method == Method::Gradient
    }

    /// How the model is chosen.
    ///
    /// # Errors
    /// If an option does not work with `--model auto`, or only with it.
    pub fn choice(&self) -> burnrank::Result<Choice> {
        let unsupported = self.options.given.check_for("auto", Kinds::AUTO).err();
        let unsupported = unsupported.or_else(|| {
            let message = "`ensemble` is for nets and trees, not for auto: remove it, or choose another `model`";
            (self.ensemble != 1).then(|| Error::Config(message.into()))
        });
        let limits = [("trials", self.auto.trials.is_some()), ("seconds", self.auto.seconds.is_some())];
        let limit = limits.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key);
        match (&self.model, unsupported, limit) {
            (Some(ModelArg::Auto), Some(error), _) => Err(error),
            (Some(ModelArg::Auto), None, _) => Ok(Choice::Auto { explicit: true }),
            (None, None, _) => Ok(Choice::Auto { explicit: false }),
            (_, _, Some(key)) => Err(Error::Config(format!("`{key}` needs `model` auto: remove it"))),
            _ => Ok(Choice::Named),
        }
    }

    /// Sets the number of epochs that suits the number of training queries, unless the user set it.
    pub fn suited(&self, config: TrainConfig, queries: usize) -> burnrank::Result<TrainConfig> {
        self.options.given.suited(config, queries)
    }

    /// The settings of the demonstration, which trains a linear net unless the user states another model or settings that
    /// a linear net lacks.
    pub fn of_demonstration(&self, config: TrainConfig) -> burnrank::Result<TrainConfig> {
        if config.method != Method::Gradient {
            return Ok(config);
        }
        let mut given = self.options.given.clone();
        let model = match &self.model {
            None if given.check_for("linear", Kinds::LINEAR).is_ok() => "linear".parse()?,
            _ => self.model(),
        };
        for (key, value) in DEMONSTRATION {
            if !given.has(key) && Setting::of(key)?.is_of(model.kind) {
                given.state(key, value)?;
            }
        }
        resolve(&model, &given, None)
    }

    /// The checked training configuration; for model selection, its starting point.
    pub fn config(&self) -> burnrank::Result<TrainConfig> {
        self.choice()?;
        let model = self.model();
        if self.options.chooses_scaling && !Kinds::NETS.has(model.kind.kinds) {
            let name = model.kind.name;
            return Err(Error::Config(format!(
                "`scale` auto is for nets, not for {name}: choose a scaling, or remove it"
            )));
        }
        resolve(&model, &self.options.given, None)
    }

    /// Refuses an ensemble of equal members. `different_queries`: whether members hold out different queries.
    pub fn check_ensemble(&self, config: &TrainConfig, different_queries: bool) -> burnrank::Result<()> {
        if self.ensemble == 1 {
            return Ok(());
        }
        let name = self.model().kind.name;
        if let Method::Baseline(_) = config.method {
            return Err(Error::Config(format!("--ensemble is for nets and trees, not for {name}: remove it")));
        }
        if Ensemble::is_deterministic(config) && !different_queries {
            return Err(Error::Config(
                "--ensemble: all members would be equal, because training these trees is deterministic: add --subsample 0.8 \
                 or --feature-fraction 0.8"
                    .into(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
