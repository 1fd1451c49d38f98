//! Tuning, training and evaluation of a system on a fold.

use crate::harness::finding::{Finding, no_share};
use crate::harness::shuffled::with_shuffled_labels;
use crate::harness::tuning::tune;
use crate::harness::units::mean;
use crate::harness::{Execution, Packed, Scale, Ticker, per_query, train};
use anyhow::Context;
use burnrank::setting::ModelChoice;
use burnrank::train::TrainingData;
use burnrank::{Dataset, Model, Objective, ScaleKind, Schedule, TrainConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub const METRIC: &str = "ndcg@15";
/// Cutoff of the metric.
pub const K: usize = 15;

/// A system of the comparison.
pub struct System {
    pub name: &'static str,
    pub model: &'static str,
    pub tuned: Tuned,
    /// Training documents.
    pub documents: Documents,
    /// Number of seeds averaged at full scale.
    pub seeds: u64,
}

/// Setting tuned on validation queries.
#[derive(Clone, Copy)]
pub enum Tuned {
    /// Learning rate of a net, on a grid that is extended while the best value is at its edge.
    Step,
    /// Share of documents for each perceptron, as in the paper.
    Tau,
    /// Feature scaling, for systems without a constant.
    Scaling,
}

/// Documents used for training.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Documents {
    All,
    /// All relevant documents and a random percentage of those with label 0, which stand for unlabelled documents.
    Unlabelled(u32),
    /// All documents, with the labels of each query shuffled.
    Shuffled,
}

/// The paper's values of tau.
pub const TAUS: [f64; 3] = [0.3, 0.5, 0.7];
const SCALINGS: [ScaleKind; 4] = [ScaleKind::None, ScaleKind::QueryMinMax, ScaleKind::ZScore, ScaleKind::Log1pZScore];

pub struct Sizes {
    pub seeds: u64,
    /// Initial grid of learning rates of nets.
    pub learning_rates: &'static [f64],
    /// Maximum number of extensions of the grid.
    pub extensions: usize,
    pub settings: usize,
    pub epochs: usize,
    pub perceptrons: usize,
}

pub fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes {
            seeds: 2,
            learning_rates: &[0.001, 0.003, 0.01, 0.03],
            extensions: 3,
            settings: 4,
            epochs: 100,
            perceptrons: 100,
        },
        Sizes { seeds: 1, learning_rates: &[0.01, 0.03], extensions: 0, settings: 2, epochs: 10, perceptrons: 5 },
    )
}

/// Results of a system with the best setting by validation.
#[derive(Debug, Serialize, Deserialize)]
pub struct SystemRun {
    pub setting: String,
    /// Each setting with its validation metric.
    pub trials: Vec<(String, f64)>,
    /// Whether the best learning rate or tau is at the edge of the grid.
    pub at_edge: bool,
    pub best_epochs: Vec<usize>,
    pub epochs: Vec<usize>,
    pub valid: f64,
    /// Mean over training queries (with all their documents) and seeds.
    pub train: f64,
    /// Number of training documents.
    pub documents: usize,
    /// Mean over seeds for each test query.
    pub test: Packed,
}

impl Finding for SystemRun {
    fn impossible(&self) -> Option<String> {
        no_share("a validation value", self.trials.iter().map(|trial| trial.1).chain([self.valid]))
            .or_else(|| no_share("a test value", self.test.values().iter().copied().chain([self.train])))
    }
}

impl System {
    /// First value of the grid.
    pub fn first(&self, sizes: &Sizes) -> f64 {
        match self.tuned {
            Tuned::Step => sizes.learning_rates[0],
            Tuned::Tau => TAUS[0],
            Tuned::Scaling => 0.0,
        }
    }

    /// Settings of a run and their name in results; `value` is the learning rate, tau or index of the scaling.
    pub fn config(&self, value: f64, sizes: &Sizes, seed: u64) -> anyhow::Result<(TrainConfig, String)> {
        let model = match self.tuned {
            Tuned::Tau => format!("{}:tau={value}:perceptrons={}", self.model, sizes.perceptrons),
            _ => self.model.to_owned(),
        };
        let mut config = model.parse::<ModelChoice>()?.config();
        (config.metric, config.seed) = (METRIC.into(), seed);
        config.epochs = config.epochs.min(sizes.epochs);
        let name = match self.tuned {
            Tuned::Step => {
                config.objective = Objective::parse("ranknet")?;
                (config.scaling, config.schedule, config.learning_rate) =
                    (ScaleKind::QueryMinMax, Schedule::Constant, value);
                (config.epochs, config.patience) = (sizes.epochs, 20);
                format!("step {value}")
            }
            Tuned::Tau => format!("tau {value}"),
            Tuned::Scaling => {
                config.scaling = SCALINGS[(value as usize).min(SCALINGS.len() - 1)];
                format!("scaling {}", config.scaling)
            }
        };
        Ok((config, name))
    }

    /// Training queries of this system.
    pub fn training(&self, data: &Dataset, seed: u64) -> anyhow::Result<Dataset> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        match self.documents {
            Documents::All => Ok(data.clone()),
            Documents::Unlabelled(percent) => {
                filtered(data, |label| label > 0.0 || random.random_range(0..100) < percent)
            }
            Documents::Shuffled => with_shuffled_labels(data, &mut random),
        }
    }

    /// Tunes the setting with one seed on validation queries, trains with the other seeds, and evaluates.
    pub fn run(
        &self,
        execution: &Execution<'_>,
        key: &str,
        [train_set, valid, test]: &[Dataset; 3],
        ticker: &Ticker<'_>,
    ) -> anyhow::Result<SystemRun> {
        let sizes = sizes(execution.scale());
        let session_seed = execution.session.seed;
        let training = self.training(train_set, session_seed.wrapping_mul(1000))?;
        let seeds = self.seeds.min(sizes.seeds);
        let max_runs = (4 + sizes.extensions) as f64 + seeds as f64;
        let mut done = 0.0;
        let mut one = |value: f64, seed: u64| -> anyhow::Result<(Model, String)> {
            let seed = session_seed.wrapping_mul(1000).wrapping_add(seed);
            let (config, name) = self.config(value, &sizes, seed)?;
            let data = Arc::new(TrainingData::new(config.scaling, training.clone(), valid.clone())?);
            let share = (ticker, (done / max_runs, (done + 1.0) / max_runs));
            done += 1.0;
            Ok((train(execution, &format!("{key} {name} seed {seed}"), &config, &data, share, |_| false)?, name))
        };
        let mut trials: Vec<(f64, String, Model)> = vec![];
        let mut value = |setting: f64| -> anyhow::Result<f64> {
            let (model, name) = one(setting, 0)?;
            let metric = model.best_value().unwrap_or(0.0);
            trials.push((setting, name, model));
            Ok(metric)
        };
        let (best, at_edge) = match self.tuned {
            Tuned::Step => {
                let tuned = tune(sizes.learning_rates, sizes.extensions, &mut value)?;
                (tuned.best, tuned.at_edge)
            }
            Tuned::Tau => {
                let taus = &TAUS[..TAUS.len().min(sizes.settings)];
                let best = best_of(taus, &mut value)?;
                (best, taus.first() == Some(&best) || taus.last() == Some(&best))
            }
            // Scalings have no order and therefore no edge.
            Tuned::Scaling => {
                let numbers: Vec<f64> = (0..sizes.settings).map(|number| number as f64).collect();
                (best_of(&numbers, &mut value)?, false)
            }
        };
        let all = trials.iter().map(|(_, name, model)| (name.clone(), model.best_value().unwrap_or(0.0))).collect();
        let place = trials.iter().position(|(setting, ..)| *setting == best).context("no setting was tried")?;
        let (_, setting, model) = trials.swap_remove(place);
        let mut models = vec![model];
        for seed in 1..seeds {
            models.push(one(best, seed)?.0);
        }
        let over_seeds = |data: &Dataset| -> anyhow::Result<Vec<f64>> {
            let mut sum = vec![0.0; data.n_queries()];
            for model in &models {
                let values = per_query(model, data, METRIC)?;
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
            }
            Ok(sum)
        };
        Ok(SystemRun {
            setting,
            valid: models[0].best_value().unwrap_or(0.0),
            trials: all,
            at_edge,
            best_epochs: models.iter().map(|model| model.info.best_epoch).collect(),
            epochs: models.iter().map(|model| model.history.len()).collect(),
            train: mean(&over_seeds(train_set)?),
            documents: training.n_documents(),
            test: Packed::new(over_seeds(test)?),
        })
    }
}

/// Setting with the highest value, the first one if there are several.
fn best_of(settings: &[f64], mut value: impl FnMut(f64) -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    let mut best: Option<(f64, f64)> = None;
    for &setting in settings {
        let new = value(setting)?;
        if best.is_none_or(|(_, value)| new > value) {
            best = Some((setting, new));
        }
    }
    Ok(best.context("no setting")?.0)
}

/// Documents whose label satisfies `keep`, without queries that become empty.
fn filtered(data: &Dataset, mut keep: impl FnMut(f32) -> bool) -> anyhow::Result<Dataset> {
    let width = data.n_features();
    let (mut features, mut labels, mut queries) = (vec![], vec![], vec![]);
    for (query, id) in data.queries().zip(data.query_ids()) {
        let before = labels.len();
        for row in query.rows.filter(|&row| keep(data.labels()[row])) {
            features.extend_from_slice(&data.features()[row * width..(row + 1) * width]);
            labels.push(data.labels()[row]);
        }
        if labels.len() > before {
            queries.push((id.clone(), labels.len() - before));
        }
    }
    Ok(Dataset::new(width, features, labels, queries)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Dataset {
        let queries = vec![("a".into(), 3), ("b".into(), 2)];
        Dataset::new(1, vec![0.1, 0.2, 0.3, 0.4, 0.5], vec![0.0, 2.0, 1.0, 0.0, 0.0], queries).unwrap()
    }

    #[test]
    fn documents_are_filtered_and_labels_shuffled() {
        let none = filtered(&data(), |label| label > 0.0).unwrap();
        assert_eq!((none.n_queries(), none.labels(), none.features()), (1, &[2.0, 1.0][..], &[0.2, 0.3][..]));
        let system = |documents| System { name: "", model: "linear", tuned: Tuned::Step, documents, seeds: 1 };
        assert_eq!(system(Documents::Unlabelled(100)).training(&data(), 1).unwrap().labels(), data().labels());
        let shuffled = system(Documents::Shuffled).training(&data(), 1).unwrap();
        let mut labels = shuffled.labels()[..3].to_vec();
        labels.sort_by(f32::total_cmp);
        assert_eq!((labels, shuffled.features()), (vec![0.0, 1.0, 2.0], data().features()));
    }
}
