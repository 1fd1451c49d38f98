//! Steps from a net's weights along random directions (section 5).

use super::descent::Net;
use super::setting::PaperMetric;
use burnrank::analysis::optimality::{CertifyOptions, StepReport, certify};
use burnrank::{Dataset, Device};
use serde::{Deserialize, Serialize};

/// Differences of means below this are rounding errors.
pub const ROUNDING: f64 = 1e-12;

/// Changes of the metric along random directions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DirectionCounts {
    /// Value of the metric without a step.
    pub value: f64,
    pub directions: usize,
    /// Directions that do not lower the metric at some step: the paper's count.
    pub not_worse: usize,
    /// Directions that raise it at some step.
    pub better: usize,
    /// For each step: the lowest, mean and highest change over all directions.
    pub change: Vec<[f64; 3]>,
}

/// Evaluates the metric on the training queries along random directions, for each set of steps.
///
/// `stages` are increasing numbers of directions: the next stage runs only if no direction of the previous one counts.
pub fn try_directions(
    net: &Net,
    train: &Dataset,
    metric: PaperMetric,
    (stages, seed, steps): (&[usize], u64, &[&[f64]]),
    device: &Device,
) -> anyhow::Result<Vec<DirectionCounts>> {
    let mut counts: Vec<DirectionCounts> = vec![];
    for &directions in stages {
        let options = CertifyOptions {
            directions: Some(directions),
            steps: steps.iter().map(|steps| steps.to_vec()).collect(),
            relative: false,
            curves: directions,
            seed: seed.wrapping_add(1 << 32),
            ..CertifyOptions::default()
        };
        let certificate = certify(&net.ranker(device)?, train, &*metric.parse()?, device, &options, &mut |_| ())?;
        let start = certificate.value;
        let count = |report: &StepReport| DirectionCounts {
            value: start,
            directions: report.directions,
            not_worse: curves_with(&report.curves, |value| value - start >= -ROUNDING),
            better: curves_with(&report.curves, |value| value - start > ROUNDING),
            change: report
                .envelope
                .iter()
                .map(|at| [at.lowest, at.mean, at.highest].map(|value| value - start))
                .collect(),
        };
        counts = certificate.reports.iter().map(count).collect();
        if counts.iter().any(|count| count.not_worse > 0) {
            break;
        }
    }
    Ok(counts)
}

/// Number of curves with at least one value that satisfies the condition.
fn curves_with(curves: &[Vec<f64>], condition: impl Fn(f64) -> bool) -> usize {
    curves.iter().filter(|curve| curve.iter().any(|&value| condition(value))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_counts_once() {
        let curves = [vec![0.5, 0.6], vec![0.4, 0.5], vec![0.4, 0.3]];
        assert_eq!(curves_with(&curves, |value| value >= 0.5), 2);
        assert_eq!(curves_with(&curves, |value| value > 0.5), 1);
    }
}
