//! The EM procedure of section 4.2 with a hard assignment, E-step and M-step one after the other.

use super::losses::{LOSSES, NDCG2};
use super::nets;
use super::small_net::{FixedPairs, SmallNet, fixed_pairs};
use crate::harness::finding::{Finding, no_share};
use burnrank::metric::Summary;
use burnrank::metric::parse;
use burnrank::objective::{Batch, Outputs};
use burnrank::{Conventions, Dataset, Objective, evaluate};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

const MEASURE: &str = "ndcg@5";
/// Adam's.
pub const SMALL_STEP: f64 = 0.01;
/// The loss; all pairs, as Eq. 7 to 10 are written.
pub const EM_LOSS: usize = NDCG2;

/// One number per epoch or iteration.
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
    /// Adds one, rounded to six decimals.
    pub fn push(&mut self, train: f64, held_out: f64, loss: f64) {
        let rounded = |value: f64| (value * 1e6).round() / 1e6;
        self.train.push(rounded(train));
        self.held_out.push(rounded(held_out));
        self.loss.push(rounded(loss));
    }
}

/// E-step: rank with the model and fix the weights. M-step: so many epochs with these weights, from new random weights
/// of the net or from those it has.
pub fn em(
    [data, held_out]: &[Dataset; 2],
    anew: bool,
    iterations: usize,
    epochs: usize,
    seed: u64,
    tick: impl Fn(f64),
) -> anyhow::Result<Curve> {
    let objective = Objective::parse(&LOSSES[EM_LOSS].objective(None))?;
    let fresh = |iteration: usize| {
        SmallNet::random(data.n_features(), nets::HIDDEN, seed.wrapping_add(10_000 * iteration as u64))
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut net = fresh(0);
    let mut curve = Curve::default();
    for iteration in 0..iterations {
        let scores = net.scores(data);
        let rows = |query: usize| data.offsets()[query]..data.offsets()[query + 1];
        let pairs: Vec<FixedPairs> = (0..data.n_queries())
            .map(|query| fixed_pairs(&objective, &scores[rows(query)], &data.labels()[rows(query)]))
            .collect();
        if anew {
            net = fresh(iteration + 1);
        }
        (0..epochs).for_each(|_| net.epoch(data, &pairs, SMALL_STEP, &mut random));
        let (train, loss) = (ndcg(&net, data)?, own_loss(&objective, &net, data)?);
        curve.push(train, ndcg(&net, held_out)?, loss);
        tick((iteration + 1) as f64 / iterations as f64);
    }
    Ok(curve)
}

fn ndcg(net: &SmallNet, data: &Dataset) -> anyhow::Result<f64> {
    let values =
        evaluate(&*parse(MEASURE)?, &net.scores(data), data.labels(), data.offsets(), &Conventions::default())?;
    Ok(Summary::of(&values).mean)
}

/// The loss of Eq. 10: the weights are those of the model's own ranking.
fn own_loss(objective: &Objective, net: &SmallNet, data: &Dataset) -> anyhow::Result<f64> {
    let mut gradient = vec![0.0; data.n_documents()];
    let batch = Batch { labels: data.labels(), offsets: data.offsets() };
    let outputs = Outputs { loss: true, pairs: false };
    Ok(objective.lambda_gradient(&net.scores(data), batch, &mut gradient, outputs, &[])?.loss)
}
