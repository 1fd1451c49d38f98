//! Learning rate schedules: those of the papers, and cosine decay.

use crate::setting::Schedule;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Loss and metric on the training set in one epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TrainingValues {
    pub loss: f64,
    /// The metric, negated if smaller is better.
    pub goodness: f64,
}

impl Schedule {
    /// Factors of the learning rate at the start and the end of epoch number `epoch` (from 1) of `epochs`; batches
    /// interpolate linearly.
    pub(super) fn decay(self, epoch: usize, epochs: usize) -> [f64; 2] {
        let share = |passed: usize| (passed as f64 / epochs.max(1) as f64).min(1.0);
        match self {
            Schedule::Cosine => {
                [epoch - 1, epoch].map(|passed| 0.5 + 0.5 * (std::f64::consts::PI * share(passed)).cos())
            }
            _ => [1.0; 2],
        }
    }

    /// Factor that multiplies the learning rate after an epoch.
    pub(super) fn factor(
        self,
        before: TrainingValues,
        now: TrainingValues,
        loss_is_cost: bool,
        seed: u64,
        epoch: u64,
    ) -> f64 {
        let costlier = now.loss > before.loss;
        let fell = now.goodness < before.goodness;
        match self {
            Schedule::Halve if costlier => 0.5,
            Schedule::Shrink if (loss_is_cost && costlier) || (!loss_is_cost && fell) => 0.8,
            Schedule::ShrinkSometimes if fell => {
                // Drawn from (seed, epoch), so that a resumed run draws the same.
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(epoch);
                if random.random_bool(0.3) { 0.8 } else { 1.0 }
            }
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: TrainingValues = TrainingValues { loss: 1.0, goodness: 0.5 };
    const WORSE: TrainingValues = TrainingValues { loss: 1.1, goodness: 0.4 };
    const BETTER: TrainingValues = TrainingValues { loss: 0.9, goodness: 0.6 };
    const MIXED: TrainingValues = TrainingValues { loss: 1.1, goodness: 0.6 };

    #[test]
    fn learning_rates_shrink_only_when_results_get_worse() {
        for rule in Schedule::ALL {
            assert_eq!(rule.factor(BEFORE, BETTER, true, 1, 1), 1.0);
        }
        assert_eq!(Schedule::Constant.factor(BEFORE, WORSE, true, 1, 1), 1.0);
        assert_eq!(Schedule::Halve.factor(BEFORE, WORSE, false, 1, 1), 0.5);
        assert_eq!(Schedule::Shrink.factor(BEFORE, MIXED, true, 1, 1), 0.8);
        assert_eq!(Schedule::Shrink.factor(BEFORE, MIXED, false, 1, 1), 1.0);
    }

    #[test]
    fn cosine_decays_from_one_to_zero_over_all_epochs() {
        assert_eq!(Schedule::Halve.decay(3, 4), [1.0; 2]);
        let ends = |epoch| Schedule::Cosine.decay(epoch, 4);
        assert_eq!((ends(1)[0], ends(4)[1]), (1.0, 0.0));
        for epoch in 1..4 {
            assert_eq!(ends(epoch)[1], ends(epoch + 1)[0]);
            assert!((ends(epoch)[1] - (0.5 + 0.5 * (epoch as f64 * 45f64.to_radians()).cos())).abs() < 1e-12);
        }
    }

    #[test]
    fn shrink_sometimes_shrinks_three_times_in_ten_and_is_repeatable() {
        let factors =
            |seed| (0..1000).map(|e| Schedule::ShrinkSometimes.factor(BEFORE, WORSE, true, seed, e)).collect();
        let first: Vec<f64> = factors(3);
        let second: Vec<f64> = factors(3);
        assert_eq!(first, second);
        let shrunk = first.iter().filter(|&&f| f == 0.8).count();
        assert!((250..350).contains(&shrunk), "{shrunk}");
    }
}
