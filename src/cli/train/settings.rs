//! The settings of a training run on the command line.

mod choices;
mod nets;
mod trees;

use burnrank::setting::{Method, ModelChoice};
use burnrank::train::Ensemble;
use burnrank::{Architecture, Error, Objective, ScaleKind, Schedule, TrainConfig};
use choices::{ModelArg, ScaleArg};
use nets::NetSettings;
use trees::TreeArgs;

/// What decides how a model is trained.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Training")]
pub struct Settings {
    /// What is optimised [default: lambdarank:ndcg; for the demonstration, three of them]
    #[arg(long, value_name = "NAME")]
    pub objective: Option<String>,
    /// What is trained: one of the models below; without it auto, or mlp where an option is given that auto has no use
    /// for
    #[arg(long, value_name = "NAME")]
    model: Option<ModelArg>,
    /// The measure that chooses the best epoch on the validation queries
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub metric: String,
    /// The most epochs: passes over the data, or rounds of other systems [default: for nets, 2,000 updates and 50 epochs at
    /// least]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Stop after this many epochs or trees without a better validation value; 0 never stops [default: 20 with --epochs
    /// or half of the epochs for nets, 50 for trees]
    #[arg(long, value_name = "EPOCHS")]
    pub patience: Option<usize>,
    /// L2 penalty on all weights of a net, or all values of leaves
    #[arg(long, value_name = "PENALTY", default_value_t = 0.0)]
    pub l2: f64,
    /// What is done to features: none, log1p, zscore, minmax, log1p-zscore, quantile (bounded, whatever the
    /// outliers), query-minmax or query-zscore; auto chooses for nets [default: auto for the model auto, quantile for
    /// other nets, none for trees]
    #[arg(long, value_name = "KIND")]
    scale: Option<ScaleArg>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Train so many models side by side and average them into one, which is as quick to use as one with all their
    /// units; for nets and trees. They differ in their seeds and, without --valid, in the queries kept for validation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = members)]
    pub ensemble: usize,
    #[command(flatten)]
    pub auto: AutoArgs,
    #[command(flatten)]
    pub nets: NetSettings,
    #[command(flatten)]
    trees: TreeArgs,
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

const DEFAULT_OBJECTIVE: &str = "lambdarank:ndcg";

impl Settings {
    /// The model, where it is not chosen on the data.
    pub fn model(&self) -> ModelChoice {
        match &self.model {
            Some(ModelArg::Named(choice)) => choice.clone(),
            _ => ModelChoice::mlp(),
        }
    }

    /// The scaling that the user named.
    pub fn scaling(&self) -> Option<ScaleKind> {
        match self.scale {
            Some(ScaleArg::Named(kind)) => Some(kind),
            _ => None,
        }
    }

    /// Whether a scaling is to be chosen on the data, for a net that the user named.
    pub fn chooses_scaling(&self, config: &TrainConfig) -> bool {
        matches!(self.scale, Some(ScaleArg::Auto)) && config.method == Method::Gradient
    }

    /// Who chooses the model.
    ///
    /// # Errors
    /// An option that the choice has no use for, or that only the choice has.
    pub fn choice(&self) -> burnrank::Result<Choice> {
        let own = [
            ("--epochs", self.epochs.is_some()),
            ("--patience", self.patience.is_some()),
            ("--l2", self.l2 != 0.0),
            ("--ensemble", self.ensemble != 1),
        ];
        let own = own.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
        let own = own.or_else(|| self.nets.given()).or_else(|| self.trees.given());
        let bound = [("--trials", self.auto.trials.is_some()), ("--seconds", self.auto.seconds.is_some())];
        let bound = bound.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
        match (&self.model, own, bound) {
            (Some(ModelArg::Auto), Some(flag), _) => {
                let message = format!("{flag} is for one model, not for auto: add --model mlp, or leave it out");
                Err(Error::Config(message))
            }
            (Some(ModelArg::Auto), None, _) => Ok(Choice::Auto { said: true }),
            (None, None, _) => Ok(Choice::Auto { said: false }),
            (_, _, Some(flag)) => Err(Error::Config(format!("{flag} is for --model auto: leave it out"))),
            _ => Ok(Choice::Named),
        }
    }

    /// As long as a net needs on so many training queries, where the user does not say how long.
    pub fn suited(&self, config: TrainConfig, queries: usize) -> TrainConfig {
        if config.method != Method::Gradient {
            return config;
        }
        let epochs = self.epochs.unwrap_or(config.clone().suited_to(queries).epochs);
        let patience =
            if self.epochs.is_some() { config.patience } else { self.patience.unwrap_or((epochs / 2).max(20)) };
        TrainConfig { epochs, patience, ..config }
    }

    /// The settings of the demonstration: its data are plentiful and without noise, and its models ship, so that they are not
    /// to change with what suits other data.
    pub fn of_demonstration(&self, config: TrainConfig) -> TrainConfig {
        if config.method != Method::Gradient {
            return config;
        }
        let usual = TrainConfig::default();
        TrainConfig {
            learning_rate: self.nets.lr.unwrap_or(0.01),
            scaling: self.scaling().unwrap_or(usual.scaling),
            schedule: self.nets.schedule.unwrap_or(usual.schedule),
            epochs: self.epochs.unwrap_or(usual.epochs),
            patience: self.patience.unwrap_or(usual.patience),
            ..config
        }
    }

    /// The library's configuration, checked.
    pub fn config(&self) -> burnrank::Result<TrainConfig> {
        let mut preset = self.model().config();
        let mut epochs = self.epochs.unwrap_or(preset.epochs);
        let (name, boosts) = (self.model().kind.name, matches!(preset.method, Method::Boosting(_)));
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
        // The library knows these as epochs and learning rate.
        for (flag, value) in
            [("--trees", self.trees.trees.map(|trees| trees as f64)), ("--shrinkage", self.trees.shrinkage)]
        {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(Error::Config(format!("{flag} {value}: expected a number above 0")));
            }
        }
        let restart = self.nets.restart.unwrap_or(preset.restart);
        // A run that is to end when the user says may go on to more epochs: its steps cannot depend on their number.
        let can_grow = restart > 0 || self.epochs.is_some();
        let config = TrainConfig {
            objective: self.objective()?,
            init: self.nets.init.unwrap_or(preset.init),
            scaling: self.scaling().unwrap_or(preset.scaling),
            metric: self.metric.clone(),
            epochs,
            learning_rate: self.nets.lr.or(self.trees.shrinkage).unwrap_or(preset.learning_rate),
            optimizer: self.nets.optimizer.unwrap_or(preset.optimizer),
            batch_queries: self.nets.batch_queries.unwrap_or(preset.batch_queries),
            schedule: self.nets.schedule.unwrap_or(if can_grow { Schedule::Constant } else { preset.schedule }),
            patience: self.patience.unwrap_or(preset.patience),
            restart,
            l2: self.l2,
            clip: self.nets.clip.unwrap_or(preset.clip),
            seed: self.seed,
            gradient: self.nets.gradient.unwrap_or(preset.gradient),
            pair_budget: self.nets.pair_budget.unwrap_or(preset.pair_budget),
            shares: self.nets.shares.unwrap_or(preset.shares),
            ..preset
        };
        config.check()?;
        Ok(config)
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
        if Ensemble::needs_no_seed(config) && !own_queries {
            return Err(Error::Config(
                "--ensemble: all members would be the same, because nothing about these trees is random: add --subsample 0.8 \
                 or --feature-fraction 0.8"
                    .into(),
            ));
        }
        Ok(())
    }

    fn objective(&self) -> burnrank::Result<Objective> {
        let kind = self.model().kind;
        match (&self.objective, kind.optimises) {
            (Some(_), Some(aim)) => Err(Error::Config(format!(
                "--model {} optimises {aim}: --objective is for nets and trees, leave it out",
                kind.name
            ))),
            (name, _) => Objective::parse(name.as_deref().unwrap_or(DEFAULT_OBJECTIVE)),
        }
    }
}
