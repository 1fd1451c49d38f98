//! Equality up to rounding.

/// Relative tolerance for equality: far above the rounding errors of metrics, far below real differences.
pub(super) const ROUNDING: f64 = 1e-12;

/// Returns whether two numbers are equal up to the rounding errors of values of size `scale`.
pub(super) fn equal(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= ROUNDING * scale
}

/// Returns whether all differences are equal up to rounding.
pub(super) fn all_equal(differences: &[f64]) -> bool {
    let largest = differences.iter().fold(0.0_f64, |largest, d| largest.max(d.abs()));
    differences.iter().all(|&d| equal(d, differences[0], largest))
}

/// Differences per query, system minus baseline, without rounding errors: equal values differ by exactly 0, and differences
/// of equal size have exactly the same size. Later counts, ranks and tests can then compare without a tolerance.
///
/// The scale is the larger of the two values, and at least the smaller of 1 and the largest value of all: metrics such as
/// 1 - x have rounding errors of size 1e-16 even where they are small.
pub(super) fn paired(baseline: &[f64], system: &[f64]) -> Vec<f64> {
    let largest = baseline.iter().chain(system).fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let scale = |i: usize| baseline[i].abs().max(system[i].abs()).max(largest.min(1.0));
    let difference = |i: usize| if equal(system[i], baseline[i], scale(i)) { 0.0 } else { system[i] - baseline[i] };
    let mut differences: Vec<f64> = (0..baseline.len()).map(difference).collect();
    let mut order: Vec<usize> = (0..differences.len()).collect();
    order.sort_by(|&a, &b| differences[a].abs().total_cmp(&differences[b].abs()));
    for pair in 1..order.len() {
        let (previous, current) = (order[pair - 1], order[pair]);
        let size = differences[previous].abs();
        if size > 0.0 && equal(differences[current].abs(), size, scale(previous).max(scale(current))) {
            differences[current] = size.copysign(differences[current]);
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_are_not_differences() {
        // 0.1 + 0.2 is not exactly 0.3, and 3 times 1/3 is 1 - 1e-16 in some orders of summation.
        assert_eq!(paired(&[0.3, 1.0, 0.0], &[0.1 + 0.2, 1.0 - 1e-16, 1e-17]), [0.0; 3]);
        // An average relevance position of 1000 has rounding errors of that scale; so do values of 1e-9.
        assert_eq!(paired(&[1000.0, 1e-9], &[1000.0 + 1e-10, 1e-9]), [0.0; 2]);
        assert_eq!(paired(&[1e-9, 2e-9], &[1e-9 + 1e-24, 2e-9]), [0.0; 2]);
    }

    #[test]
    fn small_differences_are_kept() {
        assert_eq!(paired(&[0.5, 0.25], &[0.5 + 1e-9, 0.25]), [0.5 + 1e-9 - 0.5, 0.0]);
        let tiny = paired(&[1e-15, 3e-15], &[2e-15, 3e-15]);
        assert!(tiny[0] > 0.0 && tiny[1] == 0.0);
        // The difference of a query with small values is not lost next to one with large values.
        assert_eq!(paired(&[1e15, 0.5], &[2e15, 0.75]), [1e15, 0.25]);
    }

    #[test]
    fn differences_of_equal_size_become_identical() {
        let (baseline, system) = ([0.1, 0.5, 0.9, 0.3], [0.4, 0.2, 0.6, 0.7]);
        let raw: Vec<f64> = system.iter().zip(baseline).map(|(s, b)| s - b).collect();
        assert!(raw[0] != -raw[1] || raw[1] != raw[2], "rounding makes them differ: {raw:?}");
        let differences = paired(&baseline, &system);
        assert_eq!((differences[0], differences[1]), (-differences[1], differences[2]));
        assert!((differences[0] - 0.3).abs() < 1e-15 && (differences[3] - 0.4).abs() < 1e-15);
    }
}
