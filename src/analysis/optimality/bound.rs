//! Number of random directions to try, and the bounds that follow if none improves the metric.

use crate::error::{Error, Result};

/// `K = ceil(ln delta / ln(1 - epsilon))`: if a fraction `epsilon` of all directions improved the metric, `K` random directions would
/// contain one of them with probability at least `1 - delta` (On the Local Optimality of LambdaRank, section 5).
///
/// ```
/// assert_eq!(burnrank::analysis::optimality::directions_needed(0.01, 0.01)?, 459);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// If `epsilon` or `delta` is not between 0 and 1, or more than 10,000,000 directions are needed.
pub fn directions_needed(epsilon: f64, delta: f64) -> Result<usize> {
    for (name, value) in [("epsilon", epsilon), ("delta", delta)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(Error::Config(format!("{name} {value}: expected a number between 0 and 1")));
        }
    }
    // ln_1p because ln(1 - epsilon) loses precision for small epsilon.
    let needed = (delta.ln() / (-epsilon).ln_1p()).ceil().max(1.0);
    if needed > 1e7 {
        return Err(Error::Config(format!(
            "epsilon {epsilon} and delta {delta} need {needed} directions, more than the maximum of 10000000: increase one of them"
        )));
    }
    Ok(needed as usize)
}

/// `(1 - epsilon)^K`: the probability that none of `K` random directions improves the metric although a fraction `epsilon` of all
/// directions does. An upper bound for every larger fraction.
///
/// ```
/// assert!((burnrank::analysis::optimality::miss_probability(459, 0.01) - 0.0099).abs() < 1e-4);
/// ```
pub fn miss_probability(directions: usize, epsilon: f64) -> f64 {
    ((-epsilon).ln_1p() * directions as f64).exp()
}

/// `1 - delta^(1/K)`: upper confidence bound, at level `1 - delta`, for the fraction of improving directions if none of `K` random
/// directions improves the metric.
///
/// ```
/// assert!(burnrank::analysis::optimality::share_not_refuted(459, 0.01) < 0.01);
/// assert!(burnrank::analysis::optimality::share_not_refuted(458, 0.01) > 0.01);
/// ```
pub fn share_not_refuted(directions: usize, delta: f64) -> f64 {
    if directions == 0 { 1.0 } else { -(delta.ln() / directions as f64).exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_number_of_directions() {
        // "Requiring that epsilon = 0.01 and delta = 0.01, we obtain K = ln(0.01)/ln(1 - 0.01) = 459."
        assert_eq!(directions_needed(0.01, 0.01).unwrap(), 459);
        assert_eq!(directions_needed(0.5, 0.5).unwrap(), 1);
        assert_eq!(directions_needed(0.05, 0.01).unwrap(), (0.01f64.ln() / 0.95f64.ln()).ceil() as usize);
    }

    #[test]
    fn the_number_of_directions_is_minimal() {
        for epsilon in [0.3, 0.05, 0.01, 1e-4] {
            for delta in [0.2, 0.01, 1e-6] {
                let k = directions_needed(epsilon, delta).unwrap();
                assert!(miss_probability(k, epsilon) <= delta * (1.0 + 1e-9));
                assert!(miss_probability(k - 1, epsilon) > delta * (1.0 - 1e-9));
                assert!(share_not_refuted(k, delta) <= epsilon * (1.0 + 1e-9));
            }
        }
    }

    #[test]
    fn invalid_input_is_rejected() {
        for (epsilon, delta) in [(0.0, 0.1), (1.0, 0.1), (0.1, f64::NAN), (0.1, 1.5), (1e-12, 0.01)] {
            assert!(directions_needed(epsilon, delta).is_err());
        }
        assert_eq!(share_not_refuted(0, 0.01), 1.0);
    }
}
