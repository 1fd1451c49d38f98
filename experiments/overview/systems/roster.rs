//! The systems, and the settings that each is tried with.

use super::{MEASURE, Sizes};
use burnrank::train::{GROWS_TREES, Method, ModelChoice};
use burnrank::{Architecture, Objective, ScaleKind, StepRule, TrainConfig};

/// What draws at random, so that one seed says little.
pub const SEEDED: [&str; 6] = ["linear", "mlp", "prank", "prank-quadratic", "oap-bpm", "coordinate-ascent"];

/// A system, and the four settings that it is tried with.
pub struct System {
    pub name: &'static str,
    pub model: &'static str,
    /// Nothing where the system has an aim of its own.
    pub objective: Option<&'static str>,
    pub tuned: Tuned,
}

/// What is tuned, with the values that are tried.
pub enum Tuned {
    Nothing,
    StepSize([f64; 4]),
    Leaves([usize; 4]),
    Scaling([ScaleKind; 4]),
    /// A setting behind the model's name.
    Setting(&'static str, [f64; 4]),
}

const LINEAR_STEPS: Tuned = Tuned::StepSize([0.001, 0.003, 0.01, 0.03]);
const NET_STEPS: Tuned = Tuned::StepSize([0.0003, 0.001, 0.003, 0.01]);
const LEAVES: Tuned = Tuned::Leaves([4, 8, 16, 31]);
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
    system("OAP-BPM", "oap-bpm", Tuned::Setting("tau", [0.1, 0.3, 0.5, 0.7])),
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
    /// How many settings are tried.
    pub fn settings(&self, sizes: &Sizes) -> usize {
        if matches!(self.tuned, Tuned::Nothing) { 1 } else { sizes.settings }
    }

    /// A run with one of the settings, and how a report calls that setting.
    pub fn config(&self, setting: usize, sizes: &Sizes, seed: u64) -> anyhow::Result<(TrainConfig, String)> {
        let model = match self.tuned {
            Tuned::Setting(key, values) => format!("{}:{key}={}", self.model, values[setting]),
            _ => self.model.to_owned(),
        };
        let mut config = model.parse::<ModelChoice>()?.config();
        if let Some(objective) = self.objective {
            config.objective = Objective::parse(objective)?;
        }
        (config.metric, config.seed) = (MEASURE.into(), seed);
        if config.architecture.is_net() && config.method == Method::Gradient {
            // What nets were tuned around when the results were made.
            (config.scaling, config.step_rule) = (ScaleKind::QueryMinMax, StepRule::Constant);
        }
        config.epochs = sizes.epochs.map_or(config.epochs, |most| most.min(config.epochs));
        let called = match self.tuned {
            Tuned::Nothing => String::new(),
            Tuned::StepSize(steps) => {
                config.learning_rate = steps[setting];
                format!("step {}", steps[setting])
            }
            Tuned::Leaves(all) => {
                config.architecture = Architecture::Trees { trees: config.epochs, leaves: all[setting] };
                format!("{} leaves", all[setting])
            }
            Tuned::Scaling(all) => {
                config.scaling = all[setting];
                all[setting].to_string()
            }
            Tuned::Setting(key, values) => format!("{key}={}", values[setting]),
        };
        Ok((config, called))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PUBLISHED, sizes};
    use super::*;
    use crate::harness::Scale;

    #[test]
    fn every_model_that_can_be_trained_is_in_the_table() {
        for kind in burnrank::train::models() {
            assert!(SYSTEMS.iter().any(|system| system.model == kind.name), "{} is missing", kind.name);
        }
        for system in SYSTEMS {
            for scale in [Scale::Paper, Scale::Quick] {
                let sizes = sizes(scale);
                for setting in 0..system.settings(&sizes) {
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
        assert!(PUBLISHED.iter().all(|(_, ours)| known(ours)));
    }
}
