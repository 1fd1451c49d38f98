//! Plain gradient descent from any initial weights, with access to the weights of any epoch.

use super::setting::PaperMetric;
use crate::harness::NetShape;
use crate::harness::units::mean;
use burnrank::train::TrainingData;
use burnrank::{
    Activation, Architecture, Conventions, Dataset, Device, Error, Finish, Init, Metric, Objective, OptimizerKind,
    Ranker, RankerConfig, ScaleKind, Schedule, TrainConfig, Trainer, evaluate,
};
use std::sync::Arc;

/// Number of hidden units of two-layer nets, as in the paper.
pub const UNITS: usize = 10;
/// Smaller changes of a validation value count as none.
const CONSTANT: f64 = 1e-9;

/// A linear net, or a net with ten tanh units.
#[derive(Debug, Clone)]
pub struct Net {
    pub features: usize,
    pub shape: NetShape,
    /// In the library's order.
    pub weights: Vec<f32>,
    pub device: Device,
}

impl Net {
    /// Random weights, uniform in ±1/sqrt(inputs).
    pub fn random(features: usize, shape: NetShape, seed: u64, device: &Device) -> Net {
        let net = Net { features, shape, weights: vec![], device: device.clone() };
        let weights = Init::Burn.weights(&net.config(), seed).concat();
        Net { weights, ..net }
    }

    fn config(&self) -> RankerConfig {
        match self.shape {
            NetShape::Linear => RankerConfig::linear(self.features),
            NetShape::TwoLayer => RankerConfig::mlp(self.features, &[UNITS], Activation::Tanh),
        }
    }

    /// Converts to the library's net.
    pub fn ranker(&self) -> anyhow::Result<Ranker> {
        let config = self.config();
        let (mut parts, mut rest) = (vec![], self.weights.as_slice());
        for shape in config.shapes() {
            let (part, after) = rest.split_at(shape.iter().product());
            parts.push(part.to_vec());
            rest = after;
        }
        Ok(config.from_weights(&parts, &self.device)?)
    }

    /// Euclidean norm of all weights.
    pub fn length(&self) -> f64 {
        self.weights.iter().map(|&weight| f64::from(weight).powi(2)).sum::<f64>().sqrt()
    }

    /// These weights minus those of another net.
    pub fn minus(&self, other: &Net) -> Net {
        let weights = self.weights.iter().zip(&other.weights).map(|(weight, other)| weight - other).collect();
        Net { weights, ..self.clone() }
    }

    /// Scores of all documents.
    pub fn scores(&self, data: &Dataset) -> anyhow::Result<Vec<f32>> {
        Ok(burnrank::score(&self.ranker()?, data, &self.device)?)
    }

    /// Metric of each query.
    pub fn values(&self, data: &Dataset, metric: &dyn Metric) -> anyhow::Result<Vec<f64>> {
        let values = evaluate(metric, &self.scores(data)?, data.labels(), data.offsets(), &Conventions::default())?;
        Ok(values.into_iter().flatten().collect())
    }

    /// Mean of the metric over queries.
    pub fn mean(&self, data: &Dataset, metric: &dyn Metric) -> anyhow::Result<f64> {
        Ok(mean(&self.values(data, metric)?))
    }
}

/// Training and validation queries, prepared once for all trainings.
pub struct Sets<'a> {
    data: Arc<TrainingData<'a>>,
    /// Number of training queries.
    queries: usize,
}

impl<'a> Sets<'a> {
    pub fn new(train: &'a Dataset, valid: &'a Dataset) -> anyhow::Result<Sets<'a>> {
        Ok(Sets { data: Arc::new(TrainingData::new(ScaleKind::None, train, valid)?), queries: train.n_queries() })
    }
}

/// Frequency of weight updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updates {
    PerQuery,
    /// Once per epoch, with the mean over all queries.
    FullBatch,
}

/// Settings of a training run.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub objective: &'a Objective,
    /// Metric of the learning-rate rule (training queries) and of the best epoch (validation queries).
    pub metric: PaperMetric,
    pub learning_rate: f64,
    pub updates: Updates,
    pub epochs: usize,
    /// Number of idle epochs before a restart; 0 for none.
    pub restart: usize,
    /// Whether an epoch is idle if its validation value equals the previous one; otherwise if it is not the best so far.
    pub constant: bool,
    /// Training ends when the learning rate falls below this share of the initial one.
    pub frozen: f64,
    /// Maximum number of starts; after the last one, `restart` idle epochs end the training.
    pub starts: usize,
    pub seed: u64,
    /// Epochs whose weights are returned.
    pub keep: &'a [usize],
}

impl Plan<'_> {
    /// The library's settings.
    fn config(&self, shape: NetShape, seed: u64, queries: usize) -> TrainConfig {
        TrainConfig {
            objective: self.objective.clone(),
            architecture: match shape {
                NetShape::Linear => Architecture::Linear,
                NetShape::TwoLayer => Architecture::Mlp { hidden: vec![UNITS], activation: Activation::Tanh },
            },
            scaling: ScaleKind::None,
            metric: self.metric.name.into(),
            epochs: self.epochs,
            learning_rate: self.learning_rate,
            optimizer: OptimizerKind::Sgd,
            batch_queries: if self.updates == Updates::PerQuery { 1 } else { queries },
            // Multiplies the learning rate by 0.8 with probability 0.3 when the training metric falls (section 7).
            schedule: Schedule::ShrinkSometimes,
            patience: 0,
            seed,
            ..TrainConfig::default()
        }
    }
}

/// Result of a training run.
pub struct Trained {
    /// Weights of the best validation epoch over all starts.
    pub best: Net,
    pub best_epoch: usize,
    pub valid: f64,
    /// Last weights of the start that contains the best epoch.
    pub last: Net,
    /// Number of pairs with a lambda other than 0 in each epoch of all starts in sequence.
    pub pairs: Vec<u64>,
    /// Weights of the requested epochs.
    pub kept: Vec<(usize, Net)>,
}

/// Trains from given weights.
///
/// `tick` receives the completed share of all epochs.
pub fn descend(plan: &Plan<'_>, start: Net, data: &Sets<'_>, mut tick: impl FnMut(f64)) -> anyhow::Result<Trained> {
    let mut trained = Trained {
        best: start.clone(),
        best_epoch: 0,
        valid: f64::NEG_INFINITY,
        last: start.clone(),
        pairs: vec![],
        kept: vec![],
    };
    for number in 0..plan.starts {
        // The seed of the library's restarts.
        let seed = plan.seed.wrapping_add((number as u64) << 40);
        let first = match number {
            0 => start.clone(),
            _ => Net::random(start.features, start.shape, seed, &start.device),
        };
        let config = plan.config(start.shape, seed, data.queries);
        let mut trainer = Trainer::on(config, data.data.clone(), &start.device)?.with_ranker(&first.ranker()?)?;
        let (mut idle_epochs, mut previous, mut has_best) = (0, f64::NAN, number == 0);
        while trained.pairs.len() < plan.epochs && (plan.restart == 0 || idle_epochs < plan.restart) {
            let record = match trainer.epoch() {
                Ok(record) if trainer.finished() != Some(Finish::Diverged) => record,
                // A learning rate that is too large.
                Ok(_) | Err(Error::Training(_)) => return Ok(trained),
                Err(error) => return Err(error.into()),
            };
            trained.pairs.push(record.effective_pairs);
            let epoch = trained.pairs.len();
            let better = record.valid > trained.valid;
            let idle = if plan.constant { (record.valid - previous).abs() < CONSTANT } else { !better };
            (idle_epochs, previous) = (if idle { idle_epochs + 1 } else { 0 }, record.valid);
            let now = || -> anyhow::Result<Net> {
                let ranker = trainer.ranker().ok_or_else(|| anyhow::anyhow!("the model is not a net"))?;
                Ok(Net { weights: ranker.weights()?, ..start.clone() })
            };
            if better {
                (trained.valid, trained.best_epoch, trained.best, has_best) = (record.valid, epoch, now()?, true);
            }
            if has_best {
                trained.last = now()?;
            }
            if plan.keep.contains(&epoch) {
                trained.kept.push((epoch, now()?));
            }
            if record.learning_rate < plan.frozen * plan.learning_rate {
                return Ok(trained);
            }
            tick(epoch as f64 / plan.epochs as f64);
        }
    }
    Ok(trained)
}

/// Euclidean norm of the gradient by all weights, mean over queries: the length of a full-batch update.
pub fn gradient_norm(net: &Net, objective: &Objective, metric: PaperMetric, data: &Sets<'_>) -> anyhow::Result<f64> {
    let plan = Plan {
        objective,
        metric,
        learning_rate: 1.0,
        updates: Updates::FullBatch,
        epochs: 1,
        restart: 0,
        constant: false,
        frozen: 0.0,
        starts: 1,
        seed: 0,
        keep: &[1],
    };
    let trained = descend(&plan, net.clone(), data, |_| ())?;
    Ok(trained.last.minus(net).length())
}

#[cfg(test)]
mod tests {
    use super::super::setting::MAP;
    use super::*;
    use burnrank::{Batch, Outputs, Synthetic};

    fn plan<'a>(objective: &'a Objective, updates: Updates, keep: &'a [usize]) -> Plan<'a> {
        Plan {
            objective,
            metric: MAP,
            learning_rate: 0.03,
            updates,
            epochs: 6,
            restart: 0,
            constant: false,
            frozen: 0.0,
            starts: 1,
            seed: 5,
            keep,
        }
    }

    fn data() -> Dataset {
        let data = Synthetic { queries: 30, features: 13, seed: 3, ..Synthetic::lambdarank() };
        data.generator().unwrap().dataset().unwrap()
    }

    #[test]
    fn training_can_go_on_from_the_weights_of_an_epoch() {
        let (data, device) = (data(), burnrank::device::open("auto").unwrap());
        let sets = Sets::new(&data, &data).unwrap();
        let objective = Objective::parse("lambdarank:map:rel=2").unwrap();
        for shape in [NetShape::Linear, NetShape::TwoLayer] {
            let start = Net::random(13, shape, 5, &device);
            // A full batch depends on the order of queries, which follows from the number of the epoch, by rounding only.
            let all = descend(&plan(&objective, Updates::FullBatch, &[2, 3]), start.clone(), &sets, |_| ()).unwrap();
            assert_eq!((all.kept.len(), all.pairs.len()), (2, 6), "{shape:?}");
            let second = Plan { epochs: 1, ..plan(&objective, Updates::FullBatch, &[]) };
            let next = descend(&second, all.kept[0].1.clone(), &sets, |_| ()).unwrap();
            assert!(next.last.minus(&all.kept[1].1).length() < 1e-6, "{shape:?}");
            assert!(next.last.minus(&all.kept[0].1).length() > 1e-4, "{shape:?}");
            // From random weights it is the library's training.
            let plan = plan(&objective, Updates::PerQuery, &[]);
            let own = descend(&plan, start, &sets, |_| ()).unwrap();
            let trainer = Trainer::on(plan.config(shape, 5, 30), sets.data.clone(), &device).unwrap();
            let model = trainer.train().unwrap();
            assert_eq!(own.best_epoch, model.info.best_epoch, "{shape:?}");
            assert_eq!(own.best.scores(&data).unwrap(), model.score(&data).unwrap(), "{shape:?}");
        }
    }

    #[test]
    fn the_gradient_of_a_linear_net_is_the_sum_of_rows_times_lambdas() {
        let (data, device) = (data(), burnrank::device::open("auto").unwrap());
        let net = Net::random(13, NetShape::Linear, 5, &device);
        let objective = Objective::parse("lambdarank:ndcg").unwrap();
        let mut by_score = vec![0.0; data.n_documents()];
        let batch = Batch { labels: data.labels(), offsets: data.offsets() };
        // Averaged over the queries.
        objective.lambda_gradient(&net.scores(&data).unwrap(), batch, &mut by_score, Outputs::default(), &[]).unwrap();
        let mut gradient = [0.0; 13];
        for (row, partial) in data.features().chunks_exact(13).zip(&by_score) {
            gradient.iter_mut().zip(row).for_each(|(to, x)| *to += f64::from(partial * x));
        }
        let expected = gradient.iter().map(|x| x * x).sum::<f64>().sqrt();
        let ours = gradient_norm(&net, &objective, MAP, &Sets::new(&data, &data).unwrap()).unwrap();
        assert!((ours / expected - 1.0).abs() < 1e-3, "{ours}, not {expected}");
    }
}
