//! Plausibility checks of stored results: a value outside the possible range was not measured.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::RangeInclusive;

/// The result of a run, as stored in `results.json`.
pub trait Finding: Serialize + DeserializeOwned {
    /// Why no run can have this result, or `None` if it is plausible.
    fn impossible(&self) -> Option<String>;
}

/// Tolerance for rounding errors of sums.
const ROUNDING: f64 = 1e-9;

/// Describes the first value outside the range.
pub fn outside(name: &str, range: RangeInclusive<f64>, values: impl IntoIterator<Item = f64>) -> Option<String> {
    let (low, high) = (*range.start(), *range.end());
    let value = values.into_iter().find(|value| !(low - ROUNDING..=high + ROUNDING).contains(value))?;
    Some(format!("{name} is {value}, not from {low} to {high}"))
}

/// As [`outside`], for means of a metric such as NDCG and their standard errors.
pub fn no_share(name: &str, values: impl IntoIterator<Item = f64>) -> Option<String> {
    outside(name, 0.0..=1.0, values)
}

/// Describes the first learning rate that is impossible.
pub fn no_learning_rate(values: impl IntoIterator<Item = f64>) -> Option<String> {
    let value = values.into_iter().find(|&value| value <= 0.0 || !value.is_finite())?;
    Some(format!("the learning rate is {value}, not above 0"))
}

/// Describes a best epoch that was never trained.
pub fn no_epoch(best: usize, epochs: usize) -> Option<String> {
    (best > epochs).then(|| format!("the best epoch is {best} of {epochs}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_described() {
        assert_eq!(no_share("NDCG", [0.0, 0.5, 1.0 + 1e-12]), None);
        assert_eq!(no_share("NDCG", [0.5, 7.0]).as_deref(), Some("NDCG is 7, not from 0 to 1"));
        assert!(no_share("NDCG", [f64::NAN]).is_some() && no_share("NDCG", [-0.1]).is_some());
        assert_eq!(outside("pairs", 0.0..=100.0, [100.5]).as_deref(), Some("pairs is 100.5, not from 0 to 100"));
        assert_eq!((no_learning_rate([1e-6]), no_epoch(3, 3)), (None, None));
        assert!(no_learning_rate([-1e-6]).is_some() && no_epoch(4, 3).is_some());
    }
}
