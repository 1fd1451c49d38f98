//! Plain gradient descent with the library's lambdas, from any initial weights and with access to the weights of any epoch.

use crate::harness::NetShape;
use crate::harness::units::mean;
use burnrank::objective::{Batch, Outputs};
use burnrank::{Activation, Conventions, Dataset, Device, Init, Metric, Objective, Ranker, RankerConfig, evaluate};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Number of hidden units of two-layer nets, as in the paper.
pub const UNITS: usize = 10;
/// Factor and probability of shrinking the learning rate when the training metric falls (section 7).
const SHRINK: f64 = 0.8;
const SHRINK_PROBABILITY: f64 = 0.3;
/// Smaller changes of a validation value count as none.
const CONSTANT: f64 = 1e-9;

/// A linear net, or a net with ten tanh units.
#[derive(Debug, Clone)]
pub struct Net {
    pub features: usize,
    pub shape: NetShape,
    /// In the library's order: features to units row by row, biases, output; for linear nets one weight per feature.
    pub weights: Vec<f32>,
}

/// Buffers of the forward pass that the backward pass reads.
#[derive(Default)]
struct Pass {
    hidden: Vec<[f32; UNITS]>,
    scores: Vec<f32>,
}

impl Net {
    /// Random weights, uniform in ±1/sqrt(inputs).
    pub fn random(features: usize, shape: NetShape, seed: u64) -> Net {
        let net = Net { features, shape, weights: vec![] };
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
    pub fn ranker(&self, device: &Device) -> anyhow::Result<Ranker> {
        let config = self.config();
        let (mut parts, mut rest) = (vec![], self.weights.as_slice());
        for shape in config.shapes() {
            let (part, after) = rest.split_at(shape.iter().product());
            parts.push(part.to_vec());
            rest = after;
        }
        Ok(config.from_weights(&parts, device)?)
    }

    /// Euclidean norm of all weights.
    pub fn length(&self) -> f64 {
        norm(&self.weights)
    }

    fn forward(&self, rows: &[f32], pass: &mut Pass) {
        pass.scores.clear();
        pass.hidden.clear();
        for row in rows.chunks_exact(self.features) {
            match self.shape {
                NetShape::Linear => pass.scores.push(dot(row, &self.weights)),
                NetShape::TwoLayer => {
                    let (first, rest) = self.weights.as_chunks::<UNITS>().0.split_at(self.features);
                    let mut units = rest[0];
                    for (&x, weights) in row.iter().zip(first) {
                        units.iter_mut().zip(weights).for_each(|(unit, weight)| *unit += x * weight);
                    }
                    units.iter_mut().for_each(|unit| *unit = tanh(*unit));
                    pass.scores.push(units.iter().zip(&rest[1]).map(|(unit, weight)| unit * weight).sum());
                    pass.hidden.push(units);
                }
            }
        }
    }

    /// Adds the gradient by the weights, from the gradient by the scores.
    fn backward(&self, rows: &[f32], pass: &Pass, score_gradient: &[f32], gradient: &mut [f32]) {
        match self.shape {
            NetShape::Linear => {
                for (row, &partial) in rows.chunks_exact(self.features).zip(score_gradient) {
                    gradient.iter_mut().zip(row).for_each(|(to, x)| *to += partial * x);
                }
            }
            NetShape::TwoLayer => {
                let output = self.weights.as_chunks::<UNITS>().0[self.features + 1];
                let (first, rest) = gradient.as_chunks_mut::<UNITS>().0.split_at_mut(self.features);
                for ((row, units), &partial) in rows.chunks_exact(self.features).zip(&pass.hidden).zip(score_gradient) {
                    let mut received = [0.0; UNITS];
                    for unit in 0..UNITS {
                        rest[1][unit] += partial * units[unit];
                        received[unit] = partial * output[unit] * (1.0 - units[unit] * units[unit]);
                        rest[0][unit] += received[unit];
                    }
                    for (&x, to) in row.iter().zip(&mut *first) {
                        to.iter_mut().zip(&received).for_each(|(to, unit)| *to += x * unit);
                    }
                }
            }
        }
    }

    /// Scores of all documents.
    pub fn scores(&self, data: &Dataset) -> Vec<f32> {
        let mut pass = Pass::default();
        self.forward(data.features(), &mut pass);
        pass.scores
    }

    /// Metric of each query.
    pub fn values(&self, data: &Dataset, metric: &dyn Metric) -> anyhow::Result<Vec<f64>> {
        values_of(&self.scores(data), data, metric)
    }

    /// Mean of the metric over queries.
    pub fn mean(&self, data: &Dataset, metric: &dyn Metric) -> anyhow::Result<f64> {
        Ok(mean(&self.values(data, metric)?))
    }
}

fn values_of(scores: &[f32], data: &Dataset, metric: &dyn Metric) -> anyhow::Result<Vec<f64>> {
    let values = evaluate(metric, scores, data.labels(), data.offsets(), &Conventions::default())?;
    Ok(values.into_iter().flatten().collect())
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

fn tanh(z: f32) -> f32 {
    1.0 - 2.0 / ((2.0 * z).exp() + 1.0)
}

/// Dot product, with eight independent sums so that the loop is vectorised.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a8, a_rest), (b8, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
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
    pub metric: &'a dyn Metric,
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

/// Record of one epoch.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    /// Training metric; each query is scored before its own update.
    #[cfg_attr(not(test), expect(dead_code))]
    pub train: f64,
    #[cfg_attr(not(test), expect(dead_code))]
    pub valid: f64,
    /// Number of pairs with a lambda other than 0.
    pub pairs: u64,
}

/// Result of a training run.
pub struct Trained {
    /// Weights of the best validation epoch over all starts.
    pub best: Net,
    pub best_epoch: usize,
    pub valid: f64,
    /// Last weights of the start that contains the best epoch.
    pub last: Net,
    /// Epochs of all starts in sequence.
    pub epochs: Vec<Epoch>,
    /// Weights of the requested epochs.
    pub kept: Vec<(usize, Net)>,
}

/// Trains from given weights.
///
/// `tick` receives the completed share of all epochs.
pub fn descend(
    plan: &Plan<'_>,
    start: Net,
    train: &Dataset,
    valid: &Dataset,
    mut tick: impl FnMut(f64),
) -> anyhow::Result<Trained> {
    let mut net = start;
    let (mut learning_rate, mut previous_train, mut idle_epochs, mut starts) =
        (plan.learning_rate, f64::NEG_INFINITY, 0, 1);
    let mut previous_valid = f64::NAN;
    let mut trained = Trained {
        best: net.clone(),
        best_epoch: 0,
        valid: f64::NEG_INFINITY,
        last: net.clone(),
        epochs: vec![],
        kept: vec![],
    };
    // Whether this start has the best epoch.
    let mut has_best = true;
    for number in 1..=plan.epochs {
        if plan.restart > 0 && idle_epochs >= plan.restart {
            if starts == plan.starts {
                break;
            }
            let seed = plan.seed.wrapping_add((starts as u64) << 40);
            (net, learning_rate, previous_train, idle_epochs) =
                (Net::random(net.features, net.shape, seed), plan.learning_rate, f64::NEG_INFINITY, 0);
            (starts, has_best) = (starts + 1, false);
        }
        let (scores, pairs) = epoch(plan, &mut net, train, learning_rate, number)?;
        let valid_scores = net.scores(valid);
        if valid_scores.iter().chain(&scores).any(|score| !score.is_finite()) {
            break;
        }
        let train_value = mean(&values_of(&scores, train, plan.metric)?);
        let valid_value = mean(&values_of(&valid_scores, valid, plan.metric)?);
        trained.epochs.push(Epoch { train: train_value, valid: valid_value, pairs });
        let better = valid_value > trained.valid;
        if better {
            (trained.valid, trained.best_epoch, trained.best, has_best) = (valid_value, number, net.clone(), true);
        }
        let idle = if plan.constant { (valid_value - previous_valid).abs() < CONSTANT } else { !better };
        (idle_epochs, previous_valid) = (if idle { idle_epochs + 1 } else { 0 }, valid_value);
        if has_best {
            trained.last = net.clone();
        }
        if plan.keep.contains(&number) {
            trained.kept.push((number, net.clone()));
        }
        if train_value < previous_train && random_of(plan.seed, number).random_bool(SHRINK_PROBABILITY) {
            learning_rate *= SHRINK;
        }
        previous_train = train_value;
        if learning_rate < plan.frozen * plan.learning_rate {
            break;
        }
        tick(number as f64 / plan.epochs as f64);
    }
    Ok(trained)
}

/// Random numbers of an epoch.
fn random_of(seed: u64, epoch: usize) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch as u64);
    random
}

/// Trains one epoch on all queries, in an order that follows from seed and epoch. Returns the scores before each update and the
/// number of pairs with a lambda other than 0.
fn epoch(
    plan: &Plan<'_>,
    net: &mut Net,
    data: &Dataset,
    learning_rate: f64,
    number: usize,
) -> anyhow::Result<(Vec<f32>, u64)> {
    let mut order: Vec<usize> = (0..data.n_queries()).collect();
    order.shuffle(&mut random_of(plan.seed, number));
    let mut gradient = Gradient::new(net);
    let (mut all, mut pairs) = (vec![0.0; data.n_documents()], 0);
    for query in order {
        let rows = data.offsets()[query]..data.offsets()[query + 1];
        pairs += gradient.add(net, plan.objective, data, query)?;
        all[rows].copy_from_slice(&gradient.pass.scores);
        if plan.updates == Updates::PerQuery {
            gradient.step(net, learning_rate);
        }
    }
    if plan.updates == Updates::FullBatch {
        gradient.step(net, learning_rate / data.n_queries() as f64);
    }
    Ok((all, pairs))
}

/// The gradient by the weights, summed over queries.
struct Gradient {
    pass: Pass,
    by_score: Vec<f32>,
    by_weight: Vec<f32>,
}

impl Gradient {
    fn new(net: &Net) -> Gradient {
        Gradient { pass: Pass::default(), by_score: vec![], by_weight: vec![0.0; net.weights.len()] }
    }

    /// Adds a query's gradient, and returns its number of pairs with a lambda other than 0.
    fn add(&mut self, net: &Net, objective: &Objective, data: &Dataset, query: usize) -> anyhow::Result<u64> {
        let view = data.query(query);
        net.forward(&view.features, &mut self.pass);
        self.by_score.resize(view.labels.len(), 0.0);
        let batch = Batch { labels: view.labels, offsets: &[0, view.labels.len()] };
        let outputs = Outputs { loss: false, pairs: true };
        let totals = objective.lambda_gradient(&self.pass.scores, batch, &mut self.by_score, outputs, &[])?;
        net.backward(&view.features, &self.pass, &self.by_score, &mut self.by_weight);
        Ok(totals.pairs)
    }

    fn step(&mut self, net: &mut Net, learning_rate: f64) {
        let partials = net.weights.iter_mut().zip(&self.by_weight);
        partials.for_each(|(weight, partial)| *weight -= learning_rate as f32 * partial);
        self.by_weight.fill(0.0);
    }
}

impl Net {
    /// Euclidean norm of the gradient by all weights, mean over queries.
    pub fn gradient_norm(&self, objective: &Objective, data: &Dataset) -> anyhow::Result<f64> {
        let mut gradient = Gradient::new(self);
        for query in 0..data.n_queries() {
            gradient.add(self, objective, data, query)?;
        }
        Ok(norm(&gradient.by_weight) / data.n_queries() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burnrank::{Architecture, OptimizerKind, ScaleKind, Schedule, Synthetic, TrainConfig, Trainer};

    #[test]
    fn descent_equals_the_librarys_training() {
        let data = Synthetic { queries: 30, features: 13, seed: 3, ..Synthetic::lambdarank() };
        let data = data.generator().unwrap().dataset().unwrap();
        let device = burnrank::device::open("auto").unwrap();
        for shape in [NetShape::Linear, NetShape::TwoLayer] {
            for (updates, batch_queries) in [(Updates::PerQuery, 1), (Updates::FullBatch, 30)] {
                let objective = Objective::parse("lambdarank:map:rel=2").unwrap();
                let config = TrainConfig {
                    objective: objective.clone(),
                    architecture: match shape {
                        NetShape::Linear => Architecture::Linear,
                        NetShape::TwoLayer => Architecture::Mlp { hidden: vec![UNITS], activation: Activation::Tanh },
                    },
                    scaling: ScaleKind::None,
                    metric: "map:rel=2".into(),
                    epochs: 6,
                    learning_rate: 0.03,
                    optimizer: OptimizerKind::Sgd,
                    batch_queries,
                    schedule: Schedule::ShrinkSometimes,
                    patience: 0,
                    seed: 5,
                    ..TrainConfig::default()
                };
                let trainer = Trainer::new(config, &data, &data, &device).unwrap();
                let model = trainer.train().unwrap();
                let metric = burnrank::metric::parse("map:rel=2").unwrap();
                let plan = Plan {
                    objective: &objective,
                    metric: &*metric,
                    learning_rate: 0.03,
                    updates,
                    epochs: 6,
                    restart: 0,
                    constant: false,
                    frozen: 0.0,
                    starts: 1,
                    seed: 5,
                    keep: &[2],
                };
                let trained = descend(&plan, Net::random(13, shape, 5), &data, &data, |_| ()).unwrap();
                assert_eq!(
                    (trained.best_epoch, trained.kept.len()),
                    (model.info.best_epoch, 1),
                    "{shape:?} {updates:?}"
                );
                for (ours, theirs) in trained.best.scores(&data).iter().zip(model.score(&data).unwrap()) {
                    assert!((ours - theirs).abs() < 1e-4, "{shape:?} {updates:?}: {ours}, not {theirs}");
                }
                for (ours, theirs) in trained.epochs.iter().zip(&model.history) {
                    assert_eq!(ours.pairs, theirs.effective_pairs);
                    assert!((ours.train - theirs.train).abs() < 1e-6 && (ours.valid - theirs.valid).abs() < 1e-6);
                }
            }
        }
    }
}
