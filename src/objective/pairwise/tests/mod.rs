//! Shared parts of the tests: plain definitions, weightings and queries.

use super::*;
use crate::metric::{Gain, Metric};
use crate::numeric::order::training_order;
use crate::objective::batch::{self, Batch};
use crate::objective::weight::arp1::Arp1;
use crate::objective::weight::arp2::Arp2;
use crate::objective::weight::ndcg1::Ndcg1;
use crate::objective::weight::ndcg2::Ndcg2;
use crate::objective::weight::ndcg2_topk::Ndcg2TopK;
use crate::objective::weight::ranknet::RankNet;
use crate::objective::weight::{self, MrrSwap};
use crate::stop::Stop;
use oracle::Reference;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod check_values;
mod direct;
mod edges;
mod hessian;
mod long;
mod metrics;
mod oracle;
mod speed;

/// The weights that these tests have separate formulas for.
#[derive(Debug, Clone)]
enum Weighting {
    RankNet {
        ties: bool,
    },
    Arp1,
    Arp2,
    Ndcg1,
    Ndcg2 {
        rho: f64,
        delta: f64,
    },
    Ndcg2TopK {
        k: usize,
    },
    SwapNdcg {
        k: usize,
    },
    SwapAp {
        k: Option<usize>,
        threshold: f32,
    },
    SwapRr {
        k: Option<usize>,
        threshold: f32,
    },
    /// Eq. 11 of the 2009 paper.
    Mrr {
        k: Option<usize>,
        threshold: f32,
    },
    SwapMetric(Arc<dyn Metric>),
    Custom(Arc<dyn PairWeight>),
}

/// A pair loss with one of these weights.
#[derive(Debug, Clone)]
struct Kernel {
    weighting: Weighting,
    truncation: Option<usize>,
    sigma: f64,
    base: LogBase,
    gain: Gain,
    method: PairAlgorithm,
    assignment: Assignment,
    stop: Stop,
}

impl Kernel {
    fn new(weighting: Weighting) -> Self {
        let base = match weighting {
            Weighting::Arp1 | Weighting::Arp2 | Weighting::Ndcg1 => LogBase::Bits,
            Weighting::Ndcg2 { delta, .. } if delta != 0.0 => LogBase::Bits,
            _ => LogBase::Nats,
        };
        Kernel {
            weighting,
            truncation: None,
            sigma: 1.0,
            base,
            gain: Gain::default(),
            method: PairAlgorithm::default(),
            assignment: Assignment::Hard,
            stop: Stop::new(),
        }
    }

    fn loss(&self) -> PairLoss {
        use crate::metric::{Ap, Ndcg, Rr};
        let k = self.truncation;
        let gain = self.gain;
        let weight: Arc<dyn PairWeight> = match self.weighting.clone() {
            Weighting::RankNet { ties } => Arc::new(RankNet { ties }),
            Weighting::Arp1 => Arc::new(Arp1),
            Weighting::Arp2 => Arc::new(Arp2),
            Weighting::Ndcg1 => Arc::new(Ndcg1 { k }),
            Weighting::Ndcg2 { rho, delta } => Arc::new(Ndcg2 { rho, delta, k }),
            Weighting::Ndcg2TopK { k } => Arc::new(Ndcg2TopK { k: Some(k) }),
            Weighting::SwapNdcg { k } => weight::lambdarank(Arc::new(Ndcg { k: Some(k), gain })),
            Weighting::SwapAp { k, threshold } => weight::lambdarank(Arc::new(Ap { k, threshold })),
            Weighting::SwapRr { k, threshold } => Arc::new(MrrSwap { k, threshold }),
            Weighting::Mrr { k, threshold } => weight::lambdarank(Arc::new(Rr { k, threshold })),
            Weighting::SwapMetric(metric) => weight::lambdarank(metric),
            Weighting::Custom(weight) => weight,
        };
        let Kernel { truncation, sigma, base, method, assignment, .. } = *self;
        PairLoss { truncation, sigma, base, method, assignment, ..PairLoss::new("test", weight) }
    }

    /// The exponential gain of the papers, unless the metric has another.
    fn gain(&self) -> Gain {
        if matches!(self.weighting, Weighting::SwapNdcg { .. }) { self.gain } else { Gain::Exponential }
    }

    fn gradients(
        &self,
        scores: &[f32],
        labels: &[f32],
        to: Gradients<'_>,
        seed: u64,
        outputs: Outputs,
    ) -> Result<QueryResult> {
        let query = super::Query { scores, labels, seed, stop: &self.stop };
        self.loss().query(query, to, outputs, &mut LossScratch::default())
    }

    fn query(&self, scores: &[f32], labels: &[f32], gradient: &mut [f32], outputs: Outputs) -> Result<QueryResult> {
        self.gradients(scores, labels, Gradients::gradient(gradient), 0, outputs)
    }

    fn batch(
        &self,
        scores: &[f32],
        labels: &[f32],
        offsets: &[usize],
        gradient: &mut [f32],
        outputs: Outputs,
    ) -> Result<QueryResult> {
        let batch = Batch { labels, offsets };
        batch::run(&self.loss(), scores, batch, Gradients::gradient(gradient), outputs, &[], &self.stop)
    }

    fn has_fast_method(&self) -> bool {
        self.loss().has_fast_method()
    }

    fn reference(&self, scores: &[f32], labels: &[f32]) -> Reference {
        self.loss().reference(scores, labels)
    }
}

const SCORES: [f32; 5] = [0.9, 0.1, -0.4, 1.5, 0.3];
const LABELS: [f32; 5] = [0.0, 1.0, 2.0, 0.0, 3.0];

fn run(kernel: &Kernel, scores: &[f32], labels: &[f32]) -> (Vec<f32>, QueryResult) {
    let mut gradient = vec![f32::NAN; scores.len()];
    let outputs = Outputs { loss: true, pairs: true };
    let result = kernel.query(scores, labels, &mut gradient, outputs).unwrap();
    (gradient, result)
}

/// Average precision, reciprocal rank and NDCG by definition.
#[derive(Debug)]
enum Plain {
    Ap(usize, f32),
    Rr(usize, f32),
    Ndcg(usize, Gain),
}

impl Metric for Plain {
    fn name(&self) -> String {
        format!("{self:?}")
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        let positions = ranked.iter().enumerate();
        match *self {
            Plain::Ap(k, threshold) => {
                let (mut relevant, mut sum) = (0.0, 0.0);
                for (position, _) in positions.filter(|(_, label)| **label >= threshold) {
                    relevant += 1.0;
                    sum += if position < k { relevant / (position + 1) as f64 } else { 0.0 };
                }
                sum / f64::max(relevant, 1.0)
            }
            Plain::Rr(k, threshold) => {
                let first = positions.take(k).find(|(_, label)| **label >= threshold);
                first.map_or(0.0, |(position, _)| 1.0 / (position + 1) as f64)
            }
            Plain::Ndcg(k, gain) => {
                let dcg = |labels: &[f32]| -> f64 {
                    let top = labels.iter().take(k).enumerate();
                    top.map(|(position, &label)| gain.of(label) / (position as f64 + 2.0).log2()).sum()
                };
                let mut ideal = ranked.to_vec();
                ideal.sort_by(|a, b| b.total_cmp(a));
                if dcg(&ideal) > 0.0 { dcg(ranked) / dcg(&ideal) } else { 0.0 }
            }
        }
    }
}

/// Pair weights by definition.
fn plain_weight(kernel: &Kernel, ranked: &[f32], i: usize, j: usize) -> f64 {
    let discount = |rank: f64| (1.0 + rank).log2().recip();
    let (rank_i, rank_j) = (i as f64 + 1.0, j as f64 + 1.0);
    let cut = kernel.truncation.unwrap_or(usize::MAX);
    if i == j || i.min(j) >= cut {
        return 0.0;
    }
    let gain = |place: usize| {
        let mut ideal = ranked.to_vec();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let counted = if let Weighting::Ndcg2TopK { k } = kernel.weighting { k } else { cut };
        let terms = ideal.iter().take(counted).enumerate();
        let ideal: f64 = terms.map(|(place, &label)| kernel.gain().of(label) * discount(place as f64 + 1.0)).sum();
        if ideal > 0.0 { kernel.gain().of(ranked[place]) / ideal } else { 0.0 }
    };
    let better = ranked[i] > ranked[j];
    let swap = |metric: &dyn Metric| if better { metric.swap_delta(ranked, i, j).abs() } else { 0.0 };
    match &kernel.weighting {
        Weighting::RankNet { ties } if ranked[i] == ranked[j] => 0.5 * f64::from(u8::from(*ties)),
        Weighting::RankNet { .. } => f64::from(u8::from(better)),
        Weighting::Arp1 => ranked[i].into(),
        Weighting::Arp2 => f64::from(ranked[i] - ranked[j]).max(0.0),
        Weighting::Ndcg1 => gain(i) * discount(rank_i),
        Weighting::Ndcg2 { rho, delta } if better => {
            let distance = (rank_i - rank_j).abs();
            let far = (discount(rank_i) - discount(rank_j)).abs();
            (rho * far + delta * (discount(distance) - discount(distance + 1.0))) * (gain(i) - gain(j))
        }
        Weighting::Ndcg2TopK { k } if better => {
            let (distance, lower) = ((rank_i - rank_j).abs(), rank_i.max(rank_j));
            let kept = if lower > *k as f64 { 1.0 - discount(lower) } else { 1.0 };
            (discount(distance) - discount(distance + 1.0)) * (gain(i) - gain(j)) / kept
        }
        Weighting::SwapNdcg { k } => swap(&Plain::Ndcg(*k, kernel.gain)),
        Weighting::SwapAp { k, threshold } => swap(&Plain::Ap(k.unwrap_or(usize::MAX), *threshold)),
        Weighting::SwapRr { k, threshold } => swap(&Plain::Rr(k.unwrap_or(usize::MAX), *threshold)),
        Weighting::Mrr { k, threshold } => {
            let first = ranked.iter().position(|label| label >= threshold).unwrap_or(ranked.len());
            let inverse = |place: usize| if k.is_none_or(|k| place < k) { 1.0 / (place as f64 + 1.0) } else { 0.0 };
            let moves = ranked[i] >= *threshold && ranked[j] < *threshold && j < first && first <= i;
            if moves { inverse(j) - inverse(first) } else { 0.0 }
        }
        Weighting::SwapMetric(metric) => swap(metric.as_ref()),
        Weighting::Custom(weight) if better || weight.pairs() == Pairs::All => weight.exact(ranked, i, j),
        _ => 0.0,
    }
}

#[derive(Debug)]
struct AllPairs;

impl PairWeight for AllPairs {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        f64::from(ranked[j]) + (i as f64 + 2.0 * j as f64) / ranked.len() as f64
    }

    fn pairs(&self) -> Pairs {
        Pairs::All
    }
}

fn formulas() -> Vec<Weighting> {
    let mut all = vec![
        Weighting::RankNet { ties: false },
        Weighting::RankNet { ties: true },
        Weighting::Arp1,
        Weighting::Arp2,
        Weighting::Ndcg1,
        Weighting::Ndcg2 { rho: 1.0, delta: 0.0 },
        Weighting::Ndcg2 { rho: 0.0, delta: 1.0 },
        Weighting::Ndcg2 { rho: 1.0, delta: 5.0 },
        Weighting::Ndcg2 { rho: 0.0, delta: 0.0 },
    ];
    for k in [1, 3, 10, 1_000] {
        all.push(Weighting::Ndcg2TopK { k });
        all.push(Weighting::SwapNdcg { k });
        all.push(Weighting::SwapAp { k: Some(k), threshold: 1.0 });
        all.push(Weighting::SwapRr { k: Some(k), threshold: 2.0 });
        all.push(Weighting::Mrr { k: Some(k), threshold: 2.0 });
    }
    all.push(Weighting::SwapAp { k: None, threshold: 2.0 });
    all.push(Weighting::SwapRr { k: None, threshold: 1.0 });
    all.push(Weighting::Mrr { k: None, threshold: 1.0 });
    all
}

/// All weightings, with and without truncation.
fn kernels() -> Vec<Kernel> {
    let mut weightings = formulas();
    weightings.push(Weighting::SwapMetric(Arc::new(Plain::Ndcg(4, Gain::Exponential))));
    weightings.push(Weighting::Custom(Arc::new(AllPairs)));
    let mut kernels = Vec::new();
    for weighting in weightings {
        for truncation in [None, Some(1), Some(4), Some(500)] {
            kernels.push(Kernel { truncation, ..Kernel::new(weighting.clone()) });
        }
    }
    kernels
}

struct Query {
    scores: Vec<f32>,
    labels: Vec<f32>,
}

/// A random query, with ties in labels, and in scores if `steps` is small.
fn query(n: usize, spread: f32, steps: f32, levels: u32, random: &mut ChaCha8Rng) -> Query {
    let score = |random: &mut ChaCha8Rng| ((random.random::<f32>() - 0.5) * spread * steps).round() / steps;
    let scores = (0..n).map(|_| score(random)).collect();
    // Higher labels are rarer.
    let label = |random: &mut ChaCha8Rng| (random.random::<f32>().powi(3) * levels as f32).floor();
    Query { scores, labels: (0..n).map(|_| label(random)).collect() }
}

fn queries() -> Vec<Query> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut queries = Vec::new();
    for n in [1, 2, 3, 7, 8, 9, 16, 17, 33, 60] {
        queries.push(query(n, 6.0, 1e6, 5, &mut random));
        queries.push(query(n, 6.0, 1.0, 5, &mut random));
        queries.push(query(n, 30.0, 1e6, 2, &mut random));
        queries.push(query(n, 300.0, 1e3, 5, &mut random));
        queries.push(query(n, 3e6, 1.0, 3, &mut random));
        queries.push(query(n, 5.0, 1e6, 1, &mut random));
        queries.push(query(n, 0.0, 1.0, 4, &mut random));
        let mut graded = query(n, 4.0, 1e6, 5, &mut random);
        graded.labels.iter_mut().for_each(|label| *label += random.random::<f32>());
        queries.push(graded);
    }
    queries
}

fn plain(kernel: &Kernel, query: &Query) -> Reference {
    let order = training_order(&query.scores);
    let ranked: Vec<f32> = order.iter().map(|&document| query.labels[document]).collect();
    let mut sums = Reference::new(order.len());
    let loss = kernel.loss();
    for (above, &i) in order.iter().enumerate() {
        for (below, &j) in order.iter().enumerate() {
            let weight = plain_weight(kernel, &ranked, above, below);
            if weight > 1e-13 {
                sums.add(&loss, &query.scores, i, j, weight);
            }
        }
    }
    sums
}

/// Compares relative to the largest lambda and to the loss.
fn agree(kernel: &Kernel, query: &Query, reference: &Reference, tolerance: f64) {
    let (gradient, result) = run(kernel, &query.scores, &query.labels);
    let scale = reference.gradient.iter().fold(0f64, |max, value| max.max(value.abs()));
    let context =
        || format!("{kernel:?} n {} scores {:?}", query.scores.len(), &query.scores[..query.scores.len().min(9)]);
    for (value, expected) in gradient.iter().zip(&reference.gradient) {
        let error = (f64::from(*value) - expected).abs();
        assert!(error <= tolerance * scale + 1e-14, "{value} is not {expected} of {scale}: {}", context());
    }
    let (value, expected) = (result.loss, reference.result.loss);
    assert!(
        (value - expected).abs() <= tolerance * expected.abs() + 1e-12,
        "loss {value}, not {expected}: {}",
        context()
    );
    assert_eq!(result.pairs, reference.result.pairs, "{}", context());
    assert_eq!(result.saturated, reference.result.saturated, "{}", context());
}
