//! The paper's formulas in double precision, as references for the objectives.
//!
//! Positions count from 0: the document at position `i` has rank `i + 1`.

use super::losses::{LAMBDARANK, LOSSES};
use crate::harness::Control;
use burnrank::Objective;
use burnrank::metric::{Gain, max_dcg};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// `1 / D` of the document at position `i`: `D = log2(1 + rank)`.
pub fn discount(i: usize) -> f64 {
    1.0 / (2.0 + i as f64).log2()
}

/// `G = (2^y - 1) / maxDCG` of every document of a ranked list; all 0 without relevant documents.
pub fn gains(ranked: &[f32], k: Option<usize>) -> Vec<f64> {
    let ideal = max_dcg(ranked, k, Gain::Exponential);
    let gain = |&label: &f32| if ideal > 0.0 { (f64::from(label).exp2() - 1.0) / ideal } else { 0.0 };
    ranked.iter().map(gain).collect()
}

/// `rho = |1/D_i - 1/D_j|`.
pub fn rho(i: usize, j: usize) -> f64 {
    (discount(i) - discount(j)).abs()
}

/// `delta = |1/D_|i-j| - 1/D_(|i-j|+1)|` (Eq. 15); 0 for `i = j`.
pub fn delta(i: usize, j: usize) -> f64 {
    match i.abs_diff(j) {
        0 => 0.0,
        distance => (discount(distance - 1) - discount(distance)).abs(),
    }
}

/// Random labels 0 to 4 of a ranked list.
pub fn random_ranked(n: usize, random: &mut ChaCha8Rng) -> Vec<f32> {
    (0..n).map(|_| f32::from(random.random_range(0..5u8))).collect()
}

/// Control: NDCG-Loss2++ with mu = 0 is LambdaRank, truncated at each `k` or of all pairs.
pub fn same_as_lambdarank(ks: &[Option<usize>]) -> Control {
    let gap = ks.iter().map(|&k| largest_gap_to_lambdarank(k)).fold(0.0, f64::max);
    let names: Vec<String> =
        ks.iter().map(|k| k.map_or("of all pairs".to_owned(), |k| format!("truncated at {k}"))).collect();
    Control {
        description: format!(
            "NDCG-Loss2++ with mu = 0 has LambdaRank's weights ({}), 200 random lists",
            names.join(", ")
        ),
        expected: "equal to 1e-12".into(),
        ours: format!("largest difference {gap:.1e}"),
        holds: gap < 1e-12,
    }
}

/// Largest difference between the weight of NDCG-Loss2++ with mu = 0 and `rho |G_i - G_j|` (0 for pairs below the top `k`),
/// over 200 random lists. Without truncation, `lambdarank:ndcg` must agree too.
fn largest_gap_to_lambdarank(k: Option<usize>) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let mut names = vec![LOSSES[LAMBDARANK].objective(k)];
    if k.is_none() {
        names.push("lambdarank:ndcg".into());
    }
    let objectives: Vec<Objective> = names.iter().filter_map(|name| Objective::parse(name).ok()).collect();
    let mut largest = if objectives.len() == names.len() { 0.0_f64 } else { f64::INFINITY };
    for n in (0..200).map(|list| 2 + list % 40) {
        let ranked = random_ranked(n, &mut random);
        let gains = gains(&ranked, k);
        for objective in &objectives {
            let Some(loss) = objective.loss().as_pairs() else { return f64::INFINITY };
            let weights = loss.weights(&ranked);
            for i in 0..n {
                for j in (0..n).filter(|&j| ranked[i] > ranked[j]) {
                    let kept = k.is_none_or(|k| i.min(j) < k);
                    let expected = if kept { rho(i, j) * (gains[i] - gains[j]).abs() } else { 0.0 };
                    largest = largest.max((weights.get(i, j) - expected).abs());
                }
            }
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_sum_to_the_discount() {
        // 1 - 1/D_i is the sum of delta_ij over the ranks above i.
        for i in 0..60 {
            let sum: f64 = (0..i).map(|j| delta(i, j)).sum();
            assert!((sum - (1.0 - discount(i))).abs() < 1e-12);
        }
    }

    #[test]
    fn mu_zero_is_lambdarank() {
        for k in [None, Some(1), Some(5)] {
            assert!(largest_gap_to_lambdarank(k) < 1e-12);
        }
    }
}
