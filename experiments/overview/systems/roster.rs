//! The systems with their grids of settings.

use super::{METRIC, Sizes};
use burnrank::setting::{GROWS_TREES, Method, ModelChoice};
use burnrank::{Architecture, Objective, ScaleKind, Schedule, TrainConfig};

/// Models that use random numbers and are trained with several seeds.
pub const SEEDED: [&str; 6] = ["linear", "mlp", "prank", "prank-quadratic", "oap-bpm", "coordinate-ascent"];

/// A system with its grid of settings.
pub struct System {
    pub name: &'static str,
    pub model: &'static str,
    /// `None` for baselines with their own objective.
    pub objective: Option<&'static str>,
    pub grid: Grid,
}

/// The tuned setting with its initial values.
pub enum Grid {
    Nothing,
    LearningRate([f64; 4]),
    Leaves([f64; 4]),
    Scaling([ScaleKind; 4]),
    /// An option of the model.
    Setting(&'static str, [f64; 4]),
    /// An option of the model whose grid is not extended.
    Bounded(&'static str, [f64; 4]),
}

const LINEAR_RATES: Grid = Grid::LearningRate([0.001, 0.003, 0.01, 0.03]);
const NET_RATES: Grid = Grid::LearningRate([0.0003, 0.001, 0.003, 0.01]);
const LEAVES: Grid = Grid::Leaves([4.0, 8.0, 16.0, 32.0]);
const SCALINGS: Grid =
    Grid::Scaling([ScaleKind::None, ScaleKind::QueryMinMax, ScaleKind::ZScore, ScaleKind::Log1pZScore]);

const fn system(name: &'static str, model: &'static str, grid: Grid) -> System {
    System { name, model, objective: None, grid }
}

const fn trained(name: &'static str, model: &'static str, objective: &'static str, grid: Grid) -> System {
    System { name, model, objective: Some(objective), grid }
}

/// All systems.
pub const SYSTEMS: &[System] = &[
    system("best feature", "feature", Grid::Nothing),
    system("PRank", "prank", SCALINGS),
    system("PRank, quadratic", "prank-quadratic", SCALINGS),
    system("OAP-BPM", "oap-bpm", Grid::Bounded("tau", [0.1, 0.3, 0.5, 0.7])),
    system("RankProp", "rankprop", SCALINGS),
    system("RankSVM", "ranksvm", Grid::Setting("c", [1e-5, 1e-4, 1e-3, 1e-2])),
    system("SVM-MAP", "svm-map", Grid::Setting("c", [0.1, 1.0, 10.0, 100.0])),
    system("RankBoost", "rankboost", Grid::Setting("thresholds", [10.0, 20.0, 50.0, 100.0])),
    system("AdaRank", "adarank", SCALINGS),
    system("Coordinate ascent", "coordinate-ascent", SCALINGS),
    system("SmoothRank", "smoothrank", Grid::Setting("lambda", [1e-4, 1e-3, 1e-2, 1e-1])),
    system("RankNet, kernels", "kernel-ranknet", Grid::Setting("lambda", [0.1, 1.0, 10.0, 100.0])),
    trained("RankNet, linear", "linear", "ranknet", LINEAR_RATES),
    trained("ListNet, linear", "linear", "listnet", LINEAR_RATES),
    trained("LambdaRank, linear", "linear", "lambdarank:ndcg", LINEAR_RATES),
    trained("RankNet", "mlp", "ranknet", NET_RATES),
    trained("LambdaRank", "mlp", "lambdarank:ndcg", NET_RATES),
    trained("NDCG-Loss2++", "mlp", "ndcg-loss2++:mu=5", NET_RATES),
    trained("MART", "trees", "squared-error", LEAVES),
    trained("LambdaMART", "trees", "lambdarank:ndcg", LEAVES),
    trained("NDCG-Loss2++, trees", "trees", "ndcg-loss2++:mu=5", LEAVES),
];

/// Systems that this build can train.
pub fn systems() -> impl Iterator<Item = &'static System> {
    SYSTEMS.iter().filter(|system| GROWS_TREES || system.model != "trees")
}

impl System {
    /// Initial settings; for scalings their indices.
    pub fn settings(&self, sizes: &Sizes) -> Vec<f64> {
        let all = match self.grid {
            Grid::Nothing => return vec![0.0],
            Grid::LearningRate(all) | Grid::Leaves(all) | Grid::Setting(_, all) | Grid::Bounded(_, all) => all,
            Grid::Scaling(_) => [0.0, 1.0, 2.0, 3.0],
        };
        all[..sizes.settings].to_vec()
    }

    /// Returns whether the grid can be extended.
    pub fn is_extensible(&self) -> bool {
        matches!(self.grid, Grid::LearningRate(_) | Grid::Leaves(_) | Grid::Setting(..))
    }

    /// Describes the initial settings.
    pub fn describe(&self, sizes: &Sizes) -> String {
        let what = match self.grid {
            Grid::Nothing => return format!("{}: none", self.name),
            Grid::LearningRate(_) => "lr",
            Grid::Leaves(_) => "leaves",
            Grid::Scaling(_) => "scaling",
            Grid::Setting(key, _) | Grid::Bounded(key, _) => key,
        };
        let label = |value: &f64| match self.grid {
            Grid::Scaling(all) => all[*value as usize].to_string(),
            _ => value.to_string(),
        };
        let values: Vec<String> = self.settings(sizes).iter().map(label).collect();
        format!("{}: {what}={}", self.name, values.join(", "))
    }

    /// Returns the configuration with a setting, and the setting's label in results.
    pub fn config(&self, setting: f64, sizes: &Sizes, seed: u64) -> anyhow::Result<(TrainConfig, String)> {
        let setting = if matches!(self.grid, Grid::Leaves(_)) { setting.round().max(2.0) } else { setting };
        let model = match self.grid {
            Grid::Setting(key, _) | Grid::Bounded(key, _) => format!("{}:{key}={setting}", self.model),
            _ => self.model.to_owned(),
        };
        let mut config = model.parse::<ModelChoice>()?.config();
        if let Some(objective) = self.objective {
            config.objective = Objective::parse(objective)?;
        }
        (config.metric, config.seed) = (METRIC.into(), seed);
        if config.architecture.is_net() && config.method == Method::Gradient {
            // The defaults for nets when the results were made.
            (config.scaling, config.schedule) = (ScaleKind::QueryMinMax, Schedule::Constant);
        }
        config.epochs = sizes.epochs.map_or(config.epochs, |maximum| maximum.min(config.epochs));
        let label = match self.grid {
            Grid::Nothing => String::new(),
            Grid::LearningRate(_) => {
                config.learning_rate = setting;
                format!("step {setting}")
            }
            Grid::Leaves(_) => {
                config.architecture = Architecture::Trees { trees: config.epochs, leaves: setting as usize };
                format!("{setting} leaves")
            }
            Grid::Scaling(all) => {
                config.scaling = all[(setting as usize).min(all.len() - 1)];
                config.scaling.to_string()
            }
            Grid::Setting(key, _) | Grid::Bounded(key, _) => format!("{key}={setting}"),
        };
        Ok((config, label))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{STORED, sizes};
    use super::*;
    use crate::harness::Scale;

    #[test]
    fn all_settings_of_all_systems_are_valid() {
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
