//! Soft assignment: pair weights averaged over rankings sampled around the scores (LambdaLoss, section 4).
//!
//! The E-step of the LambdaLoss paper needs the distribution of rankings given scores. A hard assignment takes the
//! sorted order; a soft one draws `K` rankings and averages the weights. The pair losses remain functions of the
//! scores, so the gradient is the mean of `K` gradients with different weights.

use super::super::loss::{Gradients, Outputs, Query, QueryResult};
use super::PairLoss;
use super::any::sum_pairs;
use super::grid::Sums;
use crate::error::{Error, Result};
use crate::numeric::order::{document, safe, sort};
use crate::numeric::standard_normal;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Source of the ranks that pair weights depend on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Assignment {
    /// The order of the scores.
    #[default]
    Hard,
    /// Orders of the scores with Gaussian noise added.
    Gaussian {
        /// Number of rankings sampled per query.
        samples: usize,
        /// Standard deviation of the noise, in units of the scores.
        scale: f64,
    },
    /// Orders drawn from the Plackett-Luce model: one document at a time, by a softmax of `sigma` times the scores.
    PlackettLuce {
        /// Number of rankings sampled per query.
        samples: usize,
    },
}

impl Assignment {
    /// Checks the settings.
    ///
    /// # Errors
    /// Returns an error if there are no samples, or the scale is not a positive number.
    pub fn check(&self) -> Result<()> {
        match *self {
            Assignment::Gaussian { samples: 0, .. } | Assignment::PlackettLuce { samples: 0 } => {
                Err(Error::Config("soft assignment needs at least one sample".to_owned()))
            }
            Assignment::Gaussian { scale, .. } if !(scale > 0.0 && scale.is_finite()) => {
                Err(Error::Config(format!("the scale of the noise must be a number above 0, not {scale}")))
            }
            _ => Ok(()),
        }
    }

    fn samples(&self) -> usize {
        match *self {
            Assignment::Hard => 1,
            Assignment::Gaussian { samples, .. } | Assignment::PlackettLuce { samples } => samples,
        }
    }

    /// Adds noise to a score.
    fn with_noise(&self, score: f32, sigma: f64, random: &mut ChaCha8Rng) -> f32 {
        let noise = match *self {
            Assignment::Hard => 0.0,
            Assignment::Gaussian { scale, .. } => scale * standard_normal(random),
            // Sorting by score plus Gumbel noise draws from Plackett-Luce.
            Assignment::PlackettLuce { .. } => -(-uniform(random).ln()).ln() / sigma,
        };
        safe((f64::from(score) + noise) as f32)
    }
}

/// Draws a number above 0 and below 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.random::<u32>() as f64 + 0.5) / (1u64 << 32) as f64
}

impl PairLoss {
    /// Computes one query with weights averaged over sampled rankings, which depend only on the seed.
    pub(super) fn sampled(
        &self,
        query: Query<'_>,
        to: Gradients<'_>,
        outputs: Outputs,
        assignment: Assignment,
    ) -> Result<QueryResult> {
        let mut random = ChaCha8Rng::seed_from_u64(query.seed);
        let n = query.scores.len();
        let scores: Vec<f32> = query.scores.iter().map(|&score| safe(score)).collect();
        let (mut keys, mut spare) = (Vec::with_capacity(n), Vec::new());
        let (mut scaled, mut ranked) = (vec![0.0; n], vec![0.0; n]);
        let (mut sums, mut part) = (Sums::default(), Sums::default());
        sums.clear(n, to.hessian.is_some());
        let mut total = QueryResult::default();
        for sample in 0..assignment.samples() {
            sort(
                scores.iter().map(|&score| assignment.with_noise(score, self.sigma, &mut random)),
                &mut keys,
                &mut spare,
            );
            for (place, &key) in keys.iter().enumerate() {
                scaled[place] = self.sigma * f64::from(scores[document(key)]);
                ranked[place] = query.labels[document(key)];
            }
            part.clear(n, to.hessian.is_some());
            // Pairs are counted in the first sample only: they are the same in all samples, except for truncation.
            let outputs = Outputs { loss: outputs.loss, pairs: outputs.pairs && sample == 0 };
            let weights = self.weights(&ranked);
            total = total + sum_pairs(&scaled, &weights, weights.top(), &mut part, outputs, query.stop);
            query.stop.check()?;
            for (sum, part) in [(&mut sums.gradient, &part.gradient), (&mut sums.hessian, &part.hessian)] {
                keys.iter().zip(part).for_each(|(&key, part)| sum[document(key)] += part);
            }
        }
        let weight = (assignment.samples() as f64 * self.base.nats()).recip();
        let scale = self.sigma * weight;
        to.gradient.iter_mut().zip(&sums.gradient).for_each(|(to, sum)| *to = (sum * scale) as f32);
        for (to, sum) in to.hessian.into_iter().flatten().zip(&sums.hessian) {
            *to = (sum * scale * self.sigma) as f32;
        }
        Ok(QueryResult { loss: total.loss * weight, ..total })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::batch::{self, Batch};
    use super::super::super::loss::Loss;
    use super::super::super::weight::ndcg1::Ndcg1;
    use super::super::super::weight::ndcg2::Ndcg2;
    use super::super::super::weight::{PairWeight, Pairs};
    use super::super::LossScratch;
    use super::*;
    use crate::stop::Stop;
    use std::sync::Arc;

    const SCORES: [f32; 4] = [0.8, -0.3, 0.1, 1.4];
    const LABELS: [f32; 4] = [0.0, 2.0, 1.0, 0.0];
    const OUTPUTS: Outputs = Outputs { loss: true, pairs: true };

    fn run(loss: &PairLoss, assignment: Assignment, seed: u64) -> (Vec<f32>, QueryResult) {
        let mut gradient = vec![f32::NAN; 4];
        let loss = PairLoss { assignment, ..loss.clone() };
        let query = Query { scores: &SCORES, labels: &LABELS, seed, stop: &Stop::new() };
        let result =
            loss.query(query, Gradients::gradient(&mut gradient), OUTPUTS, &mut LossScratch::default()).unwrap();
        (gradient, result)
    }

    fn ndcg2(rho: f64, delta: f64) -> PairLoss {
        PairLoss::new("ndcg2", Arc::new(Ndcg2 { rho, delta, k: None }))
    }

    #[test]
    fn little_noise_gives_the_hard_assignment() {
        for kernel in [ndcg2(1.0, 0.0), PairLoss::new("ndcg1", Arc::new(Ndcg1 { k: None })), ndcg2(0.5, 2.0)] {
            let (hard, sums) = run(&kernel, Assignment::Hard, 0);
            let (soft, near) = run(&kernel, Assignment::Gaussian { samples: 3, scale: 1e-4 }, 1);
            hard.iter().zip(&soft).for_each(|(hard, soft)| assert!((hard - soft).abs() < 1e-6));
            assert!((sums.loss - near.loss).abs() < 1e-6 * sums.loss);
            assert_eq!((sums.pairs, sums.saturated), (near.pairs, near.saturated));
        }
    }

    #[test]
    fn results_depend_only_on_the_seed() {
        let assignment = Assignment::Gaussian { samples: 2, scale: 1.0 };
        let kernel = ndcg2(1.0, 0.0);
        assert_eq!(run(&kernel, assignment, 3), run(&kernel, assignment, 3));
        assert_ne!(run(&kernel, assignment, 3).0, run(&kernel, assignment, 4).0);
        let mut gradient = [0.0; 8];
        let (scores, labels) = ([SCORES, SCORES].concat(), [LABELS, LABELS].concat());
        let loss = PairLoss { assignment, ..kernel.clone() };
        let mut both = |seeds: &[u64]| {
            let batch = Batch { labels: &labels, offsets: &[0, 4, 8] };
            batch::run(&loss, &scores, batch, Gradients::gradient(&mut gradient), OUTPUTS, seeds, &Stop::new())
        };
        assert!(both(&[4]).is_err());
        let batch = both(&[4, 3]).unwrap();
        let ((first, one), (second, two)) = (run(&kernel, assignment, 4), run(&kernel, assignment, 3));
        assert_eq!(gradient.to_vec(), [first, second].concat());
        assert_eq!(batch, one + two);
    }

    /// 1 if the document at `i` is the top one.
    #[derive(Debug)]
    struct IsFirst;

    impl PairWeight for IsFirst {
        fn exact(&self, _: &[f32], i: usize, _: usize) -> f64 {
            f64::from(u8::from(i == 0))
        }

        fn pairs(&self) -> Pairs {
            Pairs::All
        }
    }

    #[test]
    fn plackett_luce_draws_the_first_document_by_softmax() {
        let kernel = PairLoss { sigma: 1.5, ..PairLoss::new("first", Arc::new(IsFirst)) };
        let (_, soft) = run(&kernel, Assignment::PlackettLuce { samples: 40_000 }, 5);
        let softmax: Vec<f64> = SCORES.iter().map(|&score| (1.5 * f64::from(score)).exp()).collect();
        let total: f64 = softmax.iter().sum();
        let mut expected = 0.0;
        for (i, &score) in SCORES.iter().enumerate() {
            for (j, &other) in SCORES.iter().enumerate().filter(|&(j, _)| j != i) {
                assert_ne!(i, j);
                expected += softmax[i] / total * (1.5 * f64::from(other - score)).exp().ln_1p();
            }
        }
        assert!((soft.loss / expected - 1.0).abs() < 0.02, "{} is not {expected}", soft.loss);
    }

    #[test]
    fn invalid_assignments_are_refused() {
        assert!(Assignment::PlackettLuce { samples: 0 }.check().is_err());
        assert!(Assignment::Gaussian { samples: 0, scale: 1.0 }.check().is_err());
        assert!(Assignment::Gaussian { samples: 1, scale: f64::NAN }.check().is_err());
        assert!(Assignment::Gaussian { samples: 1, scale: 0.0 }.check().is_err());
        assert!(Assignment::Hard.check().is_ok());
    }
}
