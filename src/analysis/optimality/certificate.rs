//! What random directions say about a local optimum, and how sure that is.

use super::bound::{miss_probability, share_not_refuted};
use crate::internal::text::number;
use serde::Serialize;

/// The answer to "is this model at a local optimum of the measure?": a Monte-Carlo test with one-sided error
/// (On the Local Optimality of LambdaRank, section 5).
///
/// A rise that was found is a fact. That none was found bounds the share of directions that rise; see [`StepReport::miss`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certificate {
    /// The measure.
    pub metric: String,
    /// Whether smaller values are better; a "rise" is then a fall of the measure.
    pub cost: bool,
    /// How rankings were judged.
    pub conventions: String,
    /// The number of queries.
    pub queries: usize,
    /// The number of documents.
    pub documents: usize,
    /// The number of weights.
    pub weights: usize,
    /// The Euclidean length of the weights, which steps compare to.
    pub length: f64,
    /// The measure at the model's own weights.
    pub value: f64,
    /// The share of rising directions that was to be refuted.
    pub epsilon: f64,
    /// The probability that was allowed for missing them all.
    pub delta: f64,
    /// How many directions were to be tried.
    pub planned_directions: usize,
    /// How many were: fewer when the first rise ended the search.
    pub directions: usize,
    /// What the directions follow from.
    pub seed: u64,
    /// One report for each set of steps.
    pub reports: Vec<StepReport>,
}

/// What one set of steps showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport {
    /// How far the weights were moved along each direction.
    pub steps: Vec<f64>,
    /// How many directions were tried.
    pub directions: usize,
    /// How many raise the measure at one step or more.
    pub rising: usize,
    /// How many leave the measure exactly as it is at every step.
    pub flat: usize,
    /// The largest change for the better; negative when every move makes it worse.
    pub best: Move,
    /// `(1 - epsilon)^tried`, when nothing rises: the probability, at most, of seeing no rise if a share `epsilon` or more of
    /// all directions did rise at one of these steps. It is NOT the probability that the model is no local optimum.
    pub miss: Option<f64>,
    /// `1 - delta^(1/tried)`, when nothing rises: at confidence `1 - delta`, fewer than this share of all directions rise.
    pub share: Option<f64>,
    /// The extremes over all directions at each step.
    pub envelope: Vec<Envelope>,
    /// The values of the measure along the first few directions, one number per step.
    pub curves: Vec<Vec<f64>>,
    /// All of it in one sentence.
    pub statement: String,
}

/// A move of the weights and what it did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Move {
    /// Which direction, from 0.
    pub direction: usize,
    /// How far.
    pub step: f64,
    /// The measure there.
    pub value: f64,
    /// The change for the better.
    pub rise: f64,
}

/// The measure over all directions, one step away.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Envelope {
    /// The step.
    pub step: f64,
    /// The lowest value.
    pub lowest: f64,
    /// The mean value.
    pub mean: f64,
    /// The highest value.
    pub highest: f64,
}

/// Differences below this are rounding: a mean over queries is exact to about 1e-15.
pub(super) const ROUNDING: f64 = 1e-12;

impl Certificate {
    /// Whether no direction rises at any step of any set.
    pub fn holds(&self) -> bool {
        self.reports.iter().all(StepReport::holds)
    }
}

impl StepReport {
    /// Whether no direction rises.
    pub fn holds(&self) -> bool {
        self.rising == 0
    }

    /// Sums up `values`, the steps of a direction side by side.
    pub(super) fn new(about: &Certificate, steps: &[f64], values: &[f64], curves: usize) -> Self {
        let better = |value: f64| if about.cost { about.value - value } else { value - about.value };
        let lines: Vec<&[f64]> = values.chunks_exact(steps.len()).collect();
        let directions = lines.len();
        let rising = lines.iter().filter(|line| line.iter().any(|&value| better(value) > ROUNDING)).count();
        let flat = lines.iter().filter(|line| line.iter().all(|&value| better(value).abs() <= ROUNDING)).count();
        let moves = lines.iter().enumerate().flat_map(|(direction, line)| {
            let at = move |(&step, &value)| Move { direction, step, value, rise: better(value) };
            steps.iter().zip(*line).map(at)
        });
        let none = Move { direction: 0, step: 0.0, value: about.value, rise: f64::NEG_INFINITY };
        // The first of equals, so that the answer does not depend on anything else.
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
            miss: (rising == 0).then(|| miss_probability(directions, about.epsilon)),
            share: (rising == 0).then(|| share_not_refuted(directions, about.delta)),
            envelope: envelope.collect(),
            curves: lines.iter().take(curves).map(|line| line.to_vec()).collect(),
            statement: String::new(),
        };
        report.statement = report.say(about);
        report
    }

    fn say(&self, about: &Certificate) -> String {
        let (metric, directions) = (&about.metric, self.directions);
        let range = self.range();
        let (verb, verbs) = if about.cost { ("lower", "lowers") } else { ("raise", "raises") };
        let percent = |share: f64| format!("{}%", number(100.0 * share));
        match (self.miss, self.share) {
            (Some(miss), Some(share)) => format!(
                "None of {directions} random directions {verbs} {metric} at {range}. Were {} or more of all directions to do so, \
                 {directions} draws would miss them with probability {} at most; at {} confidence fewer than {} do.{}",
                percent(about.epsilon),
                number(miss),
                percent(1.0 - about.delta),
                percent(share),
                if self.flat > 0 {
                    format!(" {} of them leave it exactly as it is.", self.flat)
                } else {
                    String::new()
                }
            ),
            _ => format!(
                "Not a local optimum at {range}: {} of {directions} random directions {verb} {metric}, direction {} by {} at \
                 step {}.",
                self.rising,
                self.best.direction,
                number(self.best.rise),
                number(self.best.step)
            ),
        }
    }

    /// The steps in words, as in "steps 0.1 to 1".
    fn range(&self) -> String {
        match (self.steps.first(), self.steps.last()) {
            (Some(first), Some(last)) if first != last => format!("steps {} to {}", number(*first), number(*last)),
            (Some(only), _) => format!("step {}", number(*only)),
            _ => "no steps".to_owned(),
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
    fn rises_flats_and_falls_are_told_apart() {
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
    fn for_a_cost_falling_is_the_good_way() {
        let report = StepReport::new(&about(true), &[0.1], &[0.6, 0.7], 0);
        assert!(report.holds());
        assert_eq!(report.best.value, 0.6);
        assert!(!StepReport::new(&about(true), &[0.1], &[0.6, 0.4], 0).holds());
    }

    #[test]
    fn the_bound_says_what_was_proved_and_no_more() {
        let values = vec![0.4; 459];
        let report = StepReport::new(&about(false), &[0.1], &values, 0);
        assert_eq!(report.miss, Some(miss_probability(459, 0.01)));
        assert!(report.miss.unwrap() <= 0.01 && report.share.unwrap() <= 0.01);
        let expected = "None of 459 random directions raises ndcg at step 0.1. Were 1% or more of all directions to do so, \
                        459 draws would miss them with probability 0.009921 at most; at 99% confidence fewer than 0.9983% do.";
        assert_eq!(report.statement, expected);
    }

    #[test]
    fn rounding_is_no_rise() {
        let report = StepReport::new(&about(false), &[0.1], &[0.5 + 1e-16, 0.5 - 1e-14], 0);
        assert_eq!((report.rising, report.flat), (0, 2));
    }
}
