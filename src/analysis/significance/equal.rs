//! What counts as equal: numbers that differ by rounding only.

/// Rounding errors of a measure stay far below this share of its values; real differences stay far above.
pub(super) const ROUNDING: f64 = 1e-12;

/// Whether two numbers are the same but for the rounding errors of values of size `scale`.
pub(super) fn equal(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= ROUNDING * scale
}

/// Whether all differences are the same but for rounding.
pub(super) fn all_equal(differences: &[f64]) -> bool {
    let largest = differences.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
    differences.iter().all(|&d| equal(d, differences[0], largest))
}

/// System less baseline, query by query, freed of rounding: equal values differ by exactly 0, and differences of equal size
/// have exactly the same size. Every count, rank and test that follows may then compare without a tolerance.
///
/// The scale is that of the two values. It is also at least 1, or the largest value of all where that is less: measures such
/// as 1 - x round at the size of 1, however small they are.
pub(super) fn paired(baseline: &[f64], system: &[f64]) -> Vec<f64> {
    let most = baseline.iter().chain(system).fold(0.0_f64, |most, value| most.max(value.abs()));
    let scale = |i: usize| baseline[i].abs().max(system[i].abs()).max(most.min(1.0));
    let difference = |i: usize| if equal(system[i], baseline[i], scale(i)) { 0.0 } else { system[i] - baseline[i] };
    let mut differences: Vec<f64> = (0..baseline.len()).map(difference).collect();
    let mut order: Vec<usize> = (0..differences.len()).collect();
    order.sort_by(|&a, &b| differences[a].abs().total_cmp(&differences[b].abs()));
    for pair in 1..order.len() {
        let (before, here) = (order[pair - 1], order[pair]);
        let size = differences[before].abs();
        if size > 0.0 && equal(differences[here].abs(), size, scale(before).max(scale(here))) {
            differences[here] = size.copysign(differences[here]);
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_difference() {
        // 0.1 + 0.2 is not 0.3, and 1 / 3 three times over is not 1 - 1e-16.
        assert_eq!(paired(&[0.3, 1.0, 0.0], &[0.1 + 0.2, 1.0 - 1e-16, 1e-17]), [0.0; 3]);
        // An average relevance position of a thousand rounds at that size; so do values of a billionth.
        assert_eq!(paired(&[1000.0, 1e-9], &[1000.0 + 1e-10, 1e-9]), [0.0; 2]);
        assert_eq!(paired(&[1e-9, 2e-9], &[1e-9 + 1e-24, 2e-9]), [0.0; 2]);
    }

    #[test]
    fn small_differences_stay() {
        assert_eq!(paired(&[0.5, 0.25], &[0.5 + 1e-9, 0.25]), [0.5 + 1e-9 - 0.5, 0.0]);
        let tiny = paired(&[1e-15, 3e-15], &[2e-15, 3e-15]);
        assert!(tiny[0] > 0.0 && tiny[1] == 0.0);
        // The difference of a query of small values is not lost beside one of large values.
        assert_eq!(paired(&[1e15, 0.5], &[2e15, 0.75]), [1e15, 0.25]);
    }

    #[test]
    fn differences_of_one_size_become_the_same() {
        let (baseline, system) = ([0.1, 0.5, 0.9, 0.3], [0.4, 0.2, 0.6, 0.7]);
        let raw: Vec<f64> = system.iter().zip(baseline).map(|(s, b)| s - b).collect();
        assert!(raw[0] != -raw[1] || raw[1] != raw[2], "rounding tells them apart: {raw:?}");
        let found = paired(&baseline, &system);
        assert_eq!((found[0], found[1]), (-found[1], found[2]));
        assert!((found[0] - 0.3).abs() < 1e-15 && (found[3] - 0.4).abs() < 1e-15);
    }
}
