//! The settings of a training run on the command line.

mod choices;
mod options;

use burnrank::setting::{Kinds, Method, ModelChoice, Setting, resolve};
use burnrank::train::Ensemble;
use burnrank::{Error, ScaleKind, TrainConfig};
use choices::ModelArg;
use options::Options;

/// What decides how a model is trained.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Training")]
pub struct Settings {
    /// What is trained: one of the models below; without it auto, or mlp where an option is given that auto has no use
    /// for
    #[arg(long, value_name = "NAME")]
    model: Option<ModelArg>,
    #[command(flatten)]
    options: Options,
    /// Train N models in parallel and average them into a single model; for nets and trees. They differ in their seeds and,
    /// without --valid, in the queries kept for validation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = members)]
    pub ensemble: usize,
    /// Where to compute: auto, or a name that 'burnrank devices' lists
    #[arg(long, value_name = "NAME", default_value = "auto", help_heading = "Nets")]
    pub device: String,
    #[command(flatten)]
    pub auto: AutoArgs,
}

/// What bounds the choice of a model.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Choice of a model (auto)")]
pub struct AutoArgs {
    /// The most runs of the race; the same seed then gives the same model [default: as many as it needs]
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..))]
    pub trials: Option<u64>,
    /// The most time for the race; the first run is always whole
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
}

/// A time to wait for.
fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=1e9).contains(number));
    number.ok_or_else(|| "expected a number of seconds".to_owned())
}

/// Who chooses the model.
pub enum Choice {
    /// The data; whether the user said so.
    Auto { said: bool },
    /// The user, or an option that only one model has.
    Named,
}

/// More models than anyone averages.
const MOST_MEMBERS: usize = 1000;

/// A number of models to average.
fn members(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_MEMBERS).contains(number));
    number.ok_or_else(|| format!("expected a number of 1 to {MOST_MEMBERS}"))
}

/// What the demonstration states where the user does not: its data are plentiful and without noise, and its models ship, so that
/// they are not to change with what suits other data.
const DEMONSTRATION: [(&str, &str); 10] = [
    ("hidden", "10"),
    ("activation", "tanh"),
    ("init", "burn"),
    ("optimizer", "adam"),
    ("batch-queries", "10"),
    ("lr", "0.01"),
    ("scale", "query-minmax"),
    ("schedule", "constant"),
    ("epochs", "100"),
    ("patience", "20"),
];

impl Settings {
    /// The model, where it is not chosen on the data.
    pub fn model(&self) -> ModelChoice {
        match &self.model {
            Some(ModelArg::Named(choice)) => choice.clone(),
            _ => ModelChoice::mlp(),
        }
    }

    /// The value that the user stated.
    pub fn stated(&self, key: &str) -> Option<&str> {
        self.options.given.get(key)
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.stated("seed").and_then(|seed| seed.parse().ok()).unwrap_or(TrainConfig::default().seed)
    }

    /// The metric that chooses epochs, and models.
    pub fn metric(&self) -> String {
        self.stated("metric").map_or_else(|| TrainConfig::default().metric, str::to_owned)
    }

    /// The scaling that the user named.
    pub fn scaling(&self) -> Option<ScaleKind> {
        self.stated("scale").and_then(|name| name.parse().ok())
    }

    /// Whether a scaling is to be chosen on the data, for a net that the user named.
    pub fn chooses_scaling(&self, config: &TrainConfig) -> bool {
        self.options.chooses_scaling && config.method == Method::Gradient
    }

    /// Who chooses the model.
    ///
    /// # Errors
    /// An option that the choice has no use for, or that only the choice has.
    pub fn choice(&self) -> burnrank::Result<Choice> {
        let own = self.options.given.check_for("auto", Kinds::AUTO).err();
        let own = own.or_else(|| {
            let message = "`ensemble` is for nets and trees, not for auto: leave it out, or choose another `model`";
            (self.ensemble != 1).then(|| Error::Config(message.into()))
        });
        let bound = [("trials", self.auto.trials.is_some()), ("seconds", self.auto.seconds.is_some())];
        let bound = bound.into_iter().find(|(_, given)| *given).map(|(key, _)| key);
        match (&self.model, own, bound) {
            (Some(ModelArg::Auto), Some(error), _) => Err(error),
            (Some(ModelArg::Auto), None, _) => Ok(Choice::Auto { said: true }),
            (None, None, _) => Ok(Choice::Auto { said: false }),
            (_, _, Some(key)) => Err(Error::Config(format!("`{key}` is for `model` auto: leave it out"))),
            _ => Ok(Choice::Named),
        }
    }

    /// As long as a net needs on so many training queries, where the user does not say how long.
    pub fn suited(&self, config: TrainConfig, queries: usize) -> burnrank::Result<TrainConfig> {
        self.options.given.suited(config, queries)
    }

    /// The settings of the demonstration.
    pub fn of_demonstration(&self, config: TrainConfig) -> burnrank::Result<TrainConfig> {
        if config.method != Method::Gradient {
            return Ok(config);
        }
        let (model, mut given) = (self.model(), self.options.given.clone());
        for (key, value) in DEMONSTRATION {
            if !given.has(key) && Setting::of(key)?.is_of(model.kind) {
                given.state(key, value)?;
            }
        }
        resolve(&model, &given, None)
    }

    /// The library's configuration, checked; where the model is chosen on the data, what the choice starts from.
    pub fn config(&self) -> burnrank::Result<TrainConfig> {
        self.choice()?;
        let model = self.model();
        if self.options.chooses_scaling && !Kinds::NETS.has(model.kind.kinds) {
            let name = model.kind.name;
            return Err(Error::Config(format!("`scale` auto is for nets, not for {name}: leave it out")));
        }
        resolve(&model, &self.options.given, None)
    }

    /// Refuses an ensemble that would be none; `own_queries` says whether members have other queries to validate with.
    pub fn check_ensemble(&self, config: &TrainConfig, own_queries: bool) -> burnrank::Result<()> {
        if self.ensemble == 1 {
            return Ok(());
        }
        let name = self.model().kind.name;
        if let Method::Baseline(_) = config.method {
            return Err(Error::Config(format!("--ensemble is for nets and trees, not for {name}: leave it out")));
        }
        if Ensemble::is_deterministic(config) && !own_queries {
            return Err(Error::Config(
                "--ensemble: all members would be the same, because nothing about these trees is random: add --subsample 0.8 \
                 or --feature-fraction 0.8"
                    .into(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
