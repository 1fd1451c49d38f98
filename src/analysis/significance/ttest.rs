//! Student's paired t-test and its effect size.

use super::equal::all_equal;
use super::{all_finite, deviation, mean};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Result of [`t_test`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TTest {
    /// t = mean / (deviation / sqrt n).
    pub statistic: f64,
    /// n - 1.
    pub degrees_of_freedom: usize,
    /// Two-sided p-value.
    pub p: f64,
}

/// Student's paired t-test: t = mean(d) / (s / sqrt n), where s is the standard deviation (n - 1) of the differences, with n - 1
/// degrees of freedom.
///
/// If every difference is 0, t is 0 and p is 1. Returns `None` for fewer than two differences, for values that are not finite,
/// and if all differences are equal (up to rounding) but not 0: with a deviation of 0, p would be 0 for any mean.
///
/// ```
/// let test = burnrank::analysis::significance::t_test(&[1.0, 2.0, 3.0]).unwrap();
/// assert!((test.statistic - 12f64.sqrt()).abs() < 1e-12); // 2 / (1 / sqrt 3)
/// assert!((test.p - 0.0741799).abs() < 1e-7);
/// ```
pub fn t_test(differences: &[f64]) -> Option<TTest> {
    let n = differences.len();
    if n < 2 || !all_finite(differences) {
        return None;
    }
    let degrees_of_freedom = n - 1;
    if differences.iter().all(|&d| d == 0.0) {
        return Some(TTest { statistic: 0.0, degrees_of_freedom, p: 1.0 });
    }
    let statistic = effect_size(differences)? * (n as f64).sqrt();
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom as f64).ok()?;
    let p = (2.0 * student.sf(statistic.abs())).min(1.0);
    (statistic.is_finite() && p.is_finite()).then_some(TTest { statistic, degrees_of_freedom, p })
}

/// Cohen's d_z = mean(d) / s: the mean difference in standard deviations of the differences.
///
/// 0 if every difference is 0; `None` where [`t_test`] returns `None`.
pub fn effect_size(differences: &[f64]) -> Option<f64> {
    if differences.len() < 2 || !all_finite(differences) {
        return None;
    }
    if differences.iter().all(|&d| d == 0.0) {
        return Some(0.0);
    }
    // The result is scale-free: scale so that squares neither overflow nor underflow.
    let largest = differences.iter().fold(0.0_f64, |largest, d| largest.max(d.abs()));
    let scaled: Vec<f64> = differences.iter().map(|d| d / largest).collect();
    let effect = mean(&scaled) / deviation(&scaled);
    (!all_equal(differences) && effect.is_finite()).then_some(effect)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{coarse, near, smooth, ten};
    use super::*;

    #[test]
    fn agrees_with_scipy() {
        // SciPy 1.17.1, scipy.stats.ttest_rel(system, baseline): statistic and pvalue.
        let stored: [(Vec<f64>, f64, f64); 11] = [
            (ten(), 2.657419292128989, 0.026156189319964857),
            (ten()[..2].to_vec(), 0.636363636363636, 0.639208974546128),
            (smooth(30, 0.0), 0.2839463769399532, 0.7784689855817365),
            (smooth(60, 0.0), 0.23882726191444942, 0.8120671627081891),
            (smooth(30, 0.25), 3.4046966508936785, 0.0019564109538573434),
            (smooth(50, 0.25), 3.955118609403516, 0.0002461491935865842),
            (smooth(60, 0.25), 4.899632675301177, 7.840700720789191e-06),
            (smooth(2000, 0.1), 10.868075772298194, 9.023945210986712e-27),
            (coarse(8, 0.125), 1.1803052118500508, 0.27642815931800496),
            (coarse(20, 0.0), 0.20856745091766976, 0.8370055568028789),
            (coarse(60, 0.25), 4.993016002102784, 5.588701414120888e-06),
        ];
        for (differences, statistic, p) in stored {
            let test = t_test(&differences).unwrap();
            near(test.statistic, statistic, 1e-9);
            near(test.p, p, 1e-8);
        }
    }

    #[test]
    fn the_effect_size_is_scale_free() {
        let scaled: Vec<f64> = ten().iter().map(|d| d * 1e6).collect();
        near(effect_size(&scaled).unwrap(), effect_size(&ten()).unwrap(), 1e-12);
        for scale in [f64::MAX, f64::MIN_POSITIVE] {
            near(effect_size(&[scale, scale / 2.0]).unwrap(), effect_size(&[1.0, 0.5]).unwrap(), 1e-12);
        }
        near(effect_size(&ten()).unwrap(), 2.657419292128989 / 10f64.sqrt(), 1e-9);
    }

    #[test]
    fn edge_cases() {
        assert_eq!(t_test(&[0.0, 0.0]), Some(TTest { statistic: 0.0, degrees_of_freedom: 1, p: 1.0 }));
        for none in [&[][..], &[1.0], &[0.1; 7], &[0.3, 0.1 + 0.2], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!((t_test(none), effect_size(none)), (None, None), "{none:?}");
        }
    }
}
