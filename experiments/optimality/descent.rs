//! Plain gradient descent with the program's lambdas: weights may start anywhere and can be looked at after any epoch.

use crate::harness::NetShape;
use crate::harness::units::mean;
use burnrank::objective::{Batch, Outputs};
use burnrank::{Activation, Conventions, Dataset, Device, Init, Metric, Objective, Ranker, RankerConfig, evaluate};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The hidden units of two-layer nets, as in the paper.
pub const UNITS: usize = 10;
/// The step size is multiplied by this, as often as that, when the training measure fell (section 7).
const SHRINK: f64 = 0.8;
const SHRINK_CHANCE: f64 = 0.3;
/// A validation value that changes by less is constant.
const CONSTANT: f64 = 1e-9;

/// A linear net, or one of ten tanh units.
#[derive(Debug, Clone)]
pub struct Net {
    pub features: usize,
    pub shape: NetShape,
    /// In the order of the program's nets: from features to units row by row, biases, output; or one per feature.
    pub weights: Vec<f32>,
}

/// What the forward pass leaves for the backward one.
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

    /// The same net as one of the program's.
    pub fn ranker(&self, device: &Device) -> anyhow::Result<Ranker> {
        let config = self.config();
        let (mut parts, mut rest) = (vec![], self.weights.as_slice());
        for shape in config.shapes() {
            let (own, after) = rest.split_at(shape.iter().product());
            parts.push(own.to_vec());
            rest = after;
        }
        Ok(config.from_weights(&parts, device)?)
    }

    /// The Euclidean length of all weights.
    pub fn length(&self) -> f64 {
        self.weights.iter().map(|&weight| f64::from(weight).powi(2)).sum::<f64>().sqrt()
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

    /// Adds what the slopes by scores are by weights.
    fn backward(&self, rows: &[f32], pass: &Pass, slopes: &[f32], gradient: &mut [f32]) {
        match self.shape {
            NetShape::Linear => {
                for (row, &slope) in rows.chunks_exact(self.features).zip(slopes) {
                    gradient.iter_mut().zip(row).for_each(|(to, x)| *to += slope * x);
                }
            }
            NetShape::TwoLayer => {
                let output = self.weights.as_chunks::<UNITS>().0[self.features + 1];
                let (first, rest) = gradient.as_chunks_mut::<UNITS>().0.split_at_mut(self.features);
                for ((row, units), &slope) in rows.chunks_exact(self.features).zip(&pass.hidden).zip(slopes) {
                    let mut received = [0.0; UNITS];
                    for unit in 0..UNITS {
                        rest[1][unit] += slope * units[unit];
                        received[unit] = slope * output[unit] * (1.0 - units[unit] * units[unit]);
                        rest[0][unit] += received[unit];
                    }
                    for (&x, to) in row.iter().zip(&mut *first) {
                        to.iter_mut().zip(&received).for_each(|(to, slope)| *to += x * slope);
                    }
                }
            }
        }
    }

    /// The scores of all documents.
    pub fn scores(&self, data: &Dataset) -> Vec<f32> {
        let mut pass = Pass::default();
        self.forward(data.features(), &mut pass);
        pass.scores
    }

    /// The measure of every query.
    pub fn values(&self, data: &Dataset, measure: &dyn Metric) -> anyhow::Result<Vec<f64>> {
        values_of(&self.scores(data), data, measure)
    }

    /// The mean of the measure.
    pub fn mean(&self, data: &Dataset, measure: &dyn Metric) -> anyhow::Result<f64> {
        Ok(mean(&self.values(data, measure)?))
    }
}

fn values_of(scores: &[f32], data: &Dataset, measure: &dyn Metric) -> anyhow::Result<Vec<f64>> {
    let values = evaluate(measure, scores, data.labels(), data.offsets(), &Conventions::default())?;
    Ok(values.into_iter().flatten().collect())
}

fn tanh(z: f32) -> f32 {
    1.0 - 2.0 / ((2.0 * z).exp() + 1.0)
}

/// Eight sums side by side.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a8, a_rest), (b8, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// How often weights move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updates {
    PerQuery,
    /// Once an epoch, by the mean over all queries.
    FullBatch,
}

/// How a net is trained.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub objective: &'a Objective,
    /// What the step size goes by on training queries, and the best epoch on validation queries.
    pub measure: &'a dyn Metric,
    pub learning_rate: f64,
    pub updates: Updates,
    pub epochs: usize,
    /// After so many idle epochs there is a new start; 0 for never.
    pub restart: usize,
    /// Whether an epoch is idle when its validation value is that of the one before; else when it is not the best yet.
    pub constant: bool,
    /// Training is over when the step size is below this share of the first.
    pub frozen: f64,
    /// How many starts there are at most; after the last, so many idle epochs are the end.
    pub starts: usize,
    pub seed: u64,
    /// Epochs whose weights are kept.
    pub keep: &'a [usize],
}

/// One epoch.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    /// The measure over training queries, each by its scores before its own update.
    #[cfg_attr(not(test), expect(dead_code))]
    pub train: f64,
    #[cfg_attr(not(test), expect(dead_code))]
    pub valid: f64,
    /// Pairs with a force.
    pub pairs: u64,
}

/// What training ends in.
pub struct Trained {
    /// The weights of the best epoch by validation, over all starts.
    pub best: Net,
    pub best_epoch: usize,
    pub valid: f64,
    /// The last weights of the start that has the best epoch.
    pub last: Net,
    /// By the starts, one after the other.
    pub epochs: Vec<Epoch>,
    pub kept: Vec<(usize, Net)>,
}

/// Trains from given weights.
///
/// `tick` is told the share of all epochs that is done.
pub fn descend(
    plan: &Plan<'_>,
    start: Net,
    train: &Dataset,
    valid: &Dataset,
    mut tick: impl FnMut(f64),
) -> anyhow::Result<Trained> {
    let mut net = start;
    let (mut learning_rate, mut before, mut waited, mut starts) = (plan.learning_rate, f64::NEG_INFINITY, 0, 1);
    let mut judged_before = f64::NAN;
    let mut found = Trained {
        best: net.clone(),
        best_epoch: 0,
        valid: f64::NEG_INFINITY,
        last: net.clone(),
        epochs: vec![],
        kept: vec![],
    };
    // Whether this start has the best epoch.
    let mut leads = true;
    for number in 1..=plan.epochs {
        if plan.restart > 0 && waited >= plan.restart {
            if starts == plan.starts {
                break;
            }
            let seed = plan.seed.wrapping_add((starts as u64) << 40);
            (net, learning_rate, before, waited) =
                (Net::random(net.features, net.shape, seed), plan.learning_rate, f64::NEG_INFINITY, 0);
            (starts, leads) = (starts + 1, false);
        }
        let (scores, pairs) = epoch(plan, &mut net, train, learning_rate, number)?;
        let judged = net.scores(valid);
        if judged.iter().chain(&scores).any(|score| !score.is_finite()) {
            break;
        }
        let now = mean(&values_of(&scores, train, plan.measure)?);
        let value = mean(&values_of(&judged, valid, plan.measure)?);
        found.epochs.push(Epoch { train: now, valid: value, pairs });
        let better = value > found.valid;
        if better {
            (found.valid, found.best_epoch, found.best, leads) = (value, number, net.clone(), true);
        }
        let idle = if plan.constant { (value - judged_before).abs() < CONSTANT } else { !better };
        (waited, judged_before) = (if idle { waited + 1 } else { 0 }, value);
        if leads {
            found.last = net.clone();
        }
        if plan.keep.contains(&number) {
            found.kept.push((number, net.clone()));
        }
        if now < before && drawn(plan.seed, number).random_bool(SHRINK_CHANCE) {
            learning_rate *= SHRINK;
        }
        before = now;
        if learning_rate < plan.frozen * plan.learning_rate {
            break;
        }
        tick(number as f64 / plan.epochs as f64);
    }
    Ok(found)
}

fn drawn(seed: u64, epoch: usize) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch as u64);
    random
}

/// Every training query once, in an order drawn from seed and epoch: the scores before each update, and the pairs
/// with a force.
fn epoch(
    plan: &Plan<'_>,
    net: &mut Net,
    data: &Dataset,
    learning_rate: f64,
    number: usize,
) -> anyhow::Result<(Vec<f32>, u64)> {
    let mut order: Vec<usize> = (0..data.n_queries()).collect();
    order.shuffle(&mut drawn(plan.seed, number));
    let (mut pass, mut slopes) = (Pass::default(), vec![]);
    let mut gradient = vec![0.0; net.weights.len()];
    let (mut all, mut pairs) = (vec![0.0; data.n_documents()], 0);
    let step = |net: &mut Net, gradient: &mut [f32], learning_rate: f64| {
        net.weights.iter_mut().zip(&*gradient).for_each(|(weight, slope)| *weight -= learning_rate as f32 * slope);
        gradient.fill(0.0);
    };
    for query in order {
        let rows = data.offsets()[query]..data.offsets()[query + 1];
        let view = data.query(query);
        net.forward(&view.features, &mut pass);
        slopes.resize(rows.len(), 0.0);
        let batch = Batch { labels: view.labels, offsets: &[0, rows.len()] };
        let outputs = Outputs { loss: false, pairs: true };
        pairs += plan.objective.lambda_gradient(&pass.scores, batch, &mut slopes, outputs, &[])?.pairs;
        net.backward(&view.features, &pass, &slopes, &mut gradient);
        all[rows].copy_from_slice(&pass.scores);
        if plan.updates == Updates::PerQuery {
            step(net, &mut gradient, learning_rate);
        }
    }
    if plan.updates == Updates::FullBatch {
        step(net, &mut gradient, learning_rate / data.n_queries() as f64);
    }
    Ok((all, pairs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burnrank::{Architecture, OptimizerKind, ScaleKind, Schedule, Synthetic, TrainConfig, Trainer};

    /// The program's own training, to the rounding.
    #[test]
    fn descent_is_that_of_the_program() {
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
                let measure = burnrank::metric::parse("map:rel=2").unwrap();
                let plan = Plan {
                    objective: &objective,
                    measure: &*measure,
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
                let found = descend(&plan, Net::random(13, shape, 5), &data, &data, |_| ()).unwrap();
                assert_eq!((found.best_epoch, found.kept.len()), (model.info.best_epoch, 1), "{shape:?} {updates:?}");
                for (ours, theirs) in found.best.scores(&data).iter().zip(model.score(&data).unwrap()) {
                    assert!((ours - theirs).abs() < 1e-4, "{shape:?} {updates:?}: {ours}, not {theirs}");
                }
                for (ours, theirs) in found.epochs.iter().zip(&model.history) {
                    assert_eq!(ours.pairs, theirs.effective_pairs);
                    assert!((ours.train - theirs.train).abs() < 1e-6 && (ours.valid - theirs.valid).abs() < 1e-6);
                }
            }
        }
    }
}
