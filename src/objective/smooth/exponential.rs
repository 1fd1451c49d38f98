//! The exponential pair loss of RankBoost (Freund et al. 2003).

use super::super::registry::{Make, ObjectiveEntry};
use super::super::tensor::{TensorTile, TilePart};
use super::common::{across_labels, better};
use super::{Formula, SmoothLoss};
use crate::error::Result;
use crate::stop::Stop;
use burn::tensor::activation::relu;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "exponential",
    parameters: &[],
    help: "exp(s_j - s_i) summed over pairs (RankBoost)",
    make: Make::Smooth(|_| Arc::new(SmoothLoss(Exponential))),
};

/// `C = sum over y_i > y_j of exp(-(s_i - s_j))`, in `O(n log n log labels)`.
///
/// To avoid overflow, pairs in the wrong order by more than 30 cost `e^30 (1 + s_j - s_i - 30)` instead: the
/// exponential continues along its tangent.
#[derive(Debug)]
pub(in super::super) struct Exponential;

/// Difference from which the tangent is used.
const TANGENT: f64 = 30.0;

impl Formula for Exponential {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], stop: &Stop) -> f64 {
        // Number of pairs on the tangent, and for each document the number of those above it minus those below it.
        let (mut n_tangents, mut tangents, mut loss) = (0.0, vec![0.0; scores.len()], 0.0);
        let score = |document: u32| scores[document as usize];
        across_labels(scores, labels, stop, &mut |low, high| {
            let mut add = |document: u32, sum: f64, sign: f64| {
                gradient[document as usize] += sign * sum;
                if let Some(hessian) = hessian.get_mut(document as usize) {
                    *hessian += sum;
                }
            };
            let mut sum = RunningSum::default();
            let mut others = low.iter().peekable();
            for &document in high {
                while let Some(&other) = others.next_if(|&&other| score(other) - score(document) <= TANGENT) {
                    sum.add(score(other));
                }
                let exponentials = sum.at(score(document));
                loss += exponentials;
                add(document, exponentials, -1.0);
                tangents[document as usize] -= others.len() as f64;
                n_tangents += others.len() as f64;
            }
            let mut sum = RunningSum::default();
            let mut others = high.iter().rev().peekable();
            for &document in low.iter().rev() {
                while let Some(&other) = others.next_if(|&&other| score(document) - score(other) <= TANGENT) {
                    sum.add(-score(other));
                }
                add(document, sum.at(-score(document)), 1.0);
                tangents[document as usize] += others.len() as f64;
            }
        });
        let origin = scores.first().copied().unwrap_or_default();
        let differences: f64 = tangents.iter().zip(scores).map(|(tangents, score)| tangents * (score - origin)).sum();
        gradient.iter_mut().zip(&tangents).for_each(|(derivative, tangents)| *derivative += TANGENT.exp() * tangents);
        loss + TANGENT.exp() * (n_tangents * (1.0 - TANGENT) + differences)
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let (high, low) = tile.sides(&tile.scores);
        let (wrong, better) = (low - high, better(tile));
        let tangents = (relu(wrong.clone().sub_scalar(TANGENT)) * better.clone()).sum().mul_scalar(TANGENT.exp());
        Ok(tile.part((wrong.clamp_max(TANGENT).exp() * better).sum() + tangents))
    }
}

/// `sum of exp(x_k)` over ascending `x`, relative to the last term to prevent overflow.
#[derive(Default)]
struct RunningSum {
    last: f64,
    sum: f64,
}

impl RunningSum {
    fn add(&mut self, x: f64) {
        self.sum = self.sum * (self.last - x).min(0.0).exp() + 1.0;
        self.last = x;
    }

    /// `sum of exp(x_k - x)`.
    fn at(&self, x: f64) -> f64 {
        if self.sum > 0.0 { self.sum * (self.last - x).exp() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn sums_equal_those_over_all_pairs() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for (n, spread) in [(2, 1.0), (9, 0.1), (50, 3.0), (50, 40.0), (120, 1e5)] {
            let scores: Vec<f64> = (0..n).map(|_| spread * random.random_range(-1.0..1.0)).collect();
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5) as f32).collect();
            let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; n]);
            let loss = Exponential.evaluate(&scores, &labels, &mut gradient, &mut hessian, &Stop::new());
            let (mut expected, mut expected_gradient, mut expected_hessian) = (0.0, vec![0.0; n], vec![0.0; n]);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| labels[i] > labels[j]) {
                let wrong = scores[j] - scores[i];
                let (value, first, second) = match wrong <= 30.0 {
                    true => (wrong.exp(), wrong.exp(), wrong.exp()),
                    false => (30f64.exp() * (1.0 + wrong - 30.0), 30f64.exp(), 0.0),
                };
                expected += value;
                expected_gradient[i] -= first;
                expected_gradient[j] += first;
                expected_hessian[i] += second;
                expected_hessian[j] += second;
            }
            let close = |value: f64, expected: f64, scale: f64| (value - expected).abs() <= 1e-11 * scale;
            assert!(close(loss, expected, expected), "{n} {spread}: {loss} {expected}");
            let scale = expected_gradient.iter().fold(0f64, |max, first| max.max(first.abs()));
            assert!(gradient.iter().zip(&expected_gradient).all(|(a, b)| close(*a, *b, scale)), "{n} {spread}");
            assert!(hessian.iter().zip(&expected_hessian).all(|(a, b)| close(*a, *b, b.abs())), "{n} {spread}");
        }
    }
}
