//! Weights moved along random directions (section 5).

use super::descent::Net;
use super::setting::Measure;
use burnrank::analysis::optimality::StepReport;
use burnrank::analysis::optimality::{CertifyOptions, certify};
use burnrank::{Dataset, Device};
use serde::{Deserialize, Serialize};

/// Differences of means below this are rounding.
pub const ROUNDING: f64 = 1e-12;

/// What moves along random directions did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Moved {
    /// The measure without a step.
    pub value: f64,
    pub directions: usize,
    /// Directions that do not lower the measure at some step: the paper's count.
    pub not_worse: usize,
    /// Directions that raise it at some step.
    pub better: usize,
    /// For each step: the lowest, mean and highest change over all directions.
    pub change: Vec<[f64; 3]>,
}

/// The measure on the training queries along random directions, one answer for each set of steps.
///
/// `stages` are rising numbers of directions: where none of the first counts, as many as the next says are tried.
pub fn moved(
    net: &Net,
    train: &Dataset,
    measure: Measure,
    (stages, seed, steps): (&[usize], u64, &[&[f64]]),
    device: &Device,
) -> anyhow::Result<Vec<Moved>> {
    let mut answers: Vec<Moved> = vec![];
    for &directions in stages {
        let options = CertifyOptions {
            directions: Some(directions),
            steps: steps.iter().map(|steps| steps.to_vec()).collect(),
            curves: directions,
            seed: seed.wrapping_add(1 << 32),
            ..CertifyOptions::default()
        };
        let found = certify(&net.ranker(device)?, train, &*measure.metric()?, device, &options, &mut |_| ())?;
        let answer = |report: &StepReport| Moved {
            value: found.value,
            directions: report.directions,
            not_worse: count(&report.curves, |value| value - found.value >= -ROUNDING),
            better: count(&report.curves, |value| value - found.value > ROUNDING),
            change: report
                .envelope
                .iter()
                .map(|at| [at.lowest, at.mean, at.highest].map(|value| value - found.value))
                .collect(),
        };
        answers = found.reports.iter().map(answer).collect();
        if answers.iter().any(|answer| answer.not_worse > 0) {
            break;
        }
    }
    Ok(answers)
}

/// Lines with at least one such value.
fn count(curves: &[Vec<f64>], such: impl Fn(f64) -> bool) -> usize {
    curves.iter().filter(|line| line.iter().any(|&value| such(value))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_counts_once_however_often_it_rises() {
        let curves = [vec![0.5, 0.6], vec![0.4, 0.5], vec![0.4, 0.3]];
        assert_eq!(count(&curves, |value| value >= 0.5), 2);
        assert_eq!(count(&curves, |value| value > 0.5), 1);
    }
}
