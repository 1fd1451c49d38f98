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
/// So that no score overflows, a pair that is more than 30 the wrong way round costs `e^30 (1 + s_j - s_i - 30)` instead: the
/// exponential goes on along its tangent.
#[derive(Debug)]
pub(in super::super) struct Exponential;

/// Where the tangent takes over.
const BEND: f64 = 30.0;

impl Formula for Exponential {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], slopes: &mut [f64], hessian: &mut [f64], stop: &Stop) -> f64 {
        // Pairs on the tangent are counted: how many in all, and for each document those above it less those below.
        let (mut bent, mut bends, mut loss) = (0.0, vec![0.0; scores.len()], 0.0);
        let score = |document: u32| scores[document as usize];
        across_labels(scores, labels, stop, &mut |low, high| {
            let mut add = |document: u32, sum: f64, sign: f64| {
                slopes[document as usize] += sign * sum;
                if let Some(hessian) = hessian.get_mut(document as usize) {
                    *hessian += sum;
                }
            };
            let mut sum = RunningSum::default();
            let mut others = low.iter().peekable();
            for &document in high {
                while let Some(&other) = others.next_if(|&&other| score(other) - score(document) <= BEND) {
                    sum.add(score(other));
                }
                let exponentials = sum.at(score(document));
                loss += exponentials;
                add(document, exponentials, -1.0);
                bends[document as usize] -= others.len() as f64;
                bent += others.len() as f64;
            }
            let mut sum = RunningSum::default();
            let mut others = high.iter().rev().peekable();
            for &document in low.iter().rev() {
                while let Some(&other) = others.next_if(|&&other| score(document) - score(other) <= BEND) {
                    sum.add(-score(other));
                }
                add(document, sum.at(-score(document)), 1.0);
                bends[document as usize] += others.len() as f64;
            }
        });
        let origin = scores.first().copied().unwrap_or_default();
        let differences: f64 = bends.iter().zip(scores).map(|(bends, score)| bends * (score - origin)).sum();
        slopes.iter_mut().zip(&bends).for_each(|(slope, bends)| *slope += BEND.exp() * bends);
        loss + BEND.exp() * (bent * (1.0 - BEND) + differences)
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let (high, low) = tile.sides(&tile.scores);
        let (wrong, better) = (low - high, better(tile));
        let tangents = (relu(wrong.clone().sub_scalar(BEND)) * better.clone()).sum().mul_scalar(BEND.exp());
        Ok(tile.part((wrong.clamp_max(BEND).exp() * better).sum() + tangents))
    }
}

/// `sum of exp(x_k)` over ascending `x`, as a multiple of the last of them: it cannot overflow.
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
    fn sums_are_those_over_all_pairs() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for (n, spread) in [(2, 1.0), (9, 0.1), (50, 3.0), (50, 40.0), (120, 1e5)] {
            let scores: Vec<f64> = (0..n).map(|_| spread * random.random_range(-1.0..1.0)).collect();
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5) as f32).collect();
            let (mut slopes, mut hessian) = (vec![0.0; n], vec![0.0; n]);
            let loss = Exponential.evaluate(&scores, &labels, &mut slopes, &mut hessian, &Stop::new());
            let (mut expected, mut expected_slopes, mut expected_second) = (0.0, vec![0.0; n], vec![0.0; n]);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| labels[i] > labels[j]) {
                let wrong = scores[j] - scores[i];
                let (value, slope, curve) = match wrong <= 30.0 {
                    true => (wrong.exp(), wrong.exp(), wrong.exp()),
                    false => (30f64.exp() * (1.0 + wrong - 30.0), 30f64.exp(), 0.0),
                };
                expected += value;
                expected_slopes[i] -= slope;
                expected_slopes[j] += slope;
                expected_second[i] += curve;
                expected_second[j] += curve;
            }
            let close = |found: f64, expected: f64, scale: f64| (found - expected).abs() <= 1e-11 * scale;
            assert!(close(loss, expected, expected), "{n} {spread}: {loss} {expected}");
            let scale = expected_slopes.iter().fold(0f64, |most, slope| most.max(slope.abs()));
            assert!(slopes.iter().zip(&expected_slopes).all(|(a, b)| close(*a, *b, scale)), "{n} {spread}");
            assert!(hessian.iter().zip(&expected_second).all(|(a, b)| close(*a, *b, b.abs())), "{n} {spread}");
        }
    }
}
