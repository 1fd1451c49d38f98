//! Equations and bounds of soft assignment, scaled gains and the MRR-like loss, checked on random lists.

use super::custom_losses::{MrrLike, ScaledGain, rank_delta};
use super::losses::{LOSSES, NDCG2};
use super::weights::{delta, discount, gains, random_ranked};
use crate::harness::Evidence;
use burnrank::Objective;
use burnrank::numeric::{softplus, standard_normal};
use burnrank::objective::{Batch, Outputs};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::LN_2;
use std::sync::Arc;

/// Evidence for the facts, by claim id.
pub fn all(seed: u64, lists: usize) -> anyhow::Result<Vec<(String, Evidence)>> {
    let limit = limit(seed, lists)?;
    let (sampled, samples) = sampled(seed, lists)?;
    let (identity, excess) = scaled(seed, lists);
    let mrr = mrr_excess(seed, lists)?;
    Ok(vec![
        (
            "limit".into(),
            Evidence::fact(limit < 1e-5, format!("largest difference of gradients {limit:.1e}, {lists} lists")),
        ),
        (
            "sampled".into(),
            Evidence::fact(
                sampled < 0.02,
                format!("{samples} samples: within {:.2}% of the expectation", 100.0 * sampled),
            ),
        ),
        ("scaled".into(), Evidence::fact(identity < 1e-9, format!("largest difference {identity:.1e}, {lists} lists"))),
        (
            "scaled bound".into(),
            Evidence::fact(excess <= 1e-9, format!("cost minus bound at most {excess:.1e}, {lists} lists")),
        ),
        ("mrr bound".into(), Evidence::fact(mrr <= 1e-5, format!("cost minus bound at most {mrr:.1e}, {lists} lists"))),
    ])
}

fn loss_of(objective: &Objective, scores: &[f32], labels: &[f32], seed: u64) -> anyhow::Result<(f64, Vec<f32>)> {
    let mut gradient = vec![0.0; labels.len()];
    let batch = Batch { labels, offsets: &[0, labels.len()] };
    let outputs = Outputs { loss: true, pairs: false };
    let loss = objective.lambda_gradient(scores, batch, &mut gradient, outputs, &[seed])?.loss;
    Ok((loss, gradient))
}

/// Random scores in descending order.
fn descending(n: usize, random: &mut ChaCha8Rng) -> Vec<f32> {
    // Differences are at least 0.01, so vanishing noise swaps no documents.
    let mut score = 2.0 + standard_normal(random) as f32;
    (0..n)
        .map(|_| {
            score -= 0.01 + 0.2 * random.random::<f32>();
            score
        })
        .collect()
}

/// Largest difference between the gradients of noise 0.000001 and of the hard assignment.
fn limit(seed: u64, lists: usize) -> anyhow::Result<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let name = LOSSES[NDCG2].objective(None);
    let hard = Objective::parse(&name)?;
    let soft = Objective::parse(&format!("{name}:gaussian=8:noise=0.000001"))?;
    let mut largest = 0.0_f64;
    for list in 0..lists {
        let n = random.random_range(2..=30);
        let (labels, scores) = (random_ranked(n, &mut random), descending(n, &mut random));
        let (_, hard) = loss_of(&hard, &scores, &labels, 0)?;
        let (_, soft) = loss_of(&soft, &scores, &labels, list as u64)?;
        largest = hard.iter().zip(&soft).map(|(a, b)| f64::from((a - b).abs())).fold(largest, f64::max);
    }
    Ok(largest)
}

/// Relative difference between the mean over samples and the expectation over all 24 rankings of 4 documents, and the number
/// of samples.
fn sampled(seed: u64, lists: usize) -> anyhow::Result<(f64, usize)> {
    let samples = 40 * lists;
    let (labels, scores) = ([0.0, 2.0, 1.0, 0.0], [0.8_f32, -0.3, 0.1, 1.4]);
    let objective = Objective::parse(&format!("{}:plackett-luce={samples}", LOSSES[NDCG2].objective(None)))?;
    let (mean, _) = loss_of(&objective, &scores, &labels, seed)?;
    let mut expected = 0.0;
    for order in orders(labels.len()) {
        let mut probability = 1.0;
        for (place, &document) in order.iter().enumerate() {
            let remaining: f64 = order[place..].iter().map(|&other| f64::from(scores[other]).exp()).sum();
            probability *= f64::from(scores[document]).exp() / remaining;
        }
        let ranked: Vec<f32> = order.iter().map(|&document| labels[document]).collect();
        let gains = gains(&ranked, None);
        for i in 0..order.len() {
            for j in (0..order.len()).filter(|&j| gains[i] > gains[j]) {
                let gap = f64::from(scores[order[i]]) - f64::from(scores[order[j]]);
                expected += probability * delta(i, j) * (gains[i] - gains[j]) * softplus(-gap) / LN_2;
            }
        }
    }
    Ok(((mean / expected - 1.0).abs(), samples))
}

/// All orders of `n` documents.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..n {
        let longer = |order: Vec<usize>| {
            (0..n).filter(|d| !order.contains(d)).map(|d| [order.clone(), vec![d]].concat()).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// Largest difference between the sides of the equation of section 5.4 without the top document, and largest excess of the
/// cost over its bound.
fn scaled(seed: u64, lists: usize) -> (f64, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut difference, mut excess) = (0.0_f64, f64::NEG_INFINITY);
    for list in 0..lists {
        let n = random.random_range(2..=30);
        let (labels, scores) = (random_ranked(n, &mut random), descending(n, &mut random));
        let gains = gains(&labels, None);
        let noise = [0.1, 1.0, 10.0][list % 3];
        let (scaled, sampled) = ScaledGain { samples: 1, noise }.sample(&scores, &gains, &mut random);
        let cost: f64 = (0..n).map(|i| scaled[i] * (1.0 - discount(i))).sum();
        let sampled_cost: f64 = (1..n).map(|i| gains[i] * (1.0 - discount(sampled[i]))).sum();
        difference = difference.max((cost - sampled_cost).abs());
        let mut bound = 0.0;
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                if scaled[i] > scaled[j] {
                    let gap = f64::from(scores[i]) - f64::from(scores[j]);
                    bound += delta(i, j) * ((scaled[i] - scaled[j]) * softplus(-gap) / LN_2 + scaled[j]);
                } else if scaled[i] == scaled[j] {
                    bound += 0.5 * delta(i, j) * scaled[j];
                }
            }
        }
        excess = excess.max(cost - bound);
    }
    (difference, excess)
}

/// Largest excess of `sum of y (1 - 1/rank)` over the MRR-like loss and its constants. With one relevant document the cost
/// must also equal 1 minus the reciprocal rank.
fn mrr_excess(seed: u64, lists: usize) -> anyhow::Result<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let objective = Objective::custom("mrr-like", Arc::new(MrrLike));
    let mut excess = f64::NEG_INFINITY;
    for _ in 0..lists {
        let n: usize = random.random_range(2..=30);
        let labels: Vec<f32> = (0..n).map(|_| f32::from(u8::from(random.random_bool(0.1)))).collect();
        let scores = descending(n, &mut random);
        let cost: f64 = (0..n).map(|i| f64::from(labels[i]) * (1.0 - 1.0 / (i + 1) as f64)).sum();
        let mut constant = 0.0;
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i && labels[j] == labels[i]) {
                constant += 0.5 * rank_delta(i, j) * f64::from(labels[j]);
            }
        }
        let (loss, _) = loss_of(&objective, &scores, &labels, 0)?;
        excess = excess.max(cost - (loss / LN_2 + constant));
        if let (Some(first), 1) = (labels.iter().position(|&y| y == 1.0), labels.iter().filter(|&&y| y == 1.0).count())
        {
            excess = excess.max((cost - (1.0 - 1.0 / (first + 1) as f64)).abs());
        }
    }
    Ok(excess)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_hold() {
        for (id, evidence) in all(5, 60).unwrap() {
            assert!(matches!(evidence, Evidence::Fact { holds: true, .. }), "{id}: {evidence:?}");
        }
        assert_eq!(orders(4).len(), 24);
    }
}
