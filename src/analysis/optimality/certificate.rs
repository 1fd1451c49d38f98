//! Result of the test for a local optimum.

use super::bound::{miss_probability, share_not_refuted};
use crate::internal::text::number;
use serde::Serialize;

/// Result of a Monte-Carlo test with one-sided error of whether a model is at a local optimum of a metric
/// (On the Local Optimality of LambdaRank, section 5).
///
/// An improvement that was found is certain. If none was found, the fraction of improving directions is bounded; see
/// [`StepReport::miss`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certificate {
    /// Name of the metric.
    pub metric: String,
    /// Whether lower values are better; a "rise" is then a decrease of the metric.
    pub cost: bool,
    /// Conventions of the evaluation.
    pub conventions: String,
    /// Number of queries.
    pub queries: usize,
    /// Number of documents.
    pub documents: usize,
    /// Number of weights.
    pub weights: usize,
    /// Euclidean norm of the weights, `|w|`.
    pub length: f64,
    /// Whether steps were given as fractions of `|w|`. The steps of reports are distances.
    pub relative: bool,
    /// Metric value at the model's weights.
    pub value: f64,
    /// Fraction of improving directions to refute.
    pub epsilon: f64,
    /// Maximum probability of missing all of them.
    pub delta: f64,
    /// Number of directions planned.
    pub planned_directions: usize,
    /// Number of directions tried; fewer if the search stopped at the first improvement.
    pub directions: usize,
    /// Random seed of the directions.
    pub seed: u64,
    /// One report for each set of steps.
    pub reports: Vec<StepReport>,
}

/// Result for one set of steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport {
    /// Distances by which the weights were moved along each direction.
    pub steps: Vec<f64>,
    /// Number of directions tried.
    pub directions: usize,
    /// Number of directions that improve the metric at one or more steps.
    pub rising: usize,
    /// Number of directions that leave the metric unchanged at every step.
    pub flat: usize,
    /// The move with the largest improvement; its `rise` is negative if every move makes the metric worse.
    pub best: Move,
    /// `(1 - epsilon)^directions`, if no direction improves the metric: an upper bound for the probability of this outcome if a
    /// fraction `epsilon` or more of all directions did improve it at one of these steps. It is NOT the probability that the model is
    /// not at a local optimum.
    pub miss: Option<f64>,
    /// `1 - delta^(1/directions)`, if no direction improves the metric: at confidence `1 - delta`, less than this fraction of all
    /// directions do.
    pub share: Option<f64>,
    /// Minimum, mean and maximum over all directions at each step.
    pub envelope: Vec<Envelope>,
    /// Metric values along the first directions, one value per step.
    pub curves: Vec<Vec<f64>>,
    /// The result as one sentence.
    pub statement: String,
}

/// A move of the weights and its effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Move {
    /// Index of the direction, from 0.
    pub direction: usize,
    /// Distance.
    pub step: f64,
    /// Metric value after the move.
    pub value: f64,
    /// Improvement of the metric; negative if it gets worse.
    pub rise: f64,
}

/// Metric values over all directions at one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Envelope {
    /// Step.
    pub step: f64,
    /// Minimum.
    pub lowest: f64,
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub highest: f64,
}

/// Tolerance for changes of the metric: a mean over queries is exact to about 1e-15.
pub(super) const ROUNDING: f64 = 1e-12;

impl Certificate {
    /// Returns whether no direction improves the metric at any step of any set.
    pub fn holds(&self) -> bool {
        self.reports.iter().all(StepReport::holds)
    }

    /// Formats a distance, as a percentage of `|w|` if steps are relative to it.
    pub fn step(&self, distance: f64) -> String {
        if self.relative { format!("{}%", number(100.0 * distance / self.length)) } else { number(distance) }
    }

    /// Formats the range of steps: "0.1 to 1", or "10% to 100% of |w|".
    pub fn steps(&self, distances: &[f64]) -> String {
        let unit = if self.relative { " of |w|" } else { "" };
        match distances {
            [] => "none".to_owned(),
            [only] => self.step(*only) + unit,
            [first, .., last] => format!("{} to {}{unit}", self.step(*first), self.step(*last)),
        }
    }

    /// Improvement of `value` over the value at the model's weights.
    pub(super) fn improvement(&self, value: f64) -> f64 {
        if self.cost { self.value - value } else { value - self.value }
    }
}

impl StepReport {
    /// Returns whether no direction improves the metric.
    pub fn holds(&self) -> bool {
        self.rising == 0
    }

    /// Summarises `values`, shaped `[directions, steps]`.
    pub(super) fn new(certificate: &Certificate, steps: &[f64], values: &[f64], curves: usize) -> Self {
        let lines: Vec<&[f64]> = values.chunks_exact(steps.len()).collect();
        let directions = lines.len();
        let improvement = |&value: &f64| certificate.improvement(value);
        let rising = lines.iter().filter(|line| line.iter().any(|value| improvement(value) > ROUNDING)).count();
        let flat = lines.iter().filter(|line| line.iter().all(|value| improvement(value).abs() <= ROUNDING)).count();
        let moves = lines.iter().enumerate().flat_map(|(direction, line)| {
            let at = move |(&step, &value)| Move { direction, step, value, rise: certificate.improvement(value) };
            steps.iter().zip(*line).map(at)
        });
        let none = Move { direction: 0, step: 0.0, value: certificate.value, rise: f64::NEG_INFINITY };
        // The first of equal moves, so that the result is deterministic.
        let best = moves.fold(none, |best, next| if next.rise > best.rise { next } else { best });
        let envelope = steps.iter().enumerate().map(|(at, &step)| {
            let column = || lines.iter().map(|line| line[at]);
            Envelope {
                step,
                lowest: column().fold(f64::INFINITY, f64::min),
                mean: column().sum::<f64>() / directions as f64,
                highest: column().fold(f64::NEG_INFINITY, f64::max),
            }
        });
        let mut report = StepReport {
            steps: steps.to_vec(),
            directions,
            rising,
            flat,
            best,
            miss: (rising == 0).then(|| miss_probability(directions, certificate.epsilon)),
            share: (rising == 0).then(|| share_not_refuted(directions, certificate.delta)),
            envelope: envelope.collect(),
            curves: lines.iter().take(curves).map(|line| line.to_vec()).collect(),
            statement: String::new(),
        };
        report.statement = report.describe(certificate);
        report
    }

    fn describe(&self, certificate: &Certificate) -> String {
        let (metric, directions) = (&certificate.metric, self.directions);
        let range = format!("step{} {}", if self.steps.len() == 1 { "" } else { "s" }, certificate.steps(&self.steps));
        let percent = |share: f64| format!("{}%", number(100.0 * share));
        match (self.miss, self.share) {
            (Some(miss), Some(share)) => format!(
                "None of {directions} random directions improves {metric} at {range}. If {} or more of all directions improved it, \
                 {directions} draws would miss them with probability at most {}; at {} confidence fewer than {} improve it.{}",
                percent(certificate.epsilon),
                number(miss),
                percent(1.0 - certificate.delta),
                percent(share),
                if self.flat > 0 { format!(" {} of them leave it unchanged.", self.flat) } else { String::new() }
            ),
            _ => format!(
                "Not a local optimum at {range}: {} of {directions} random directions {improve} {metric}, direction {} by {} at \
                 step {}.",
                self.rising,
                self.best.direction,
                number(self.best.rise),
                certificate.step(self.best.step),
                improve = if self.rising == 1 { "improves" } else { "improve" }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(cost: bool) -> Certificate {
        Certificate {
            metric: "ndcg".into(),
            cost,
            conventions: String::new(),
            queries: 1,
            documents: 2,
            weights: 3,
            length: 1.0,
            relative: false,
            value: 0.5,
            epsilon: 0.01,
            delta: 0.01,
            planned_directions: 2,
            directions: 2,
            seed: 0,
            reports: vec![],
        }
    }

    #[test]
    fn improving_flat_and_worsening_directions_are_counted() {
        let steps = [0.1, 0.2];
        let report = StepReport::new(&about(false), &steps, &[0.4, 0.3, 0.5, 0.5, 0.5, 0.75], 1);
        assert_eq!((report.directions, report.rising, report.flat), (3, 1, 1));
        assert_eq!(report.best, Move { direction: 2, step: 0.2, value: 0.75, rise: 0.25 });
        assert_eq!((report.miss, report.share, report.holds()), (None, None, false));
        assert_eq!(report.envelope[1], Envelope { step: 0.2, lowest: 0.3, mean: 1.55 / 3.0, highest: 0.75 });
        assert_eq!(report.curves, [[0.4, 0.3]]);
        assert!(
            report.statement.starts_with("Not a local optimum at steps 0.1 to 0.2: 1 of 3"),
            "{}",
            report.statement
        );
    }

    #[test]
    fn lower_values_improve_a_cost() {
        let report = StepReport::new(&about(true), &[0.1], &[0.6, 0.7], 0);
        assert!(report.holds());
        assert_eq!(report.best.value, 0.6);
        assert!(!StepReport::new(&about(true), &[0.1], &[0.6, 0.4], 0).holds());
    }

    #[test]
    fn the_statement_contains_the_bound() {
        let values = vec![0.4; 459];
        let report = StepReport::new(&about(false), &[0.1], &values, 0);
        assert_eq!(report.miss, Some(miss_probability(459, 0.01)));
        assert!(report.miss.unwrap() <= 0.01 && report.share.unwrap() <= 0.01);
        let expected = "None of 459 random directions improves ndcg at step 0.1. If 1% or more of all directions improved it, 459 \
                        draws would miss them with probability at most 0.009921; at 99% confidence fewer than 0.9983% improve it.";
        assert_eq!(report.statement, expected);
    }

    #[test]
    fn relative_steps_are_percentages_of_the_norm() {
        let certificate = Certificate { length: 2.5, relative: true, ..about(false) };
        assert_eq!(certificate.step(0.3 * 2.5), "30%");
        assert_eq!(certificate.steps(&[0.001 * 2.5, 0.5 * 2.5, 2.5]), "0.1% to 100% of |w|");
        let report = StepReport::new(&certificate, &[0.25], &[0.75], 0);
        let expected = "Not a local optimum at step 10% of |w|: 1 of 1 random directions improves ndcg, direction 0 by 0.25 at step 10%.";
        assert_eq!(report.statement, expected);
    }

    #[test]
    fn rounding_errors_are_not_improvements() {
        let report = StepReport::new(&about(false), &[0.1], &[0.5 + 1e-16, 0.5 - 1e-14], 0);
        assert_eq!((report.rising, report.flat), (0, 2));
    }
}
