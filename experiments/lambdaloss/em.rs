//! The EM procedure of section 4.2 with a hard assignment.

use super::losses::{LOSSES, NDCG2};
use super::nets;
use super::small_net::{FixedPairs, SmallNet, fixed_pairs};
use crate::harness::finding::{Finding, no_share};
use burnrank::metric::{Summary, parse};
use burnrank::objective::{Batch, Outputs};
use burnrank::{Conventions, Dataset, Objective, evaluate};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

const METRIC: &str = "ndcg@5";
/// Learning rate of Adam.
pub const EM_LEARNING_RATE: f64 = 0.01;
/// The loss, of all pairs as in Eq. 7 to 10.
pub const EM_LOSS: usize = NDCG2;

/// Training and held-out NDCG@5 and loss, by epoch or iteration.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Curve {
    pub train: Vec<f64>,
    pub held_out: Vec<f64>,
    pub loss: Vec<f64>,
}

impl Finding for Curve {
    fn impossible(&self) -> Option<String> {
        no_share("NDCG@5", self.train.iter().chain(&self.held_out).copied())
    }
}

impl Curve {
    /// Appends an epoch, rounded to six decimals.
    pub fn push(&mut self, train: f64, held_out: f64, loss: f64) {
        let rounded = |value: f64| (value * 1e6).round() / 1e6;
        self.train.push(rounded(train));
        self.held_out.push(rounded(held_out));
        self.loss.push(rounded(loss));
    }
}

/// Alternates E-steps, which set the pair weights by the model's ranking, and M-steps, which train with these weights from
/// scratch or from the current net.
pub fn em(
    [data, held_out]: &[Dataset; 2],
    from_scratch: bool,
    [iterations, epochs]: [usize; 2],
    seed: u64,
    tick: impl Fn(f64),
) -> anyhow::Result<Curve> {
    let objective = Objective::parse(&LOSSES[EM_LOSS].objective(None))?;
    let new_net = |iteration: usize| {
        SmallNet::random(data.n_features(), nets::HIDDEN, seed.wrapping_add(10_000 * iteration as u64))
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut net = new_net(0);
    let mut curve = Curve::default();
    for iteration in 0..iterations {
        let scores = net.scores(data);
        let rows = |query: usize| data.offsets()[query]..data.offsets()[query + 1];
        let pairs: Vec<FixedPairs> = (0..data.n_queries())
            .map(|query| fixed_pairs(&objective, &scores[rows(query)], &data.labels()[rows(query)]))
            .collect();
        if from_scratch {
            net = new_net(iteration + 1);
        }
        (0..epochs).for_each(|_| net.epoch(data, &pairs, EM_LEARNING_RATE, &mut random));
        let (train, loss) = (ndcg(&net, data)?, current_loss(&objective, &net, data)?);
        curve.push(train, ndcg(&net, held_out)?, loss);
        tick((iteration + 1) as f64 / iterations as f64);
    }
    Ok(curve)
}

fn ndcg(net: &SmallNet, data: &Dataset) -> anyhow::Result<f64> {
    let values = evaluate(&*parse(METRIC)?, &net.scores(data), data.labels(), data.offsets(), &Conventions::default())?;
    Ok(Summary::of(&values).mean)
}

/// The loss of Eq. 10, with the weights of the model's current ranking.
fn current_loss(objective: &Objective, net: &SmallNet, data: &Dataset) -> anyhow::Result<f64> {
    let mut gradient = vec![0.0; data.n_documents()];
    let batch = Batch { labels: data.labels(), offsets: data.offsets() };
    let outputs = Outputs { loss: true, pairs: false };
    Ok(objective.lambda_gradient(&net.scores(data), batch, &mut gradient, outputs, &[])?.loss)
}
