//! ApproxNDCG (Qin, Liu and Li 2010).

use super::super::registry::{Make, ObjectiveEntry};
use super::super::tensor::{TensorTile, TilePart};
use super::common::{share_tensors, shares};
use super::{Formula, SmoothLoss};
use crate::error::Result;
use crate::name::{Parameter, Spelling};
use crate::numeric::sigmoid;
use crate::stop::Stop;
use burn::tensor::activation;
use std::f64::consts::LN_2;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "approx-ndcg",
    parameters: &[Parameter::number("alpha", 10.0, 1e-6..=1e6, "steepness of the sigmoids")],
    help: "NDCG with ranks smoothed by sigmoids of steepness alpha (ApproxNDCG)",
    make: Make::Smooth(|name| Arc::new(SmoothLoss(ApproxNdcg { alpha: name.number("alpha") }))),
};

/// `C = 1 - sum_i G_i / log2(1 + r_i)`, NDCG with smooth ranks
/// `r_i = 1 + sum over j != i of sigmoid(alpha (s_j - s_i))`.
///
/// Takes `O(n m)` time for `n` documents, `m` of them with a nonzero gain. Loss and gradient are 0 if all labels are
/// equal. The loss is not convex: second derivatives may be negative.
#[derive(Debug)]
pub(in super::super) struct ApproxNdcg {
    /// Steepness of the sigmoids. The default of 10 corresponds to TensorFlow Ranking's temperature of 0.1; Rax and
    /// allRank use 1.
    pub alpha: f64,
}

impl Formula for ApproxNdcg {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number("alpha", self.alpha, None).finish()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], stop: &Stop) -> f64 {
        let Some(shares) = shares(labels) else { return 0.0 };
        let (mut loss, mut probabilities) = (0.0, vec![0.0; scores.len()]);
        for (i, share) in shares.iter().enumerate().filter(|(_, share)| share.gain != 0.0) {
            if stop.asked() {
                break;
            }
            let (mut rank, mut first, mut second) = (1.0, 0.0, 0.0);
            for (j, probability) in probabilities.iter_mut().enumerate() {
                *probability = if i == j { 0.0 } else { sigmoid(self.alpha * (scores[j] - scores[i])) };
                let derivative = *probability * (1.0 - *probability);
                rank += *probability;
                first += derivative;
                second += derivative * (1.0 - 2.0 * *probability);
            }
            let log = f64::ln_1p(rank);
            loss += share.ideal - share.gain * LN_2 / log;
            // Derivatives with respect to the rank, and then to the score of one document at a time.
            let by_rank = share.gain * LN_2 / ((1.0 + rank) * log * log) * self.alpha;
            gradient[i] -= by_rank * first;
            gradient.iter_mut().zip(&probabilities).for_each(|(to, p)| *to += by_rank * p * (1.0 - p));
            if !hessian.is_empty() {
                let by_square = -by_rank * self.alpha * (log + 2.0) / ((1.0 + rank) * log);
                hessian[i] += by_square * first * first + by_rank * self.alpha * second;
                for (to, p) in hessian.iter_mut().zip(&probabilities) {
                    let derivative = p * (1.0 - p);
                    *to += derivative * (by_square * derivative + by_rank * self.alpha * (1.0 - 2.0 * p));
                }
            }
        }
        loss
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let (score_i, score_j) = tile.sides(&tile.scores);
        let others = tile.sides(&tile.present).1 * tile.off_diagonal();
        let probabilities = activation::sigmoid((score_j - score_i).mul_scalar(self.alpha)) * others;
        let discounts = probabilities.sum_dim(2).add_scalar(2.0).log().recip().mul_scalar(LN_2);
        let [gain, ideal] = share_tensors(tile).map(|shares| tile.sides(&shares).0);
        Ok(tile.part((ideal - gain * discounts).sum()))
    }

    fn width(&self) -> f64 {
        self.alpha.recip()
    }

    fn largest_label(&self) -> f32 {
        1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_agree_with_tensorflow_ranking() {
        let ndcg = |scores: &[f64], labels: &[f32]| {
            let mut gradient = vec![0.0; scores.len()];
            1.0 - ApproxNdcg { alpha: 10.0 }.evaluate(scores, labels, &mut gradient, &mut [], &Stop::new())
        };
        let (first, other) = (ndcg(&[0.6, 0.8], &[1.0, 0.0]), ndcg(&[0.5, 0.8, 0.4], &[0.0, 1.0, 0.0]));
        assert!((first - 0.655107).abs() < 1e-6, "{first}");
        assert!(((first + other) / 2.0 - 0.80536866).abs() < 1e-6, "{other}");
    }

    #[test]
    fn value_agrees_with_rax() {
        // The example in its function transformations, with temperature 1.
        let (scores, labels) = ([0.0, 1.0, 3.0, 2.0], [0.0, 0.0, 1.0, 2.0]);
        let loss = ApproxNdcg { alpha: 1.0 }.evaluate(&scores, &labels, &mut [0.0; 4], &mut [], &Stop::new());
        assert!((1.0 - loss - 0.71789175).abs() < 1e-6, "{loss}");
    }

    #[test]
    fn steep_sigmoids_give_ndcg() {
        let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
        let loss = ApproxNdcg { alpha: 1e4 }.evaluate(&scores, &labels, &mut [0.0; 5], &mut [], &Stop::new());
        assert!((1.0 - loss - 0.542037).abs() < 1e-6, "{loss}");
    }
}
