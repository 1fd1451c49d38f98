//! RankNet with arbitrary target probabilities for explicit pairs.

use super::super::loss::{QueryResult, SATURATED};
use crate::data::PairTarget;
use crate::error::{Error, Result};
use crate::numeric::order::safe;
use crate::numeric::{sigmoid, softplus};

/// RankNet's cost `C = sum of -P o + ln(1 + e^o)`, `o = sigma (s_i - s_j)`, in nats (Eq. 3), and its gradient.
///
/// `gradient` is overwritten with `dC/ds` of each document.
///
/// # Errors
/// Returns an error if a pair refers to a document that does not exist or has a probability outside 0 to 1.
///
/// ```
/// use burnrank::data::PairTarget;
/// use burnrank::objective::ranknet_pairs;
/// let mut gradient = [0.0; 2];
/// let pair = PairTarget { i: 0, j: 1, probability: 1.0 };
/// let result = ranknet_pairs(&[0.0, 0.0], &[pair], 1.0, &mut gradient)?;
/// assert_eq!((result.loss, gradient), (2f64.ln(), [-0.5, 0.5]));
/// # Ok::<(), burnrank::Error>(())
/// ```
pub fn ranknet_pairs(scores: &[f32], pairs: &[PairTarget], sigma: f64, gradient: &mut [f32]) -> Result<QueryResult> {
    if gradient.len() != scores.len() {
        return Err(Error::Mismatch(format!("{} scores, {} gradients", scores.len(), gradient.len())));
    }
    let mut sums = vec![0.0; scores.len()];
    let mut result = QueryResult { pairs: pairs.len() as u64, ..QueryResult::default() };
    for &PairTarget { i, j, probability } in pairs {
        let (Some(&first), Some(&second)) = (scores.get(i), scores.get(j)) else {
            return Err(Error::Mismatch(format!("pair ({i}, {j}) in a query of {} documents", scores.len())));
        };
        if !(0.0..=1.0).contains(&probability) {
            return Err(Error::Mismatch(format!(
                "pair ({i}, {j}) has probability {probability}: expected a number from 0 to 1"
            )));
        }
        let output = sigma * (f64::from(safe(first)) - f64::from(safe(second)));
        // Equals -P o + ln(1 + e^o), as a sum of two positive terms without cancellation.
        result.loss += probability * softplus(-output) + (1.0 - probability) * softplus(output);
        let factor = sigmoid(output) - probability;
        result.saturated += u64::from(factor.abs() < SATURATED);
        sums[i] += sigma * factor;
        sums[j] -= sigma * factor;
    }
    gradient.iter_mut().zip(&sums).for_each(|(to, &from)| *to = from as f32);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f32; 4] = [0.3, -1.2, 2.0, 0.1];
    const PAIRS: [PairTarget; 4] = [
        PairTarget { i: 0, j: 1, probability: 0.9 },
        PairTarget { i: 2, j: 1, probability: 0.0 },
        PairTarget { i: 3, j: 2, probability: 0.5 },
        PairTarget { i: 0, j: 3, probability: 0.25 },
    ];

    #[test]
    fn the_cost_is_equation_3() {
        let mut gradient = [0.0; 4];
        let cost = ranknet_pairs(&SCORES, &PAIRS, 1.0, &mut gradient).unwrap().loss;
        let expected: f64 = PAIRS
            .iter()
            .map(|pair| {
                let output = f64::from(SCORES[pair.i]) - f64::from(SCORES[pair.j]);
                -pair.probability * output + (1.0 + output.exp()).ln()
            })
            .sum();
        assert!((cost - expected).abs() < 1e-12);
        assert!(gradient.iter().sum::<f32>().abs() < 1e-6);
    }

    #[test]
    fn gradient_is_the_derivative_of_the_cost() {
        let (sigma, step) = (1.7, 1e-3f32);
        let mut gradient = [0.0; 4];
        ranknet_pairs(&SCORES, &PAIRS, sigma, &mut gradient).unwrap();
        for document in 0..4 {
            let cost = |shift: f32| {
                let mut scores = SCORES;
                scores[document] += shift;
                (ranknet_pairs(&scores, &PAIRS, sigma, &mut [0.0; 4]).unwrap().loss, f64::from(scores[document]))
            };
            let ((up, right), (down, left)) = (cost(step), cost(-step));
            assert!(((up - down) / (right - left) - f64::from(gradient[document])).abs() < 1e-5);
        }
    }

    #[test]
    fn invalid_pairs_are_refused_and_extreme_scores_are_not() {
        let scores = [f32::NAN, f32::INFINITY, 1e30];
        let run = |i, j, probability| {
            let mut gradient = [0.0; 3];
            ranknet_pairs(&scores, &[PairTarget { i, j, probability }], 1.0, &mut gradient)
                .map(|result| (result.loss, gradient))
        };
        assert!(run(0, 3, 0.5).is_err());
        assert!(run(0, 1, 1.5).is_err());
        assert!(run(0, 1, f64::NAN).is_err());
        let (cost, gradient) = run(0, 1, 1.0).unwrap();
        assert!(cost.is_finite());
        assert_eq!(gradient, [-1.0, 1.0, 0.0]);
        assert!(ranknet_pairs(&scores, &[], 1.0, &mut [0.0]).is_err());
    }
}
