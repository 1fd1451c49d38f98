//! The systems, and the settings that each is tried with.

use super::{MEASURE, Sizes};
use burnrank::setting::{GROWS_TREES, Method, ModelChoice};
use burnrank::{Architecture, Objective, ScaleKind, Schedule, TrainConfig};

/// What draws at random, so that one seed says little.
pub const SEEDED: [&str; 6] = ["linear", "mlp", "prank", "prank-quadratic", "oap-bpm", "coordinate-ascent"];

/// A system, and the settings that it is tried with.
pub struct System {
    pub name: &'static str,
    pub model: &'static str,
    /// Nothing where the system has an aim of its own.
    pub objective: Option<&'static str>,
    pub tuned: Tuned,
}

/// What is tuned, with the values that are tried first.
pub enum Tuned {
    Nothing,
    StepSize([f64; 4]),
    Leaves([f64; 4]),
    Scaling([ScaleKind; 4]),
    /// A setting behind the model's name.
    Setting(&'static str, [f64; 4]),
    /// The same, where there is nothing beyond the values that are tried.
    Bounded(&'static str, [f64; 4]),
}

const LINEAR_STEPS: Tuned = Tuned::StepSize([0.001, 0.003, 0.01, 0.03]);
const NET_STEPS: Tuned = Tuned::StepSize([0.0003, 0.001, 0.003, 0.01]);
const LEAVES: Tuned = Tuned::Leaves([4.0, 8.0, 16.0, 32.0]);
const SCALINGS: Tuned =
    Tuned::Scaling([ScaleKind::None, ScaleKind::QueryMinMax, ScaleKind::ZScore, ScaleKind::Log1pZScore]);

const fn system(name: &'static str, model: &'static str, tuned: Tuned) -> System {
    System { name, model, objective: None, tuned }
}

const fn trained(name: &'static str, model: &'static str, objective: &'static str, tuned: Tuned) -> System {
    System { name, model, objective: Some(objective), tuned }
}

/// All of them.
pub const SYSTEMS: &[System] = &[
    system("best feature", "feature", Tuned::Nothing),
    system("PRank", "prank", SCALINGS),
    system("PRank, quadratic", "prank-quadratic", SCALINGS),
    system("OAP-BPM", "oap-bpm", Tuned::Bounded("tau", [0.1, 0.3, 0.5, 0.7])),
    system("RankProp", "rankprop", SCALINGS),
    system("RankSVM", "ranksvm", Tuned::Setting("c", [1e-5, 1e-4, 1e-3, 1e-2])),
    system("SVM-MAP", "svm-map", Tuned::Setting("c", [0.1, 1.0, 10.0, 100.0])),
    system("RankBoost", "rankboost", Tuned::Setting("thresholds", [10.0, 20.0, 50.0, 100.0])),
    system("AdaRank", "adarank", SCALINGS),
    system("Coordinate ascent", "coordinate-ascent", SCALINGS),
    system("SmoothRank", "smoothrank", Tuned::Setting("lambda", [1e-4, 1e-3, 1e-2, 1e-1])),
    system("RankNet, kernels", "kernel-ranknet", Tuned::Setting("lambda", [0.1, 1.0, 10.0, 100.0])),
    trained("RankNet, linear", "linear", "ranknet", LINEAR_STEPS),
    trained("ListNet, linear", "linear", "listnet", LINEAR_STEPS),
    trained("LambdaRank, linear", "linear", "lambdarank:ndcg", LINEAR_STEPS),
    trained("RankNet", "mlp", "ranknet", NET_STEPS),
    trained("LambdaRank", "mlp", "lambdarank:ndcg", NET_STEPS),
    trained("NDCG-Loss2++", "mlp", "ndcg-loss2++:mu=5", NET_STEPS),
    trained("MART", "trees", "squared-error", LEAVES),
    trained("LambdaMART", "trees", "lambdarank:ndcg", LEAVES),
    trained("NDCG-Loss2++, trees", "trees", "ndcg-loss2++:mu=5", LEAVES),
];

/// The systems that this build can train.
pub fn systems() -> impl Iterator<Item = &'static System> {
    SYSTEMS.iter().filter(|system| GROWS_TREES || system.model != "trees")
}

impl System {
    /// The settings that are tried first; scalings by their numbers.
    pub fn settings(&self, sizes: &Sizes) -> Vec<f64> {
        let all = match self.tuned {
            Tuned::Nothing => return vec![0.0],
            Tuned::StepSize(all) | Tuned::Leaves(all) | Tuned::Setting(_, all) | Tuned::Bounded(_, all) => all,
            Tuned::Scaling(_) => [0.0, 1.0, 2.0, 3.0],
        };
        all[..sizes.settings].to_vec()
    }

    /// Whether there is something beyond the first and the last setting.
    pub fn grows(&self) -> bool {
        matches!(self.tuned, Tuned::StepSize(_) | Tuned::Leaves(_) | Tuned::Setting(..))
    }

    /// The values that are tried first, as reports say them.
    pub fn tried(&self, sizes: &Sizes) -> String {
        let what = match self.tuned {
            Tuned::Nothing => return format!("{}: nothing", self.name),
            Tuned::StepSize(_) => "step",
            Tuned::Leaves(_) => "leaves",
            Tuned::Scaling(_) => "scaling",
            Tuned::Setting(key, _) | Tuned::Bounded(key, _) => key,
        };
        let called = |value: &f64| match self.tuned {
            Tuned::Scaling(all) => all[*value as usize].to_string(),
            _ => value.to_string(),
        };
        let values: Vec<String> = self.settings(sizes).iter().map(called).collect();
        format!("{}: {what}={}", self.name, values.join(", "))
    }

    /// A run with a setting, and how a report calls that setting.
    pub fn config(&self, setting: f64, sizes: &Sizes, seed: u64) -> anyhow::Result<(TrainConfig, String)> {
        let setting = if matches!(self.tuned, Tuned::Leaves(_)) { setting.round().max(2.0) } else { setting };
        let model = match self.tuned {
            Tuned::Setting(key, _) | Tuned::Bounded(key, _) => format!("{}:{key}={setting}", self.model),
            _ => self.model.to_owned(),
        };
        let mut config = model.parse::<ModelChoice>()?.config();
        if let Some(objective) = self.objective {
            config.objective = Objective::parse(objective)?;
        }
        (config.metric, config.seed) = (MEASURE.into(), seed);
        if config.architecture.is_net() && config.method == Method::Gradient {
            // What nets were tuned around when the results were made.
            (config.scaling, config.schedule) = (ScaleKind::QueryMinMax, Schedule::Constant);
        }
        config.epochs = sizes.epochs.map_or(config.epochs, |most| most.min(config.epochs));
        let called = match self.tuned {
            Tuned::Nothing => String::new(),
            Tuned::StepSize(_) => {
                config.learning_rate = setting;
                format!("step {setting}")
            }
            Tuned::Leaves(_) => {
                config.architecture = Architecture::Trees { trees: config.epochs, leaves: setting as usize };
                format!("{setting} leaves")
            }
            Tuned::Scaling(all) => {
                config.scaling = all[(setting as usize).min(all.len() - 1)];
                config.scaling.to_string()
            }
            Tuned::Setting(key, _) | Tuned::Bounded(key, _) => format!("{key}={setting}"),
        };
        Ok((config, called))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{STORED, sizes};
    use super::*;
    use crate::harness::Scale;

    #[test]
    fn every_system_of_the_table_has_settings_that_can_be_trained() {
        for system in SYSTEMS {
            for scale in [Scale::Paper, Scale::Quick] {
                let sizes = sizes(scale);
                for setting in system.settings(&sizes) {
                    let (config, _) = system.config(setting, &sizes, 1).unwrap();
                    config.check().unwrap();
                    assert_eq!(
                        system.objective.is_none(),
                        matches!(config.method, Method::Baseline(_)),
                        "{}",
                        system.name
                    );
                }
            }
        }
        let known = |name: &str| SYSTEMS.iter().any(|system| system.name == name);
        assert!(STORED.iter().all(|(_, ours)| known(ours)));
    }
}
