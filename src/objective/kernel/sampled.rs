//! Soft assignment: pair weights averaged over rankings sampled around the scores (LambdaLoss, section 4).
//!
//! The E-step of the LambdaLoss paper asks for the distribution of rankings given scores. A hard assignment takes the
//! sorted order; a soft one draws `K` rankings and averages the weights. The pair losses stay functions of the scores
//! themselves, so that the gradient is the mean of `K` gradients with another weight each.

use super::any::{Ranking, sum_pairs};
use super::{Kernel, QueryResult, Scratch, Want};
use crate::error::{Error, Result};
use crate::numeric::order::{document, safe, sort};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Where the ranks come from that weights depend on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Assignment {
    /// The order of the scores.
    #[default]
    Hard,
    /// Orders of the scores with Gaussian noise added.
    Gaussian {
        /// How many orders to draw for each query.
        samples: usize,
        /// The standard deviation of the noise, in units of the scores.
        scale: f64,
    },
    /// Orders drawn by the Plackett-Luce model: one document after another, by a softmax of `sigma` times the scores.
    PlackettLuce {
        /// How many orders to draw for each query.
        samples: usize,
    },
}

impl Assignment {
    /// Refuses settings that make no sense.
    ///
    /// # Errors
    /// When there are no samples, or the scale is not a number above 0.
    pub fn check(&self) -> Result<()> {
        match *self {
            Assignment::Gaussian { samples: 0, .. } | Assignment::PlackettLuce { samples: 0 } => {
                Err(Error::Config("a soft assignment needs at least one sample".to_owned()))
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

    /// A score as one sampled ranking sees it.
    fn disturbed(&self, score: f32, sigma: f64, random: &mut ChaCha8Rng) -> f32 {
        let noise = match *self {
            Assignment::Hard => 0.0,
            Assignment::Gaussian { scale, .. } => {
                let radius = (-2.0 * uniform(random).ln()).sqrt();
                scale * radius * (std::f64::consts::TAU * uniform(random)).cos()
            }
            // Sorting by score plus Gumbel noise draws from Plackett-Luce.
            Assignment::PlackettLuce { .. } => -(-uniform(random).ln()).ln() / sigma,
        };
        safe((f64::from(score) + noise) as f32)
    }
}

/// A number above 0 and below 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.random::<u32>() as f64 + 0.5) / (1u64 << 32) as f64
}

impl Kernel {
    /// [`Kernel::query`] with weights averaged over sampled rankings; the same `seed` draws the same ones.
    ///
    /// # Errors
    /// As [`Kernel::query`], and when the assignment makes no sense.
    ///
    /// ```
    /// use burnrank::{Assignment, Kernel, Want, Weighting};
    /// let kernel = Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 0.0 });
    /// let mut gradient = [0.0; 2];
    /// let assignment = Assignment::PlackettLuce { samples: 8 };
    /// kernel.query_sampled(&[1.0, 0.0], &[0.0, 1.0], assignment, 7, &mut gradient, Want::default())?;
    /// // With two documents every ranking gives the pair the same weight: 1 - 1/log2(3).
    /// assert!((gradient[0] - 0.3690702 * 0.7310586).abs() < 1e-6);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub fn query_sampled(
        &self,
        scores: &[f32],
        labels: &[f32],
        assignment: Assignment,
        seed: u64,
        gradient: &mut [f32],
        want: Want,
    ) -> Result<QueryResult> {
        assignment.check()?;
        if assignment == Assignment::Hard {
            return self.query(scores, labels, gradient, &mut Scratch::default(), want);
        }
        self.check_query(scores, labels, gradient)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let n = scores.len();
        let safe_scores: Vec<f32> = scores.iter().map(|&score| safe(score)).collect();
        let (mut keys, mut spare, mut sums) = (Vec::with_capacity(n), Vec::new(), vec![0.0; n]);
        let (mut scaled, mut ranked, mut parts) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut total = QueryResult::default();
        for sample in 0..assignment.samples() {
            let disturbed = safe_scores.iter().map(|&score| assignment.disturbed(score, self.sigma, &mut random));
            sort(disturbed, &mut keys, &mut spare);
            for (place, &key) in keys.iter().enumerate() {
                scaled[place] = self.sigma * f64::from(safe_scores[document(key)]);
                ranked[place] = labels[document(key)];
            }
            parts.fill(0.0);
            let weights = self.weights(&ranked);
            let top = self.top(n);
            let ranking = Ranking { scaled: &scaled, labels: &ranked, pairs: self.weighting.pairs(), top };
            // Pairs are counted in the first sample: the others have the same, but for what truncation cuts.
            let want = Want { loss: want.loss, pairs: want.pairs && sample == 0 };
            total = total + sum_pairs(&ranking, &weights, &mut parts, want, &self.stop);
            self.stop.check()?;
            keys.iter().zip(&parts).for_each(|(&key, part)| sums[document(key)] += part);
        }
        let share = (assignment.samples() as f64 * self.base.nats()).recip();
        gradient.iter_mut().zip(&sums).for_each(|(to, sum)| *to = (sum * self.sigma * share) as f32);
        Ok(QueryResult { loss: total.loss * share, ..total })
    }

    /// [`Kernel::batch`] with weights averaged over sampled rankings, one seed a query.
    ///
    /// A query with the same scores and seed gets the same gradient, whatever else is in the batch.
    ///
    /// # Errors
    /// As [`Kernel::batch`], when the assignment makes no sense, and when there is not one seed a query.
    #[expect(clippy::too_many_arguments, reason = "those of `batch`, and what the sampling needs")]
    pub fn batch_sampled(
        &self,
        scores: &[f32],
        labels: &[f32],
        offsets: &[usize],
        assignment: Assignment,
        seeds: &[u64],
        gradient: &mut [f32],
        want: Want,
    ) -> Result<QueryResult> {
        let tasks = self.split(scores, labels, offsets, gradient)?;
        if seeds.len() != tasks.len() {
            return Err(Error::Mismatch(format!("{} seeds for {} queries", seeds.len(), tasks.len())));
        }
        let results: Result<Vec<QueryResult>> = tasks
            .into_par_iter()
            .zip(seeds)
            .map(|(task, &seed)| self.query_sampled(task.scores, task.labels, assignment, seed, task.gradient, want))
            .collect();
        Ok(results?.into_iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PairWeight, Pairs, Weighting};
    use super::*;
    use std::sync::Arc;

    const SCORES: [f32; 4] = [0.8, -0.3, 0.1, 1.4];
    const LABELS: [f32; 4] = [0.0, 2.0, 1.0, 0.0];
    const WANT: Want = Want { loss: true, pairs: true };

    fn run(kernel: &Kernel, assignment: Assignment, seed: u64) -> (Vec<f32>, QueryResult) {
        let mut gradient = vec![f32::NAN; 4];
        let result = kernel.query_sampled(&SCORES, &LABELS, assignment, seed, &mut gradient, WANT).unwrap();
        (gradient, result)
    }

    fn lambdarank() -> Kernel {
        Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 0.0 })
    }

    #[test]
    fn little_noise_is_a_hard_assignment() {
        for kernel in
            [lambdarank(), Kernel::new(Weighting::Ndcg1), Kernel::new(Weighting::Ndcg2 { rho: 0.5, delta: 2.0 })]
        {
            let (hard, sums) = run(&kernel, Assignment::Hard, 0);
            let (soft, near) = run(&kernel, Assignment::Gaussian { samples: 3, scale: 1e-4 }, 1);
            hard.iter().zip(&soft).for_each(|(hard, soft)| assert!((hard - soft).abs() < 1e-6));
            assert!((sums.loss - near.loss).abs() < 1e-6 * sums.loss);
            assert_eq!((sums.pairs, sums.saturated), (near.pairs, near.saturated));
        }
    }

    #[test]
    fn seeds_and_nothing_else_decide() {
        let assignment = Assignment::Gaussian { samples: 2, scale: 1.0 };
        let kernel = lambdarank();
        assert_eq!(run(&kernel, assignment, 3), run(&kernel, assignment, 3));
        assert_ne!(run(&kernel, assignment, 3).0, run(&kernel, assignment, 4).0);
        let mut gradient = [0.0; 8];
        let (scores, labels) = ([SCORES, SCORES].concat(), [LABELS, LABELS].concat());
        let batch =
            kernel.batch_sampled(&scores, &labels, &[0, 4, 8], assignment, &[4, 3], &mut gradient, WANT).unwrap();
        let ((first, one), (second, two)) = (run(&kernel, assignment, 4), run(&kernel, assignment, 3));
        assert_eq!(gradient.to_vec(), [first, second].concat());
        assert_eq!(batch, one + two);
        assert!(kernel.batch_sampled(&scores, &labels, &[0, 4, 8], assignment, &[4], &mut gradient, WANT).is_err());
    }

    /// 1 when the document at `i` is the top one.
    #[derive(Debug)]
    struct IsFirst;

    impl PairWeight for IsFirst {
        fn weight(&self, _: &[f32], i: usize, _: usize) -> f64 {
            f64::from(u8::from(i == 0))
        }

        fn pairs(&self) -> Pairs {
            Pairs::All
        }
    }

    #[test]
    fn plackett_luce_draws_the_first_document_by_softmax() {
        let kernel = Kernel { sigma: 1.5, ..Kernel::new(Weighting::Custom(Arc::new(IsFirst))) };
        let (_, soft) = run(&kernel, Assignment::PlackettLuce { samples: 40_000 }, 5);
        let softmax: Vec<f64> = SCORES.iter().map(|&score| (1.5 * f64::from(score)).exp()).collect();
        let total: f64 = softmax.iter().sum();
        let mut expected = 0.0;
        for (i, &own) in SCORES.iter().enumerate() {
            for (j, &other) in SCORES.iter().enumerate().filter(|&(j, _)| j != i) {
                assert_ne!(i, j);
                expected += softmax[i] / total * (1.5 * f64::from(other - own)).exp().ln_1p();
            }
        }
        assert!((soft.loss / expected - 1.0).abs() < 0.02, "{} is not {expected}", soft.loss);
    }

    #[test]
    fn assignments_that_make_no_sense_are_refused() {
        assert!(Assignment::PlackettLuce { samples: 0 }.check().is_err());
        assert!(Assignment::Gaussian { samples: 0, scale: 1.0 }.check().is_err());
        assert!(Assignment::Gaussian { samples: 1, scale: f64::NAN }.check().is_err());
        assert!(Assignment::Gaussian { samples: 1, scale: 0.0 }.check().is_err());
        assert!(Assignment::Hard.check().is_ok());
    }
}
