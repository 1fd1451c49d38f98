//! The systems with their grids of settings.

use crate::harness::systems::{Grid, System};
use burnrank::setting::GROWS_TREES;

const LINEAR_RATES: Grid = Grid::LearningRate(&[0.001, 0.003, 0.01, 0.03]);
const NET_RATES: Grid = Grid::LearningRate(&[0.0003, 0.001, 0.003, 0.01]);
const LEAVES: Grid = Grid::Leaves(&[4.0, 8.0, 16.0, 32.0]);

const fn system(name: &'static str, model: &'static str, grid: Grid) -> System {
    System::baseline(name, model, grid)
}

const fn trained(name: &'static str, model: &'static str, objective: &'static str, grid: Grid) -> System {
    System::trained(name, model, objective, grid)
}

/// All systems.
pub const SYSTEMS: &[System] = &[
    system("best feature", "feature", Grid::Nothing),
    system("PRank", "prank", Grid::Scaling),
    system("PRank, quadratic", "prank-quadratic", Grid::Scaling),
    system("OAP-BPM", "oap-bpm", Grid::SettingAndScaling("tau", &[0.3, 0.5, 0.7])),
    system("RankProp", "rankprop", Grid::Setting("rate", &[0.0001, 0.001, 0.01, 0.1])),
    system("RankProp, exact", "rankprop", Grid::Scaling),
    system("RankSVM", "ranksvm", Grid::Setting("c", &[1e-5, 1e-4, 1e-3, 1e-2])),
    system("SVM-MAP", "svm-map", Grid::Setting("c", &[0.1, 1.0, 10.0, 100.0])),
    system("RankBoost", "rankboost", Grid::Setting("thresholds", &[10.0, 20.0, 50.0, 100.0])),
    system("AdaRank", "adarank", Grid::Scaling),
    system("Coordinate ascent", "coordinate-ascent", Grid::Scaling),
    system("SmoothRank", "smoothrank", Grid::Setting("lambda", &[1e-4, 1e-3, 1e-2, 1e-1])),
    system("RankNet, kernels", "kernel-ranknet", Grid::Setting("lambda", &[0.1, 1.0, 10.0, 100.0])),
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

#[cfg(test)]
mod tests {
    use super::super::{STORED, tuning};
    use super::*;
    use crate::harness::Scale;
    use burnrank::setting::{Method, models};

    #[test]
    fn all_settings_of_all_systems_are_valid() {
        for (system, tuning) in
            SYSTEMS.iter().flat_map(|system| [Scale::Paper, Scale::Quick].map(|s| (system, tuning(s))))
        {
            for setting in system.settings(&tuning) {
                let (config, _) = system.config(setting, &tuning, 1).unwrap();
                config.check().unwrap();
                assert_eq!(system.objective.is_none(), matches!(config.method, Method::Baseline(_)), "{}", system.name);
            }
        }
        let known = |name: &str| SYSTEMS.iter().any(|system| system.name == name);
        assert!(STORED.iter().all(|(_, ours)| known(ours)));
    }

    #[test]
    fn every_model_is_in_the_table() {
        for name in models().map(|kind| kind.name) {
            assert!(SYSTEMS.iter().any(|system| system.model == name), "{name}");
        }
    }
}
