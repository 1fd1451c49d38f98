//! Results of a comparison of nets: one number per function, differences, and whether limits of training were reached.

use super::super::losses::SETS;
use super::{Arm, Plan};
use crate::harness::figure::{Point, Series, Whose};
use crate::harness::finding::{Finding, no_learning_rate, no_share};
use crate::harness::trainings::{self, Went};
use crate::harness::tuning::Tuned;
use crate::harness::units::{less, mean};
use crate::harness::{Packed, Spread, per_query};
use burnrank::internal::text::{Table, fixed, signed};
use burnrank::{Dataset, Model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of a search over learning rates.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LearningRates(pub Tuned);

impl Finding for LearningRates {
    fn impossible(&self) -> Option<String> {
        no_learning_rate(self.0.trials.iter().map(|trial| trial.0).chain([self.0.best]))
            .or_else(|| no_share("a validation value", self.0.trials.iter().map(|trial| trial.1)))
    }
}

/// Results of one arm on one function or fold, averaged over seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evaluation {
    /// The search over learning rates, if it was done on this fold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rates: Option<LearningRates>,
    pub learning_rate: f64,
    pub best_epochs: Vec<usize>,
    /// Number of epochs of each run.
    pub epochs: Vec<usize>,
    /// The arm's metric on training queries.
    pub train: f64,
    /// The arm's metric on validation queries.
    pub valid: f64,
    /// Metrics of the test queries.
    pub test: BTreeMap<String, f64>,
    /// The arm's metric on each test query.
    pub per_query: Packed,
}

impl Finding for Evaluation {
    fn impossible(&self) -> Option<String> {
        no_learning_rate([self.learning_rate])
            .or_else(|| self.learning_rates.as_ref().and_then(Finding::impossible))
            .or_else(|| no_share("a mean", self.test.values().copied().chain([self.train, self.valid])))
    }
}

/// Evaluates the nets of an arm, one per seed.
pub fn evaluate(
    arm: &Arm,
    models: &[Model],
    learning_rate: f64,
    sets: &[Dataset; 3],
    metrics: &[&str],
) -> anyhow::Result<Evaluation> {
    let over_seeds = |set: &Dataset, metric: &str| -> anyhow::Result<Vec<f64>> {
        let mut sum = vec![0.0; set.n_queries()];
        for model in models {
            let values = per_query(model, set, metric)?;
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
        }
        Ok(sum)
    };
    let own = over_seeds(&sets[2], &arm.metric)?;
    let mut test = BTreeMap::from([(arm.metric.clone(), mean(&own))]);
    for &metric in metrics.iter().filter(|&&metric| metric != arm.metric) {
        test.insert(metric.to_owned(), mean(&over_seeds(&sets[2], metric)?));
    }
    Ok(Evaluation {
        learning_rates: None,
        learning_rate,
        best_epochs: models.iter().map(|model| model.info.best_epoch).collect(),
        epochs: models.iter().map(|model| model.history.len()).collect(),
        train: mean(&over_seeds(&sets[0], &arm.metric)?),
        valid: mean(&over_seeds(&sets[1], &arm.metric)?),
        test,
        per_query: Packed::new(own),
    })
}

/// A finished comparison.
pub struct Study {
    /// The search over learning rates of each arm.
    pub tuned: Vec<Tuned>,
    /// Results by arm and function.
    pub runs: Vec<Vec<Evaluation>>,
    plan: Plan,
    /// Keys of the arms.
    names: Vec<String>,
}

impl Study {
    /// A comparison from its runs by arm and function.
    pub fn new(plan: &Plan, arms: &[Arm], tuned: Vec<Tuned>, runs: Vec<Vec<Evaluation>>) -> Study {
        Study { tuned, runs, plan: *plan, names: arms.iter().map(|arm| arm.key.clone()).collect() }
    }

    /// Test metric in percent, one number per function.
    pub fn test(&self, arm: usize, metric: &str) -> Vec<f64> {
        self.runs[arm].iter().map(|run| 100.0 * run.test[metric]).collect()
    }

    /// Test metric of the first arm minus that of the second in points, one number per function.
    pub fn difference(&self, first: usize, second: usize, metric: &str) -> Vec<f64> {
        less(&self.test(first, metric), &self.test(second, metric))
    }

    /// The arm's metric on training queries in percent, one number per function.
    pub fn train(&self, arm: usize) -> Vec<f64> {
        self.runs[arm].iter().map(|run| 100.0 * run.train).collect()
    }

    /// The arm's metric on validation queries in percent, one number per function.
    pub fn valid(&self, arm: usize) -> Vec<f64> {
        self.runs[arm].iter().map(|run| 100.0 * run.valid).collect()
    }

    /// Learning rate of an arm, marked if it is at the edge of the grid.
    pub fn learning_rate(&self, arm: usize) -> String {
        marked(self.tuned[arm].best, &self.tuned[arm])
    }

    /// Table of how often the limits of epochs and learning rates were reached.
    pub fn trainings(&self) -> Table {
        let mut runs = vec![];
        for ((name, tuned), results) in self.names.iter().zip(&self.tuned).zip(&self.runs) {
            // One learning rate for all runs.
            let one = |(run, &best): (usize, &usize)| Went {
                step: Some(tuned.best),
                at_edge: (run == 0).then_some(tuned.at_edge),
                ..Went::new(name, best, self.plan.epochs)
            };
            runs.extend(results.iter().flat_map(|result| &result.best_epochs).enumerate().map(one));
        }
        trainings::table(&runs)
    }
}

/// Formats the best value of a search, marked if it is at the edge of the grid.
pub fn marked(best: impl std::fmt::Display, search: &Tuned) -> String {
    format!("{best}{}", if search.at_edge { " (at the edge)" } else { "" })
}

/// Mean and half-width of its 95% interval over units, as in 61.20 ± 0.34.
pub fn mean_text(values: &[f64]) -> String {
    with_interval(fixed(mean(values), 2), values)
}

/// As [`mean_text`], with a sign, for differences.
pub fn gap_text(values: &[f64]) -> String {
    with_interval(signed(mean(values), 2), values)
}

fn with_interval(mean: String, values: &[f64]) -> String {
    Spread::of(values).map_or(mean.clone(), |spread| format!("{mean} ± {}", fixed(spread.half, 2)))
}

/// Point of a figure with the mean and its 95% interval over units.
pub fn point(x: f64, values: &[f64]) -> Point {
    let ends = Spread::of(values).map(|spread| (spread.mean - spread.half, spread.mean + spread.half));
    (x, mean(values), ends)
}

/// A series of our points.
pub fn series(name: impl Into<String>, colour: usize, joined: bool, points: Vec<Point>) -> Series {
    Series { name: name.into(), whose: Whose::Ours, colour, joined, points }
}

/// The paper's gains over LambdaRank, one series per data set; `gain` returns that of a loss on a data set.
pub fn paper_gains(prefix: &str, losses: &[usize], gain: impl Fn(usize, usize) -> Option<f64>) -> Vec<Series> {
    let points = |set: usize| {
        let point = |(place, &loss): (usize, &usize)| Some((place as f64, gain(loss, set)?, None));
        losses.iter().enumerate().filter_map(point).collect()
    };
    let paper = |(set, name): (usize, &str)| Series {
        whose: Whose::Paper,
        ..series(format!("{prefix}, {name}"), set + 2, false, points(set))
    };
    SETS.into_iter().enumerate().map(paper).collect()
}
