//! Results of a comparison of nets: one number per function, differences, and whether limits of training were reached.

use super::super::losses::SETS;
use super::{Arm, Plan};
use crate::harness::comparison::{Comparison, Measured, Row, series};
use crate::harness::figure::{Series, Whose};
use crate::harness::finding::{Finding, no_learning_rate, no_share};
use crate::harness::trainings::{self, Went};
use crate::harness::tuning::Tuned;
use crate::harness::units::mean;
use crate::harness::{Packed, per_query};
use burnrank::internal::text::Table;
use burnrank::{Dataset, Model};
use serde::{Deserialize, Serialize};

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
    /// The arm's metric on test queries.
    pub test: f64,
    /// The arm's metric on each test query.
    pub per_query: Packed,
}

impl Finding for Evaluation {
    fn impossible(&self) -> Option<String> {
        no_learning_rate([self.learning_rate])
            .or_else(|| self.learning_rates.as_ref().and_then(Finding::impossible))
            .or_else(|| no_share("a mean", self.means()))
    }
}

impl Measured for Evaluation {
    fn means(&self) -> [f64; 3] {
        [self.train, self.valid, self.test]
    }
}

/// Evaluates the nets of an arm, one per seed.
pub fn evaluate(arm: &Arm, models: &[Model], learning_rate: f64, sets: &[Dataset; 3]) -> anyhow::Result<Evaluation> {
    let over_seeds = |set: &Dataset| -> anyhow::Result<Vec<f64>> {
        let mut sum = vec![0.0; set.n_queries()];
        for model in models {
            let values = per_query(model, set, &arm.metric)?;
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
        }
        Ok(sum)
    };
    let test = over_seeds(&sets[2])?;
    Ok(Evaluation {
        learning_rates: None,
        learning_rate,
        best_epochs: models.iter().map(|model| model.info.best_epoch).collect(),
        epochs: models.iter().map(|model| model.history.len()).collect(),
        train: mean(&over_seeds(&sets[0])?),
        valid: mean(&over_seeds(&sets[1])?),
        test: mean(&test),
        per_query: Packed::new(test),
    })
}

/// A finished comparison.
pub struct Study {
    /// The search over learning rates of each arm.
    pub tuned: Vec<Tuned>,
    /// Results by arm and function.
    pub runs: Comparison<Evaluation>,
    plan: Plan,
    /// Keys of the arms.
    names: Vec<String>,
}

impl Study {
    /// A comparison from its runs by arm and function.
    pub fn new(plan: &Plan, arms: &[Arm], tuned: Vec<Tuned>, runs: Comparison<Evaluation>) -> Study {
        Study { tuned, runs, plan: *plan, names: arms.iter().map(|arm| arm.key.clone()).collect() }
    }

    /// A row of a table: labels, the arm and its learning rate, and the arm that is subtracted.
    pub fn row<const N: usize>(&self, labels: [String; N], arm: usize, base: usize) -> Row<N> {
        Row { labels, arm, base: (arm != base).then_some(base), last: self.learning_rate(arm) }
    }

    /// Learning rate of an arm, marked if it is at the edge of the grid.
    pub fn learning_rate(&self, arm: usize) -> String {
        marked(self.tuned[arm].best, &self.tuned[arm])
    }

    /// Table of how often the limits of epochs and learning rates were reached.
    pub fn trainings(&self) -> Table {
        let mut runs = vec![];
        for ((name, tuned), results) in self.names.iter().zip(&self.tuned).zip(&self.runs.runs) {
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
