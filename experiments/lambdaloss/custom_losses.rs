//! Two losses of the paper that the tool does not include: NDCG-Loss2 with scaled gains under soft assignment (section 5.4),
//! and NDCG-Loss2 for MRR-like metrics (section 5.2).

use super::weights::{delta, discount, gains};
use burnrank::numeric::{sigmoid, softplus, standard_normal, training_order};
use burnrank::objective::{Gradients, Loss, LossScratch, Outputs, PairWeight, Query, QueryResult};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::LN_2;

/// NDCG-Loss2 with `G'_i = G_i (1 - 1/D_i') / (1 - 1/D_i)`, where `i` is a document's rank by score and `i'` its rank in a
/// ranking sampled with Gaussian noise on the scores. `G'` is 0 at rank 1, where the formula is 0/0. Pairs are those with
/// `G'_i > G'_j`. Mean over samples, in bits.
#[derive(Debug)]
pub struct ScaledGain {
    pub samples: usize,
    /// Standard deviation of the noise.
    pub noise: f64,
}

impl ScaledGain {
    /// Returns scaled gains in rank order, and the ranks (from 0) of the documents in a sampled ranking.
    pub fn sample(&self, ranked_scores: &[f32], gains: &[f64], random: &mut ChaCha8Rng) -> (Vec<f64>, Vec<usize>) {
        let noisy: Vec<f32> =
            ranked_scores.iter().map(|&score| score + (self.noise * standard_normal(random)) as f32).collect();
        let mut sampled = vec![0; noisy.len()];
        training_order(&noisy).into_iter().enumerate().for_each(|(rank, place)| sampled[place] = rank);
        let scaled = |(place, gain): (usize, &f64)| match place {
            0 => 0.0,
            _ => gain * (1.0 - discount(sampled[place])) / (1.0 - discount(place)),
        };
        (gains.iter().enumerate().map(scaled).collect(), sampled)
    }
}

impl Loss for ScaledGain {
    fn name(&self) -> String {
        format!("ndcg-loss2-scaled:gaussian={}:noise={}", self.samples, self.noise)
    }

    fn query(
        &self,
        query: Query<'_>,
        to: Gradients<'_>,
        _: Outputs,
        _: &mut LossScratch,
    ) -> burnrank::Result<QueryResult> {
        query.check(&to, 1e3)?;
        let order = training_order(query.scores);
        let n = order.len();
        let labels: Vec<f32> = order.iter().map(|&document| query.labels[document]).collect();
        let scores: Vec<f32> = order.iter().map(|&document| query.scores[document]).collect();
        let gains = gains(&labels, None);
        let mut random = ChaCha8Rng::seed_from_u64(query.seed);
        let mut weights = vec![0.0; n * n];
        for _ in 0..self.samples {
            let (scaled, _) = self.sample(&scores, &gains, &mut random);
            for i in (0..n).filter(|&i| scaled[i] > 0.0) {
                for (j, other) in scaled.iter().enumerate().filter(|(_, other)| **other < scaled[i]) {
                    weights[i * n + j] += scaled[i] - other;
                }
            }
        }
        let by_distance: Vec<f64> = (0..n).map(|distance| delta(0, distance) / self.samples as f64).collect();
        let (mut gradient, mut result) = (vec![0.0; n], QueryResult::default());
        for i in 0..n {
            for j in (0..n).filter(|&j| weights[i * n + j] > 0.0) {
                let weight = weights[i * n + j] * by_distance[i.abs_diff(j)];
                let gap = f64::from(scores[i]) - f64::from(scores[j]);
                result.loss += weight * softplus(-gap) / LN_2;
                result.pairs += 1;
                let lambda = weight * sigmoid(-gap) / LN_2;
                gradient[i] -= lambda;
                gradient[j] += lambda;
            }
        }
        to.gradient.fill(0.0);
        order.iter().zip(&gradient).for_each(|(&document, gradient)| to.gradient[document] = *gradient as f32);
        Ok(result)
    }

    fn is_random(&self) -> bool {
        true
    }
}

/// NDCG-Loss2 with `G = y` and `D = rank`: `(1/|i-j| - 1/(|i-j|+1)) |y_i - y_j|`.
#[derive(Debug)]
pub struct MrrLike;

impl PairWeight for MrrLike {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        rank_delta(i, j) * f64::from((ranked[i] - ranked[j]).abs())
    }
}

/// Eq. 15 with `D = rank`.
pub fn rank_delta(i: usize, j: usize) -> f64 {
    match i.abs_diff(j) {
        0 => 0.0,
        distance => 1.0 / distance as f64 - 1.0 / (distance + 1) as f64,
    }
}

/// Expected reciprocal rank of the first relevant document if all orders are equally likely; 0 without relevant documents.
pub fn expected_rr_of_random_order(labels: &[f32]) -> f64 {
    let relevant = labels.iter().filter(|&&label| label >= 1.0).count() as f64;
    let (mut none_before, mut sum) = (1.0, 0.0);
    for rank in 1..=labels.len() {
        let remaining = (labels.len() - rank + 1) as f64;
        let probability = (relevant / remaining).min(1.0);
        sum += none_before * probability / rank as f64;
        none_before *= 1.0 - probability;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use burnrank::Objective;
    use burnrank::objective::Batch;
    use std::sync::Arc;

    #[test]
    fn gradients_are_those_of_the_loss() {
        let objective = Objective::of(Arc::new(ScaledGain { samples: 4, noise: 0.001 }));
        let labels = [0.0, 2.0, 1.0, 3.0];
        let batch = Batch { labels: &labels, offsets: &[0, 4] };
        let loss = |scores: &[f32; 4], gradient: &mut [f32; 4]| {
            let outputs = Outputs { loss: true, pairs: true };
            objective.lambda_gradient(scores, batch, gradient, outputs, &[3]).unwrap().loss
        };
        let (scores, mut gradient) = ([1.0, 0.5, -0.25, -1.0], [0.0; 4]);
        loss(&scores, &mut gradient);
        for document in 0..4 {
            let (mut up, mut down) = (scores, scores);
            up[document] += 1e-2;
            down[document] -= 1e-2;
            let numeric = (loss(&up, &mut [0.0; 4]) - loss(&down, &mut [0.0; 4])) / 2e-2;
            assert!((f64::from(gradient[document]) - numeric).abs() < 1e-4, "{document}: {gradient:?} {numeric}");
        }
        assert!(gradient.iter().sum::<f32>().abs() < 1e-6);
    }

    #[test]
    fn without_noise_gains_below_the_top_are_unscaled() {
        let loss = ScaledGain { samples: 1, noise: 1e-9 };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (scaled, sampled) = loss.sample(&[3.0, 2.0, 1.0], &[0.5, 0.25, 0.125], &mut random);
        assert_eq!((scaled, sampled), (vec![0.0, 0.25, 0.125], vec![0, 1, 2]));
    }

    #[test]
    fn a_random_order_has_the_mean_reciprocal_rank_of_all_orders() {
        // One relevant of three: (1 + 1/2 + 1/3) / 3. Two of three: the first is at rank 1 in two of three orders, otherwise
        // at rank 2.
        assert!((expected_rr_of_random_order(&[0.0, 1.0, 0.0]) - 11.0 / 18.0).abs() < 1e-12);
        assert!((expected_rr_of_random_order(&[1.0, 1.0, 0.0]) - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(expected_rr_of_random_order(&[0.0, 0.0]), 0.0);
    }
}
