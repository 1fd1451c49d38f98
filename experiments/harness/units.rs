//! Reduces many runs to one number per unit: seeds and queries are nested in the unit of inference and averaged first.

pub use burnrank::numeric::mean;
use std::collections::BTreeMap;

/// Mean of each unit's numbers, in the order of the units.
pub fn by_unit<K: Ord>(numbers: impl IntoIterator<Item = (K, f64)>) -> Vec<f64> {
    let mut all: BTreeMap<K, (f64, usize)> = BTreeMap::new();
    for (unit, number) in numbers {
        let (sum, n) = all.entry(unit).or_default();
        *sum += number;
        *n += 1;
    }
    all.into_values().map(|(sum, n)| sum / n as f64).collect()
}

/// First minus second, per unit.
pub fn less(first: &[f64], second: &[f64]) -> Vec<f64> {
    assert_eq!(first.len(), second.len(), "differences are between the same units");
    first.iter().zip(second).map(|(first, second)| first - second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_averaged_within_their_unit() {
        let runs = [(1, 0.0), (0, 1.0), (1, 1.0), (0, 3.0)];
        assert_eq!(by_unit(runs), [2.0, 0.5]);
        assert_eq!(less(&by_unit(runs), &[1.0, 1.0]), [1.0, -0.5]);
        assert!(mean(&[]).is_nan() && mean(&[1.0, 2.0]) == 1.5);
    }
}
