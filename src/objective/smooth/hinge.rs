//! The pair hinge of RankSVM (Herbrich et al. 2000, Joachims 2002).

use super::super::registry::{Make, ObjectiveEntry};
use super::super::tensor::{TensorTile, TilePart};
use super::common::{across_labels, better};
use super::{Formula, SmoothLoss};
use crate::error::Result;
use crate::stop::Stop;
use burn::tensor::activation::relu;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "hinge",
    parameters: &[],
    help: "max(0, 1 - (s_i - s_j)) summed over pairs (RankSVM)",
    make: Make::Smooth(|_| Arc::new(SmoothLoss(Hinge))),
};

/// `C = sum over y_i > y_j of max(0, 1 - (s_i - s_j))`, in `O(n log n log labels)`.
///
/// The second derivative is 0 wherever it exists, which cannot scale a Newton step. The hessian returned is therefore
/// that of half the squared hinge: the number of a document's pairs that differ by less than 1. Newton steps are then
/// at most 1.
#[derive(Debug)]
pub(in super::super) struct Hinge;

/// Returns whether a pair differs by less than 1.
fn violates(high: f64, low: f64) -> bool {
    1.0 - (high - low) > 0.0
}

impl Formula for Hinge {
    fn name(&self) -> String {
        ROW.name.to_owned()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], stop: &Stop) -> f64 {
        let mut pairs = 0.0;
        across_labels(scores, labels, stop, &mut |low, high| {
            let mut add = |document: u32, count: usize, sign: f64| {
                gradient[document as usize] += sign * count as f64;
                if let Some(hessian) = hessian.get_mut(document as usize) {
                    *hessian += count as f64;
                }
            };
            let (mut below, mut above) = (0, 0);
            for &document in high {
                let score = scores[document as usize];
                below += low[below..].iter().take_while(|&&other| !violates(score, scores[other as usize])).count();
                add(document, low.len() - below, -1.0);
                pairs += (low.len() - below) as f64;
            }
            for &document in low {
                let score = scores[document as usize];
                above += high[above..].iter().take_while(|&&other| violates(scores[other as usize], score)).count();
                add(document, above, 1.0);
            }
        });
        // Each pair's hinge is 1 minus a difference of scores. Subtracting an origin reduces rounding errors.
        let origin = scores.first().copied().unwrap_or_default();
        pairs + gradient.iter().zip(scores).map(|(derivative, score)| derivative * (score - origin)).sum::<f64>()
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let (high, low) = tile.sides(&tile.scores);
        let hinges = relu((high - low).neg().add_scalar(1.0));
        Ok(tile.part((hinges * better(tile)).sum()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn values_agree_with_tensorflow_ranking() {
        // Its documentation has means: 0.6 over the two documents of the first list, 2.5 / 6 over a padded batch of
        // both.
        let loss = |scores: &[f64], labels: &[f32]| {
            Hinge.evaluate(scores, labels, &mut vec![0.0; scores.len()], &mut [], &Stop::new())
        };
        let (first, other) = (loss(&[0.6, 0.8], &[1.0, 0.0]), loss(&[0.5, 0.8, 0.4], &[0.0, 1.0, 0.0]));
        assert!((first / 2.0 - 0.6).abs() < 1e-15 && ((first + other) / 6.0 - 0.41666666).abs() < 1e-7);
    }

    #[test]
    fn sums_equal_those_over_all_pairs() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        for n in [2, 3, 10, 77] {
            // Many scores are equal, and many differ by exactly 1.
            let scores: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(-8..8)) / 4.0).collect();
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..6) as f32).collect();
            let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; n]);
            let loss = Hinge.evaluate(&scores, &labels, &mut gradient, &mut hessian, &Stop::new());
            let (mut expected, mut expected_gradient, mut expected_hessian) = (0.0, vec![0.0; n], vec![0.0; n]);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| labels[i] > labels[j]) {
                let hinge = 1.0 - (scores[i] - scores[j]);
                if hinge > 0.0 {
                    expected += hinge;
                    expected_gradient[i] -= 1.0;
                    expected_gradient[j] += 1.0;
                    expected_hessian[i] += 1.0;
                    expected_hessian[j] += 1.0;
                }
            }
            assert_eq!((loss, gradient, hessian), (expected, expected_gradient, expected_hessian), "{n}");
        }
    }
}
