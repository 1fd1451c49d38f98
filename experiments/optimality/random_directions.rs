//! Steps from a net's weights along random directions (section 5).

use super::descent::Net;
use super::setting::PaperMetric;
use crate::harness::finding::{no_share, outside};
use anyhow::Context;
use burnrank::Dataset;
use burnrank::analysis::optimality::{COARSE_STEPS, CertifyOptions, FINE_STEPS, certify};
use serde::{Deserialize, Serialize};

/// Differences of means below this are rounding errors.
pub const ROUNDING: f64 = 1e-12;
/// Step that decides: 10% of the norm of the weights.
pub const DECIDING: f64 = 0.1;

/// Lengths of steps along each direction.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    pub lengths: &'static [f64],
    /// Whether lengths are shares of the norm of the weights.
    pub relative: bool,
}

pub const RELATIVE: Steps = Steps { lengths: &[0.02, 0.05, DECIDING, 0.2], relative: true };
pub const COARSE: Steps = Steps { lengths: &COARSE_STEPS, relative: false };
pub const FINE: Steps = Steps { lengths: &FINE_STEPS, relative: false };

/// Directions that do not lower the metric.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Counts {
    /// A(w) <= A(w + step r): the paper's count.
    pub not_worse: usize,
    /// A(w) < A(w + step r).
    pub better: usize,
}

/// Directions at one step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AtStep {
    pub step: f64,
    #[serde(flatten)]
    pub counts: Counts,
    /// The lowest, mean and highest change of the metric over all directions.
    pub change: [f64; 3],
}

/// Changes of the metric along random directions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Directions {
    /// Value of the metric without a step.
    pub value: f64,
    /// Norm of the weights.
    pub length: f64,
    pub directions: usize,
    /// Directions that count at one step or more.
    pub any: Counts,
    pub steps: Vec<AtStep>,
}

/// Evaluates the metric on training queries along random directions.
///
/// `stages` are increasing numbers of directions: the next stage runs only if no direction of the previous one counts.
pub fn try_directions(
    net: &Net,
    train: &Dataset,
    metric: PaperMetric,
    (stages, seed, Steps { lengths, relative }): (&[usize], u64, Steps),
) -> anyhow::Result<Directions> {
    let (ranker, metric) = (net.ranker()?, metric.parse()?);
    let mut result = None;
    for &directions in stages {
        let options = CertifyOptions {
            directions: Some(directions),
            steps: vec![lengths.to_vec()],
            relative,
            curves: directions,
            seed: seed.wrapping_add(1 << 32),
            ..CertifyOptions::default()
        };
        let certificate = certify(&ranker, train, &*metric, &net.device, &options, &mut |_| ())?;
        let (value, report) = (certificate.value, &certificate.reports[0]);
        let changes: Vec<Vec<f64>> =
            report.curves.iter().map(|curve| curve.iter().map(|at| at - value).collect()).collect();
        let found = Directions {
            value,
            length: certificate.length,
            directions,
            any: Counts::of(&changes),
            steps: (0..lengths.len()).map(|place| AtStep::of(lengths[place], place, &changes)).collect(),
        };
        let last = found.any.not_worse > 0;
        result = Some(found);
        if last {
            break;
        }
    }
    result.context("no directions")
}

impl Counts {
    /// Counts each direction once, whatever the number of its steps.
    fn of(changes: &[impl AsRef<[f64]>]) -> Counts {
        let count = |above: f64| changes.iter().filter(|line| line.as_ref().iter().any(|at| *at > above)).count();
        Counts { not_worse: count(-ROUNDING), better: count(ROUNDING) }
    }
}

impl AtStep {
    fn of(step: f64, place: usize, changes: &[Vec<f64>]) -> AtStep {
        let column: Vec<[f64; 1]> = changes.iter().map(|line| [line[place]]).collect();
        let values = || column.iter().map(|value| value[0]);
        let change = [
            values().fold(f64::INFINITY, f64::min),
            values().sum::<f64>() / column.len() as f64,
            values().fold(f64::NEG_INFINITY, f64::max),
        ];
        AtStep { step, counts: Counts::of(&column), change }
    }
}

impl Directions {
    /// Counts at a step of this length, or at any step.
    pub fn at(&self, step: Option<f64>) -> Counts {
        let found = |step: f64| self.steps.iter().find(|at| at.step == step).map(|at| at.counts);
        step.map_or(self.any, |step| found(step).unwrap_or_default())
    }

    /// Share of directions that do not lower the metric at a step of this length, or at any step.
    pub fn share(&self, step: Option<f64>) -> f64 {
        self.at(step).not_worse as f64 / self.directions as f64
    }

    /// "3 of 459", by the paper's count.
    pub fn text(&self, step: Option<f64>) -> String {
        format!("{} of {}", self.at(step).not_worse, self.directions)
    }

    /// Why no run can have this result.
    pub fn impossible(&self) -> Option<String> {
        no_share("a training value", [self.value]).or_else(|| {
            let counts = self.steps.iter().map(|at| at.counts).chain([self.any]);
            outside("a number of directions", 0.0..=self.directions as f64, counts.map(|c| c.not_worse as f64))
        })
    }
}

/// "2% of |w|", or "0.1".
pub fn step_name(step: f64, relative: bool) -> String {
    let number = burnrank::internal::text::number;
    if relative { format!("{}% of |w|", number(100.0 * step)) } else { number(step) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_counts_once() {
        let changes = vec![vec![0.0, 0.1], vec![-0.1, 0.0], vec![-0.1, -0.2], vec![-0.1, 1e-15]];
        let all = Counts::of(&changes);
        assert_eq!((all.not_worse, all.better), (3, 1));
        let second = AtStep::of(0.2, 1, &changes);
        assert_eq!((second.counts.not_worse, second.counts.better, second.change[0]), (3, 1, -0.2));
    }
}
