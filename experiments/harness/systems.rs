//! Systems to compare: a model with one tuned setting, trained on a fold with several seeds.

use super::finding::{Finding, no_share};
use super::trainings::Went;
use super::tuning::{or_diverged, tune};
use super::units::mean;
use super::{Execution, Packed, Ticker, per_query, train};
use anyhow::Context;
use burnrank::setting::{Method, ModelChoice};
use burnrank::train::TrainingData;
use burnrank::{Architecture, Dataset, Model, Objective, ScaleKind, Schedule, TrainConfig};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model with its grid of settings.
pub struct System {
    pub name: &'static str,
    pub model: &'static str,
    /// `None` for baselines with their own objective.
    pub objective: Option<&'static str>,
    pub grid: Grid,
}

/// The tuned setting with its initial values, in steps of equal factors.
#[derive(Clone, Copy)]
pub enum Grid {
    Nothing,
    LearningRate(&'static [f64]),
    Leaves(&'static [f64]),
    /// An option of the model.
    Setting(&'static str, &'static [f64]),
    /// The scaling of features, for models without a constant.
    Scaling,
    /// An option of the model with fixed values, each with every scaling.
    SettingAndScaling(&'static str, &'static [f64]),
}

/// Feature scalings that are tried.
const SCALINGS: [ScaleKind; 4] = [ScaleKind::None, ScaleKind::QueryMinMax, ScaleKind::ZScore, ScaleKind::Log1pZScore];

/// Models that use random numbers and are trained with several seeds.
const SEEDED: [&str; 7] = ["linear", "mlp", "prank", "prank-quadratic", "oap-bpm", "coordinate-ascent", "rankprop"];

/// How systems are tuned and evaluated.
pub struct Tuning {
    pub metric: &'static str,
    pub seeds: u64,
    /// Maximum number of initial settings.
    pub settings: usize,
    /// Maximum number of extensions of a grid whose best value is at an end.
    pub extensions: usize,
    /// Maximum number of epochs, trees or rounds; `None` for each system's default.
    pub epochs: Option<usize>,
    /// Further means: name, metric, and set (0: training, 1: validation, 2: test).
    pub others: &'static [(&'static str, &'static str, usize)],
}

/// Result of a system with the setting chosen on validation queries.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SystemRun {
    pub setting: String,
    /// Learning rate of nets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
    /// Whether the setting is at the end of the grid; `None` if the grid is not extended.
    pub at_edge: Option<bool>,
    /// Each setting with its validation value.
    pub trials: Vec<(String, f64)>,
    pub best_epochs: Vec<usize>,
    /// Maximum number of epochs.
    pub allowed: usize,
    pub valid: f64,
    /// Number of training documents.
    pub documents: usize,
    /// Further means over queries and seeds.
    pub others: BTreeMap<String, f64>,
    /// Mean over seeds for each test query.
    pub test: Packed,
    /// Why the system could not be run on this fold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Finding for SystemRun {
    fn impossible(&self) -> Option<String> {
        no_share("a validation value", self.trials.iter().map(|trial| trial.1).chain([self.valid]))
            .or_else(|| no_share("a value", self.test.values().iter().chain(self.others.values()).copied()))
    }
}

impl SystemRun {
    /// Whether the limits of training were reached, one row per seed.
    pub fn went<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Went> + 'a {
        let seeds = self.best_epochs.iter().enumerate();
        seeds.map(move |(seed, &best)| Went {
            step: self.learning_rate,
            // The setting is chosen once for all seeds.
            at_edge: self.at_edge.filter(|_| seed == 0),
            ..Went::new(name, best, self.allowed)
        })
    }
}

impl System {
    /// A baseline.
    pub const fn baseline(name: &'static str, model: &'static str, grid: Grid) -> System {
        System { name, model, objective: None, grid }
    }

    /// A net or trees.
    pub const fn trained(name: &'static str, model: &'static str, objective: &'static str, grid: Grid) -> System {
        System { name, model, objective: Some(objective), grid }
    }

    /// Initial settings; numbers of variants if scalings are tried.
    pub fn settings(&self, tuning: &Tuning) -> Vec<f64> {
        let numbered = |n: usize| (0..n).map(|place| place as f64).collect::<Vec<f64>>();
        let mut all = match self.grid {
            Grid::Nothing => vec![0.0],
            Grid::LearningRate(all) | Grid::Leaves(all) | Grid::Setting(_, all) => all.to_vec(),
            Grid::Scaling => numbered(SCALINGS.len()),
            Grid::SettingAndScaling(_, all) => numbered(all.len() * SCALINGS.len()),
        };
        all.truncate(tuning.settings);
        all
    }

    /// Whether the grid is extended.
    pub fn is_extensible(&self) -> bool {
        matches!(self.grid, Grid::LearningRate(_) | Grid::Leaves(_) | Grid::Setting(..))
    }

    /// Names the initial settings.
    pub fn describe(&self) -> String {
        let list = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        let what = match self.grid {
            Grid::Nothing => "none".into(),
            Grid::LearningRate(all) => format!("learning rate {}", list(all)),
            Grid::Leaves(all) => format!("leaves {}", list(all)),
            Grid::Setting(key, all) => format!("{key} {}", list(all)),
            Grid::Scaling => "scaling".into(),
            Grid::SettingAndScaling(key, all) => format!("{key} {} with each scaling", list(all)),
        };
        format!("{}: {what}", self.name)
    }

    /// Returns the configuration with a setting, and the setting's name in results.
    pub fn config(&self, setting: f64, tuning: &Tuning, seed: u64) -> anyhow::Result<(TrainConfig, String)> {
        let scaling = |place: usize| Some(SCALINGS[place % SCALINGS.len()]);
        let (option, scaling) = match self.grid {
            Grid::Setting(key, _) => (Some((key, setting)), None),
            Grid::Scaling => (None, scaling(setting as usize)),
            Grid::SettingAndScaling(key, all) => {
                (all.get(setting as usize / SCALINGS.len()).map(|&value| (key, value)), scaling(setting as usize))
            }
            _ => (None, None),
        };
        let model = match option {
            Some((key, value)) => format!("{}:{key}={value}", self.model),
            None => self.model.to_owned(),
        };
        let mut config = model.parse::<ModelChoice>()?.config();
        if let Some(objective) = self.objective {
            config.objective = Objective::parse(objective)?;
        }
        (config.metric, config.seed) = (tuning.metric.into(), seed);
        if config.architecture.is_net() && config.method == Method::Gradient {
            (config.scaling, config.schedule) = (ScaleKind::QueryMinMax, Schedule::Constant);
        }
        config.epochs = tuning.epochs.map_or(config.epochs, |maximum| maximum.min(config.epochs));
        let mut names: Vec<String> = option.iter().map(|(key, value)| format!("{key}={value}")).collect();
        match self.grid {
            Grid::LearningRate(_) => {
                config.learning_rate = setting;
                names.push(format!("lr {setting}"));
            }
            Grid::Leaves(_) => {
                let leaves = setting.round().max(2.0) as usize;
                config.architecture = Architecture::Trees { trees: config.epochs, leaves };
                names.push(format!("{leaves} leaves"));
            }
            _ => (),
        }
        if let Some(scaling) = scaling {
            config.scaling = scaling;
            names.push(scaling.to_string());
        }
        Ok((config, names.join(", ")))
    }

    /// Tries all settings with one seed, trains the one with the best validation value with the other seeds, and evaluates.
    ///
    /// `training` replaces the training documents of the fold, except for evaluation. Data that the system cannot process, such
    /// as too many documents for a kernel matrix, is a result too.
    pub fn run(
        &self,
        execution: &Execution<'_>,
        key: &str,
        tuning: &Tuning,
        (fold, training): (&[Dataset; 3], &Dataset),
        ticker: &Ticker<'_>,
    ) -> anyhow::Result<SystemRun> {
        let seeds = if SEEDED.contains(&self.model) { tuning.seeds } else { 1 };
        let settings = self.settings(tuning);
        let trainings = (settings.len() as u64 + seeds - 1) as f64;
        let mut done = 0.0;
        let mut one = |setting: f64, seed: u64| -> anyhow::Result<(Model, String)> {
            let (config, name) = self.config(setting, tuning, execution.session.seed.wrapping_mul(1_000) + seed)?;
            let data = Arc::new(TrainingData::new(config.scaling, training.clone(), fold[1].clone())?);
            let share = (ticker, ((done / trainings).min(1.0), ((done + 1.0) / trainings).min(1.0)));
            done += 1.0;
            let key = format!("{key} setting {setting} seed {seed}");
            Ok((train(execution, &key, &config, &data, share, |_| false)?, name))
        };
        let mut models: Vec<(f64, Model)> = vec![];
        let extensions = if self.is_extensible() { tuning.extensions } else { 0 };
        let tuned = tune(&settings, extensions, |setting| {
            or_diverged(one(setting, 0).map(|(model, _)| {
                let value = model.best_value().unwrap_or(0.0);
                models.push((setting, model));
                value
            }))
        });
        let tuned = match tuned {
            Ok(tuned) => tuned,
            Err(error) => return Ok(SystemRun { failure: Some(error.to_string()), ..SystemRun::default() }),
        };
        let place = models.iter().position(|model| model.0 == tuned.best).context("no setting could be trained")?;
        let mut models = vec![models.swap_remove(place).1];
        for seed in 1..seeds {
            models.push(one(tuned.best, seed)?.0);
        }
        let over_seeds = |metric: &str, set: usize| -> anyhow::Result<Vec<f64>> {
            let mut sum = vec![0.0; fold[set].n_queries()];
            for model in &models {
                let values = per_query(model, &fold[set], metric)?;
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
            }
            Ok(sum)
        };
        let mut others = BTreeMap::new();
        for (name, metric, set) in tuning.others {
            others.insert(name.to_string(), mean(&over_seeds(metric, *set)?));
        }
        let name = |setting: f64| self.config(setting, tuning, 0).map(|(_, name)| name);
        let (config, setting) = self.config(tuned.best, tuning, 0)?;
        let trials = tuned.trials.iter().map(|&(setting, value)| Ok((name(setting)?, value)));
        Ok(SystemRun {
            setting,
            learning_rate: matches!(self.grid, Grid::LearningRate(_)).then_some(tuned.best),
            at_edge: (self.is_extensible() && settings.len() > 1).then_some(tuned.at_edge),
            trials: trials.collect::<anyhow::Result<_>>()?,
            best_epochs: models.iter().map(|model| model.info.best_epoch).collect(),
            allowed: config.epochs,
            valid: models[0].best_value().unwrap_or(0.0),
            documents: training.n_documents(),
            others,
            test: Packed::new(over_seeds(tuning.metric, 2)?),
            failure: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUNING: Tuning =
        Tuning { metric: "ndcg@10", seeds: 1, settings: 9, extensions: 0, epochs: Some(7), others: &[] };

    #[test]
    fn every_setting_has_a_configuration_of_its_own() {
        let both = System::baseline("x", "oap-bpm", Grid::SettingAndScaling("tau", &[0.3, 0.5]));
        let names = |system: &System, tuning: &Tuning| -> Vec<String> {
            system.settings(tuning).iter().map(|&setting| system.config(setting, tuning, 1).unwrap().1).collect()
        };
        let all = names(&both, &TUNING);
        assert_eq!((all.len(), all[0].as_str(), all[7].as_str()), (8, "tau=0.3, none", "tau=0.5, log1p-zscore"));
        let scaled = System::baseline("x", "prank", Grid::Scaling);
        assert_eq!(names(&scaled, &Tuning { settings: 2, ..TUNING }), ["none", "query-minmax"]);
        let net = System::trained("x", "mlp", "ranknet", Grid::LearningRate(&[0.1]));
        let (config, name) = net.config(0.1, &TUNING, 3).unwrap();
        assert_eq!((config.learning_rate, config.epochs, config.seed, name.as_str()), (0.1, 7, 3, "lr 0.1"));
        let trees = System::trained("x", "trees", "squared-error", Grid::Leaves(&[4.0]));
        assert_eq!(trees.config(4.0, &TUNING, 1).unwrap().0.architecture, Architecture::Trees { trees: 7, leaves: 4 });
    }
}
