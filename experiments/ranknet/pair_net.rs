//! A small net trained with updates per pair or per list, in plain loops (RankNet paper, Eqs. 7 to 15), by propagating every
//! pair (V1 of the LambdaRank paper) or every document once (V2, its Eqs. 6 and 7).

use burnrank::Dataset;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// s(x) = sum_m v_m g(w_m . x + b_m) with g = tanh; a linear net is one unit with g the identity, v = 1 and b = 0 fixed.
#[derive(Debug, Clone)]
pub struct PairNet {
    features: usize,
    /// One row of weights per unit.
    first: Vec<f64>,
    bias: Vec<f64>,
    second: Vec<f64>,
    linear: bool,
}

/// When the weights are updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// After each pair; lists in random order, and the pairs of a list in random order.
    Pair,
    /// After each pair; the pairs of all lists in one random order.
    AnyPair,
    /// After each list, by the sum over its pairs.
    List,
}

/// Sums over an epoch.
pub struct EpochSums {
    pub cost: f64,
    pub pairs: usize,
}

impl PairNet {
    /// A net with the weights of `Init::weights`: features times units, biases, units; or features only for a linear net.
    pub fn new(features: usize, weights: &[Vec<f32>]) -> PairNet {
        let numbers = |weights: &[f32]| weights.iter().map(|&weight| f64::from(weight)).collect::<Vec<f64>>();
        match weights {
            [first, bias, second] => {
                let (first, units) = (numbers(first), bias.len());
                let row = |unit: usize| (0..features).map(move |feature| (unit, feature));
                let first = (0..units).flat_map(row).map(|(unit, feature)| first[feature * units + unit]).collect();
                PairNet { features, first, bias: numbers(bias), second: numbers(second), linear: false }
            }
            _ => {
                let first = numbers(weights.first().map_or(&[], |weights| weights));
                PairNet { features, first, bias: vec![0.0], second: vec![1.0], linear: true }
            }
        }
    }

    fn units(&self) -> usize {
        self.second.len()
    }

    /// Computes the activations of the hidden units and returns the score.
    fn forward(&self, x: &[f32], hidden: &mut [f64]) -> f64 {
        let mut score = 0.0;
        for (unit, value) in hidden.iter_mut().enumerate() {
            let row = &self.first[unit * self.features..(unit + 1) * self.features];
            let sum: f64 = row.iter().zip(x).map(|(w, &x)| w * f64::from(x)).sum();
            *value = if self.linear { sum } else { (sum + self.bias[unit]).tanh() };
            score += self.second[unit] * *value;
        }
        score
    }

    /// Adds `factor` times the gradient of a document's score to another net's weights.
    fn add_gradient(&self, x: &[f32], hidden: &[f64], factor: f64, to: &mut PairNet) {
        for (unit, &value) in hidden.iter().enumerate() {
            let derivative = if self.linear { 1.0 } else { self.second[unit] * (1.0 - value * value) };
            if !self.linear {
                to.second[unit] += factor * value;
                to.bias[unit] += factor * derivative;
            }
            let row = &mut to.first[unit * self.features..(unit + 1) * self.features];
            row.iter_mut().zip(x).for_each(|(w, &x)| *w += factor * derivative * f64::from(x));
        }
    }

    /// Updates the weights by one pair, the better document first; returns the cost before the update, ln(1 + e^-(s_i - s_j)).
    pub fn pair_step(&mut self, [better, worse]: [&[f32]; 2], learning_rate: f64, hidden: &mut [Vec<f64>; 2]) -> f64 {
        let [first, second] = hidden;
        let gap = self.forward(better, first) - self.forward(worse, second);
        let factor = learning_rate / (1.0 + gap.exp());
        // Both gradients use the weights before the update.
        for unit in 0..self.units() {
            let (value, other) = (first[unit], second[unit]);
            let v = self.second[unit];
            let derivatives =
                if self.linear { [1.0, 1.0] } else { [v * (1.0 - value * value), v * (1.0 - other * other)] };
            let row = &mut self.first[unit * self.features..(unit + 1) * self.features];
            let xs = better.iter().zip(worse);
            row.iter_mut().zip(xs).for_each(|(w, (&a, &b))| {
                *w += factor * (derivatives[0] * f64::from(a) - derivatives[1] * f64::from(b));
            });
            if !self.linear {
                self.bias[unit] += factor * (derivatives[0] - derivatives[1]);
                self.second[unit] += factor * (value - other);
            }
        }
        cost(gap)
    }

    /// Updates the weights by the sum over the pairs of a list; returns the cost before the update.
    pub fn list_step(&mut self, x: &[f32], pairs: &[[usize; 2]], learning_rate: f64) -> f64 {
        let (mut updated, mut sum) = (self.clone(), 0.0);
        self.add_by_documents(x, pairs.iter().copied(), learning_rate, &mut updated, |gap| sum += cost(gap));
        *self = updated;
        sum
    }

    /// Adds `factor` times the negative gradient of the sum over some pairs to another net's weights, with one forward and one
    /// backward pass per document (V2).
    pub fn add_by_documents(
        &self,
        x: &[f32],
        pairs: impl Iterator<Item = [usize; 2]>,
        factor: f64,
        to: &mut PairNet,
        mut visit: impl FnMut(f64),
    ) {
        let units = self.units();
        let documents = x.len() / self.features;
        let (mut hidden, mut scores) = (vec![0.0; documents * units], vec![0.0; documents]);
        for (document, row) in x.chunks_exact(self.features).enumerate() {
            scores[document] = self.forward(row, &mut hidden[document * units..(document + 1) * units]);
        }
        let mut lambdas = vec![0.0; documents];
        for [better, worse] in pairs {
            let gap = scores[better] - scores[worse];
            let lambda = 1.0 / (1.0 + f64::exp(gap));
            lambdas[better] += lambda;
            lambdas[worse] -= lambda;
            visit(gap);
        }
        for (document, row) in x.chunks_exact(self.features).enumerate() {
            let hidden = &hidden[document * units..(document + 1) * units];
            self.add_gradient(row, hidden, factor * lambdas[document], to);
        }
    }

    /// The same with a forward and a backward pass of both documents for every pair (V1).
    pub fn add_by_pairs(&self, x: &[f32], pairs: impl Iterator<Item = [usize; 2]>, factor: f64, to: &mut PairNet) {
        let [mut first, mut second] = [vec![0.0; self.units()], vec![0.0; self.units()]];
        for pair in pairs {
            let [better, worse] = pair.map(|document| row(x, self.features, document));
            let gap = self.forward(better, &mut first) - self.forward(worse, &mut second);
            let lambda = factor / (1.0 + gap.exp());
            self.add_gradient(better, &first, lambda, to);
            self.add_gradient(worse, &second, -lambda, to);
        }
    }

    /// Largest difference of a weight from that of another net, relative to the largest distance of that one's weights from `from`.
    pub fn difference(&self, other: &PairNet, from: &PairNet) -> f64 {
        let all = |net: &PairNet| [&net.first[..], &net.bias, &net.second].concat();
        let largest =
            |a: &PairNet, b: &PairNet| all(a).iter().zip(all(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        largest(self, other) / largest(other, from).max(f64::MIN_POSITIVE)
    }

    /// Trains one epoch, which visits every pair once.
    pub fn epoch(&mut self, data: &Dataset, update: Update, learning_rate: f64, seed: u64, number: u64) -> EpochSums {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        let mut order: Vec<usize> = (0..data.n_queries()).collect();
        order.shuffle(&mut random);
        let mut sums = EpochSums { cost: 0.0, pairs: 0 };
        let mut hidden = [vec![0.0; self.units()], vec![0.0; self.units()]];
        if update == Update::AnyPair {
            let of = |query: usize| pairs_of(data.query(query).labels).into_iter().map(move |pair| (query, pair));
            let mut all: Vec<(usize, [usize; 2])> = order.into_iter().flat_map(of).collect();
            all.shuffle(&mut random);
            for (query, pair) in &all {
                let x = data.query(*query).features;
                sums.cost +=
                    self.pair_step(pair.map(|document| row(&x, self.features, document)), learning_rate, &mut hidden);
            }
            sums.pairs = all.len();
            return sums;
        }
        for query in order {
            let query = data.query(query);
            let mut pairs = pairs_of(query.labels);
            sums.pairs += pairs.len();
            if update == Update::List {
                sums.cost += self.list_step(&query.features, &pairs, learning_rate);
                continue;
            }
            pairs.shuffle(&mut random);
            for pair in pairs {
                let rows = pair.map(|document| row(&query.features, self.features, document));
                sums.cost += self.pair_step(rows, learning_rate, &mut hidden);
            }
        }
        sums
    }

    /// Scores of all documents.
    pub fn scores(&self, data: &Dataset) -> Vec<f32> {
        let mut hidden = vec![0.0; self.units()];
        data.features().chunks_exact(self.features).map(|row| self.forward(row, &mut hidden) as f32).collect()
    }
}

fn row(x: &[f32], features: usize, document: usize) -> &[f32] {
    &x[document * features..(document + 1) * features]
}

/// ln(1 + e^-gap) without overflow.
fn cost(gap: f64) -> f64 {
    (-gap).max(0.0) + (-gap.abs()).exp().ln_1p()
}

/// All pairs of different labels, the better document first.
pub fn each_pair(labels: &[f32]) -> impl Iterator<Item = [usize; 2]> {
    let below = move |i: usize| (0..labels.len()).filter(move |&j| labels[i] > labels[j]).map(move |j| [i, j]);
    (0..labels.len()).flat_map(below)
}

/// The same as a list.
pub fn pairs_of(labels: &[f32]) -> Vec<[usize; 2]> {
    each_pair(labels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(linear: bool) -> PairNet {
        let numbers = |n: usize, at: usize| (0..n).map(|i| (((i + at) * 37 % 19) as f32 - 9.0) / 20.0).collect();
        match linear {
            true => PairNet::new(4, &[numbers(4, 0)]),
            false => PairNet::new(4, &[numbers(12, 1), numbers(3, 5), numbers(3, 11)]),
        }
    }

    const X: [f32; 12] = [0.3, -0.2, 0.9, 0.1, -0.5, 0.4, 0.2, 0.8, 0.7, 0.6, -0.9, -0.1];

    #[test]
    fn updates_follow_the_negative_gradient() {
        for linear in [true, false] {
            let net = net(linear);
            let pairs = [[0, 1], [2, 1], [0, 2]];
            let total = |net: &PairNet| net.clone().list_step(&X, &pairs, 0.0);
            let (step, delta) = (1e-6, 1e-6);
            let mut updated = net.clone();
            updated.list_step(&X, &pairs, step);
            for weight in 0..net.first.len() {
                let (mut up, mut down) = (net.clone(), net.clone());
                up.first[weight] += delta;
                down.first[weight] -= delta;
                let expected = (total(&up) - total(&down)) / (2.0 * delta);
                let gradient = (net.first[weight] - updated.first[weight]) / step;
                assert!((expected - gradient).abs() < 1e-6, "{linear} {weight}: {expected} {gradient}");
            }
        }
    }

    #[test]
    fn pairs_and_documents_give_the_same_gradient() {
        for linear in [true, false] {
            let net = net(linear);
            let (mut by_pairs, mut by_documents) = (net.clone(), net.clone());
            net.add_by_pairs(&X, each_pair(&[1.0, 0.0, 2.0]), 0.1, &mut by_pairs);
            net.add_by_documents(&X, each_pair(&[1.0, 0.0, 2.0]), 0.1, &mut by_documents, |_| ());
            assert!(by_pairs.difference(&by_documents, &net) < 1e-12);
            assert!(net.difference(&by_documents, &net) == 1.0);
        }
    }

    #[test]
    fn a_list_of_one_pair_equals_the_pair() {
        for linear in [true, false] {
            let (mut per_pair, mut per_list) = (net(linear), net(linear));
            let mut hidden = [vec![0.0; per_pair.units()], vec![0.0; per_pair.units()]];
            for _ in 0..50 {
                let a = per_pair.pair_step([&X[..4], &X[4..8]], 0.1, &mut hidden);
                let b = per_list.list_step(&X[..8], &[[0, 1]], 0.1);
                assert!((a - b).abs() < 1e-12);
            }
            assert!(per_pair.first.iter().zip(&per_list.first).all(|(a, b)| (a - b).abs() < 1e-12));
            assert!(per_pair.second.iter().zip(&per_list.second).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn pairs_have_the_better_document_first() {
        assert_eq!(pairs_of(&[1.0, 0.0, 1.0, 2.0]), [[0, 1], [2, 1], [3, 0], [3, 1], [3, 2]]);
        assert!((cost(0.0) - 2f64.ln()).abs() < 1e-15 && cost(-800.0) == 800.0 && cost(800.0) == 0.0);
    }
}
