//! A two-layer net in double precision whose pair weights can be fixed, which separates E-step and M-step.

use burnrank::numeric::{sigmoid, training_order};
use burnrank::{Dataset, Objective};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Pairs of one query, the better document first, with their weights.
pub type FixedPairs = Vec<(usize, usize, f64)>;

/// E-step of one query: pairs with their weights in the ranking by score.
pub fn fixed_pairs(objective: &Objective, scores: &[f32], labels: &[f32]) -> FixedPairs {
    let order = training_order(scores);
    let ranked: Vec<f32> = order.iter().map(|&document| labels[document]).collect();
    let Some(loss) = objective.loss().as_pairs() else { return vec![] };
    let weights = loss.weights(&ranked);
    let mut pairs = vec![];
    for i in 0..ranked.len() {
        for j in (0..ranked.len()).filter(|&j| ranked[i] > ranked[j]) {
            let weight = weights.get(i, j);
            if weight > 0.0 {
                pairs.push((order[i], order[j], weight));
            }
        }
    }
    pairs
}

/// A net of tanh units without an output bias, which would not change rankings.
#[derive(Debug, Clone)]
pub struct SmallNet {
    features: usize,
    hidden: usize,
    /// Weights and bias of each unit, then the output weights.
    weights: Vec<f64>,
    /// First and second moments of Adam.
    means: [Vec<f64>; 2],
    /// Number of updates.
    steps: i32,
}

impl SmallNet {
    /// Initialises weights uniformly within ±1/sqrt(inputs).
    pub fn random(features: usize, hidden: usize, seed: u64) -> SmallNet {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = |inputs: usize| random.random_range(-1.0..1.0) / (inputs as f64).sqrt();
        let mut weights: Vec<f64> = (0..hidden * (features + 1)).map(|_| uniform(features)).collect();
        weights.extend((0..hidden).map(|_| uniform(hidden)).collect::<Vec<f64>>());
        let zeros = vec![0.0; weights.len()];
        SmallNet { features, hidden, weights, means: [zeros.clone(), zeros], steps: 0 }
    }

    /// Activations of the hidden units for a document.
    fn units(&self, row: &[f32]) -> Vec<f64> {
        let unit = |weights: &[f64]| {
            let sum: f64 = weights.iter().zip(row).map(|(weight, x)| weight * f64::from(*x)).sum();
            (sum + weights[self.features]).tanh()
        };
        self.weights[..self.hidden * (self.features + 1)].chunks(self.features + 1).map(unit).collect()
    }

    fn output(&self, units: &[f64]) -> f64 {
        let output = &self.weights[self.hidden * (self.features + 1)..];
        output.iter().zip(units).map(|(weight, unit)| weight * unit).sum()
    }

    /// Scores of all documents.
    pub fn scores(&self, data: &Dataset) -> Vec<f32> {
        data.features().chunks(self.features).map(|row| self.output(&self.units(row)) as f32).collect()
    }

    /// Adds the gradient of `sum of weight log2(1 + exp(-(s_i - s_j)))` of one query, times `share`, to `gradient`.
    fn add_gradient(&self, features: &[f32], pairs: &FixedPairs, share: f64, gradient: &mut [f64]) {
        let rows: Vec<&[f32]> = features.chunks(self.features).collect();
        let units: Vec<Vec<f64>> = rows.iter().map(|row| self.units(row)).collect();
        let scores: Vec<f64> = units.iter().map(|units| self.output(units)).collect();
        let mut lambdas = vec![0.0; rows.len()];
        for &(i, j, weight) in pairs {
            let lambda = share * weight * sigmoid(scores[j] - scores[i]) / std::f64::consts::LN_2;
            lambdas[i] -= lambda;
            lambdas[j] += lambda;
        }
        let first = self.hidden * (self.features + 1);
        for ((row, units), lambda) in rows.iter().zip(&units).zip(lambdas) {
            for (unit, &value) in units.iter().enumerate() {
                gradient[first + unit] += lambda * value;
                let back = lambda * self.weights[first + unit] * (1.0 - value * value);
                let own = &mut gradient[unit * (self.features + 1)..(unit + 1) * (self.features + 1)];
                own.iter_mut().zip(*row).for_each(|(gradient, x)| *gradient += back * f64::from(*x));
                own[self.features] += back;
            }
        }
    }

    /// One epoch of Adam with fixed pair weights, over batches of ten queries in random order.
    pub fn epoch(&mut self, data: &Dataset, pairs: &[FixedPairs], learning_rate: f64, random: &mut ChaCha8Rng) {
        let mut order: Vec<usize> = (0..data.n_queries()).collect();
        order.shuffle(random);
        for batch in order.chunks(10) {
            let mut gradient = vec![0.0; self.weights.len()];
            for &query in batch {
                let features = data.query(query).features;
                self.add_gradient(&features, &pairs[query], 1.0 / batch.len() as f64, &mut gradient);
            }
            self.adam(&gradient, learning_rate);
        }
    }

    fn adam(&mut self, gradient: &[f64], learning_rate: f64) {
        self.steps += 1;
        let [first, second] = &mut self.means;
        let (beta1, beta2) = (0.9, 0.999);
        let (correction1, correction2) = (1.0 - f64::powi(beta1, self.steps), 1.0 - f64::powi(beta2, self.steps));
        let all = self.weights.iter_mut().zip(gradient).zip(first.iter_mut().zip(second));
        for ((weight, gradient), (mean, square)) in all {
            *mean = beta1 * *mean + (1.0 - beta1) * gradient;
            *square = beta2 * *square + (1.0 - beta2) * gradient * gradient;
            *weight -= learning_rate * (*mean / correction1) / ((*square / correction2).sqrt() + 1e-8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let mut net = SmallNet::random(2, 3, 4);
        let features = [0.3, -0.8, 0.5, 0.1, -0.4, 0.9];
        let pairs = vec![(0, 1, 0.7), (2, 0, 1.3)];
        let loss = |net: &SmallNet| {
            let score = |document: usize| net.output(&net.units(&features[2 * document..2 * document + 2]));
            let pair = |&(i, j, weight): &(usize, usize, f64)| weight * (score(j) - score(i)).exp().ln_1p();
            pairs.iter().map(pair).sum::<f64>() / std::f64::consts::LN_2
        };
        let mut gradient = vec![0.0; net.weights.len()];
        net.add_gradient(&features, &pairs, 1.0, &mut gradient);
        for (place, expected) in gradient.iter().enumerate() {
            let before = net.weights[place];
            net.weights[place] = before + 1e-5;
            let up = loss(&net);
            net.weights[place] = before - 1e-5;
            let numeric = (up - loss(&net)) / 2e-5;
            net.weights[place] = before;
            assert!((expected - numeric).abs() < 1e-8, "{place}: {expected} and {numeric}");
        }
    }

    #[test]
    fn the_weights_are_those_of_the_ranking() {
        let objective = Objective::parse("ndcg-loss2").unwrap();
        let pairs = fixed_pairs(&objective, &[0.0, 1.0], &[1.0, 0.0]);
        assert_eq!(pairs.len(), 1);
        let (i, j, weight) = pairs[0];
        assert!((i, j) == (0, 1) && (weight - (1.0 - 1.0 / 3f64.log2())).abs() < 1e-12);
    }
}
