//! Checks on lists with random scores, and the control that the checks can fail.

use super::sides::{BoundChecks, Losses, ROUNDING, sides};
use crate::harness::Control;
use crate::lambdaloss::weights::random_ranked;
use burnrank::numeric::{standard_normal, training_order};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Values of sigma of the logistic losses.
pub const SIGMAS: [f64; 3] = [0.5, 1.0, 2.0];
/// Standard deviations of random scores; 0 makes all scores equal.
pub const SCALES: [f64; 4] = [0.0, 0.1, 1.0, 10.0];

/// Checks lists of 1 to 50 documents with random labels and scores, including ties.
pub fn random_scores(seed: u64, lists: usize) -> anyhow::Result<BoundChecks> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let losses = SIGMAS.iter().map(|&sigma| Losses::new(sigma)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut checks = BoundChecks::default();
    for list in 0..lists {
        let n = random.random_range(1..=50);
        let labels = random_ranked(n, &mut random);
        let scale = SCALES[list % SCALES.len()];
        // One list in five has rounded scores, with ties.
        let score = |random: &mut ChaCha8Rng| scale * standard_normal(random);
        let mut scores: Vec<f32> = (0..n).map(|_| score(&mut random) as f32).collect();
        if list % 5 == 0 {
            scores.iter_mut().for_each(|score| *score = score.round());
        }
        let places = training_order(&scores);
        let ranked: Vec<f32> = places.iter().map(|&place| labels[place]).collect();
        let values = losses[list / SCALES.len() % SIGMAS.len()].values(&scores, &labels)?;
        checks.add(&sides(&ranked, values));
    }
    Ok(checks)
}

/// Control: the checks must fail for losses divided by a hundred.
pub fn weakened(seed: u64) -> anyhow::Result<Control> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let losses = Losses::new(1.0)?;
    let mut checks = BoundChecks::default();
    for _ in 0..100 {
        let ranked = random_ranked(20, &mut random);
        // Descending scores with small differences.
        let scores: Vec<f32> = (0..20).map(|place| -0.01 * place as f32).collect();
        checks.add(&sides(&ranked, losses.values(&scores, &ranked)?.map(|loss| loss / 100.0)));
    }
    // The first six checks are bounds by losses.
    let broken = checks.excess[..6].iter().filter(|&&excess| excess > ROUNDING).count();
    Ok(Control {
        description: "the same checks with the six losses divided by a hundred, 100 random lists".into(),
        expected: "all six bounds fail".into(),
        ours: format!("{broken} of 6 fail"),
        holds: broken == 6,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_on_random_lists_but_not_for_smaller_losses() {
        let checks = random_scores(3, 200).unwrap();
        assert!(checks.excess.iter().all(|&excess| excess < ROUNDING), "{:?}", checks.excess);
        assert!(weakened(3).unwrap().holds, "{:?}", weakened(3).unwrap());
    }
}
