//! What a comparison of nets found: one number per function, differences, and how the trainings went.

use super::{Arm, Plan};
use crate::harness::figure::Point;
use crate::harness::finding::{Finding, no_learning_rate, no_share};
use crate::harness::trainings::{self, Went};
use crate::harness::tuning::Tuned;
use crate::harness::units::{less, mean};
use crate::harness::{Packed, Spread, per_query};
use burnrank::internal::text::{Table, fixed, signed};
use burnrank::{Dataset, Model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a search over step sizes found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LearningRates(pub Tuned);

impl Finding for LearningRates {
    fn impossible(&self) -> Option<String> {
        no_learning_rate(self.0.trials.iter().map(|trial| trial.0).chain([self.0.best]))
            .or_else(|| no_share("a validation value", self.0.trials.iter().map(|trial| trial.1)))
    }
}

/// One arm on one function or fold: means over seeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// What was tried, where the step size was chosen on this fold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rates: Option<LearningRates>,
    pub learning_rate: f64,
    pub best_epochs: Vec<usize>,
    /// How many epochs each run had.
    pub epochs: Vec<usize>,
    /// The arm's metric on training and validation queries.
    pub train: f64,
    pub valid: f64,
    /// Measures of the test queries.
    pub test: BTreeMap<String, f64>,
    /// The arm's metric of each test query.
    pub per_query: Packed,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        no_learning_rate([self.learning_rate])
            .or_else(|| self.learning_rates.as_ref().and_then(Finding::impossible))
            .or_else(|| no_share("a mean", self.test.values().copied().chain([self.train, self.valid])))
    }
}

/// Judges the nets of an arm, one per seed.
pub fn judged(
    arm: &Arm,
    models: &[Model],
    learning_rate: f64,
    sets: &[Dataset; 3],
    measures: &[&str],
) -> anyhow::Result<Found> {
    let over_seeds = |set: &Dataset, measure: &str| -> anyhow::Result<Vec<f64>> {
        let mut sum = vec![0.0; set.n_queries()];
        for model in models {
            let values = per_query(model, set, measure)?;
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
        }
        Ok(sum)
    };
    let own = over_seeds(&sets[2], &arm.metric)?;
    let mut test = BTreeMap::from([(arm.metric.clone(), mean(&own))]);
    for &measure in measures.iter().filter(|&&measure| measure != arm.metric) {
        test.insert(measure.to_owned(), mean(&over_seeds(&sets[2], measure)?));
    }
    Ok(Found {
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

/// A comparison that was run.
pub struct Study {
    /// By arm: what the search over step sizes found.
    pub tuned: Vec<Tuned>,
    /// By arm and function.
    pub found: Vec<Vec<Found>>,
    plan: Plan,
    /// The arms' keys.
    names: Vec<String>,
}

impl Study {
    /// A measure of the test queries in percent, one number per function.
    pub fn test(&self, arm: usize, measure: &str) -> Vec<f64> {
        self.found[arm].iter().map(|found| 100.0 * found.test[measure]).collect()
    }

    /// A measure of the first arm less that of the second, in points, function by function.
    pub fn less(&self, first: usize, second: usize, measure: &str) -> Vec<f64> {
        less(&self.test(first, measure), &self.test(second, measure))
    }

    /// The arm's metric on training queries in percent, one number per function.
    pub fn train(&self, arm: usize) -> Vec<f64> {
        self.found[arm].iter().map(|found| 100.0 * found.train).collect()
    }

    /// The arm's metric on validation queries in percent, one number per function.
    pub fn valid(&self, arm: usize) -> Vec<f64> {
        self.found[arm].iter().map(|found| 100.0 * found.valid).collect()
    }

    /// The step size of an arm, marked where wider grids were not enough.
    pub fn step(&self, arm: usize) -> String {
        let Tuned { best, at_edge, .. } = self.tuned[arm];
        format!("{best}{}", if at_edge { " (at the edge)" } else { "" })
    }

    /// Whether the limits of epochs and step sizes bound, by arm.
    pub fn trainings(&self) -> Table {
        let mut runs = vec![];
        for ((name, tuned), found) in self.names.iter().zip(&self.tuned).zip(&self.found) {
            // Chosen once for all runs.
            let one = |(run, &best): (usize, &usize)| Went {
                step: Some(tuned.best),
                at_edge: (run == 0).then_some(tuned.at_edge),
                ..Went::new(name, best, self.plan.epochs)
            };
            runs.extend(found.iter().flat_map(|found| &found.best_epochs).enumerate().map(one));
        }
        trainings::table(&runs)
    }
}

impl Study {
    /// Puts the runs in order.
    pub fn new(plan: &Plan, arms: &[Arm], tuned: Vec<Tuned>, runs: impl IntoIterator<Item = (usize, Found)>) -> Study {
        let names = arms.iter().map(|arm| arm.key.clone()).collect();
        let mut study = Study { tuned, found: vec![vec![]; arms.len()], plan: *plan, names };
        runs.into_iter().for_each(|(arm, found)| study.found[arm].push(found));
        study
    }
}

/// Mean and half of its 95% interval over units, as in 61.20 ± 0.34.
pub fn mean_text(values: &[f64]) -> String {
    let half = Spread::of(values).map_or(String::new(), |spread| format!(" ± {}", fixed(spread.half, 2)));
    format!("{}{half}", fixed(mean(values), 2))
}

/// The same of differences, with a sign.
pub fn gap_text(values: &[f64]) -> String {
    let half = Spread::of(values).map_or(String::new(), |spread| format!(" ± {}", fixed(spread.half, 2)));
    format!("{}{half}", signed(mean(values), 2))
}

/// Mean and 95% interval over units at a place of a figure.
pub fn point(x: f64, values: &[f64]) -> Point {
    let ends = Spread::of(values).map(|spread| (spread.mean - spread.half, spread.mean + spread.half));
    (x, mean(values), ends)
}
