//! Holm's correction for multiple tests.

/// Returns Holm's adjusted p-values: with p in ascending order, the i-th of m (from 1) becomes
/// max over j <= i of min(1, (m - j + 1) p_j).
///
/// Rejecting every test whose adjusted value is at most alpha keeps the family-wise error rate at most alpha. NaN values
/// (tests without a result) stay NaN and do not count towards m.
///
/// ```
/// assert_eq!(burnrank::analysis::significance::holm(&[0.25, 0.125]), [0.25, 0.25]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = p.to_vec();
    let mut largest = 0.0_f64;
    for (before, &i) in order.iter().enumerate() {
        largest = largest.max((order.len() - before) as f64 * p[i]).min(1.0);
        adjusted[i] = largest;
    }
    adjusted
}

/// The error that each of several tests is allowed when all of them together are allowed `alpha`, by Holm's method.
///
/// With p sorted upwards, the i-th of m (from 1) is tested at alpha / (m - i + 1) as long as all tests before it were
/// significant; all later tests have the level of the first that was not. Equal p-values have equal levels. A test is
/// significant at its level exactly when its value of [`holm`] is at most alpha. NaN stays NaN and does not count into m.
///
/// ```
/// use burnrank::analysis::significance::holm_levels;
/// assert_eq!(holm_levels(&[0.5, 0.01, 0.03], 0.06), [0.06, 0.02, 0.03]);
/// assert_eq!(holm_levels(&[0.5, 0.01, 0.04], 0.06), [0.03, 0.02, 0.03]);
/// ```
pub fn holm_levels(p: &[f64], alpha: f64) -> Vec<f64> {
    let adjusted = holm(p);
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut levels = vec![f64::NAN; p.len()];
    for (before, &i) in order.iter().enumerate() {
        let previous = before.checked_sub(1).map(|place| order[place]);
        let shared = previous.filter(|&previous| p[previous] == p[i] || adjusted[previous] > alpha);
        levels[i] = shared.map_or(alpha / (order.len() - before) as f64, |previous| levels[previous]);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::super::samples::near;
    use super::*;

    #[test]
    fn agrees_with_statsmodels() {
        // statsmodels 0.15.0, statsmodels.stats.multitest.multipletests(p, method='holm')[1]
        let stored: [(&[f64], &[f64]); 3] = [
            (&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]),
            (&[0.5, 0.5, 0.001], &[1.0, 1.0, 0.003]),
            (&[0.02, 0.02, 0.02, 0.9], &[0.08, 0.08, 0.08, 0.9]),
        ];
        for (p, adjusted) in stored {
            holm(p).iter().zip(adjusted).for_each(|(&got, &expected)| near(got, expected, 1e-12));
        }
    }

    #[test]
    fn tests_without_an_answer_do_not_count() {
        let adjusted = holm(&[0.01, f64::NAN, 0.02]);
        assert_eq!((adjusted[0], adjusted[2]), (0.02, 0.02));
        assert!(adjusted[1].is_nan());
        assert!(holm(&[]).is_empty());
    }
}
