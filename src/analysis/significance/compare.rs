//! Compares two systems by one metric.

use super::equal::paired;
use super::{
    Adjusted, Bootstrap, Randomisation, TTest, Wilcoxon, bootstrap, deviation, effect_size, mean, randomisation,
    t_test, wilcoxon,
};
use crate::error::{Error, Result};
use serde::Serialize;

/// One system's metric value for each query.
#[derive(Debug, Clone, Copy)]
pub struct PerQuery<'a> {
    /// Name of the system in reports.
    pub name: &'a str,
    /// One value per query, in the same order for all systems.
    pub values: &'a [f64],
}

/// Whether higher or lower values of a metric are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Higher is better, as for NDCG.
    #[default]
    Higher,
    /// Lower is better, as for ARP.
    Lower,
}

/// Options of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompareOptions {
    /// Whether higher or lower is better. Affects only wins and losses.
    pub better: Better,
    /// Number of random sign assignments of the randomisation test, if there are too many to enumerate.
    pub draws: usize,
    /// Number of bootstrap resamples.
    pub resamples: usize,
    /// Confidence level of intervals, such as 0.95.
    pub level: f64,
    /// Maximum number of queries with the largest changes to report.
    pub movers: usize,
    /// Random seed.
    pub seed: u64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions { better: Better::Higher, draws: 100_000, resamples: 10_000, level: 0.95, movers: 10, seed: 0 }
    }
}

/// A query whose value changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mover {
    /// The query's id.
    pub query: String,
    /// The baseline's value.
    pub baseline: f64,
    /// The system's value.
    pub system: f64,
    /// The system's value minus the baseline's.
    pub difference: f64,
}

/// A comparison of a system with a baseline on the same queries, by one metric.
///
/// Differences are system minus baseline. Values that differ only by rounding (1e-12 of their size) are equal everywhere: in
/// wins and losses, movers, and all tests. A test without a result, for example for a single query, is `None`.
///
/// ```
/// use burnrank::analysis::significance::Comparison;
/// use burnrank::analysis::significance::{CompareOptions, PerQuery};
/// let queries = ["a", "b", "c"].map(String::from);
/// let (old, new) = ([0.25, 0.5, 0.5], [0.5, 0.75, 0.5]);
/// let (old, new) = (PerQuery { name: "old", values: &old }, PerQuery { name: "new", values: &new });
/// let comparison = Comparison::new("ndcg@10", old, new, &queries, &CompareOptions::default())?;
/// assert_eq!((comparison.wins, comparison.ties, comparison.losses), (2, 1, 0));
/// assert_eq!(comparison.randomisation.unwrap().p, 0.5);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the metric.
    pub metric: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the system.
    pub system: String,
    /// Options of the comparison.
    pub options: CompareOptions,
    /// Number of queries.
    pub queries: usize,
    /// Mean of the baseline.
    pub baseline_mean: f64,
    /// Mean of the system.
    pub system_mean: f64,
    /// Mean of the differences.
    pub difference: f64,
    /// Standard deviation of the differences (n - 1); `None` for a single query.
    pub standard_deviation: Option<f64>,
    /// Cohen's d_z.
    pub effect_size: Option<f64>,
    /// Number of queries on which the system is better.
    pub wins: usize,
    /// Number of queries on which both are equal.
    pub ties: usize,
    /// Number of queries on which the baseline is better.
    pub losses: usize,
    /// Student's paired t-test.
    pub t_test: Option<TTest>,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: Option<Wilcoxon>,
    /// Fisher's randomisation test.
    pub randomisation: Option<Randomisation>,
    /// Bootstrap interval of the mean difference, without correction for multiple comparisons.
    pub bootstrap: Option<Bootstrap>,
    /// Corrected p-values and interval, set by [`Leaderboard::correct`](super::Leaderboard::correct). `None` before that, and
    /// if both systems are equal on every query.
    pub adjusted: Option<Adjusted>,
    /// The queries with the largest changes, in descending order.
    pub movers: Vec<Mover>,
    /// Difference per query, in input order; not serialised if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<f64>,
}

impl Comparison {
    /// Compares `system` with `baseline`. `queries` are the ids of the queries.
    ///
    /// # Errors
    /// If there is no query, the numbers of values and ids differ, a value is not finite, the level is not between 0 and 1, or
    /// the number of draws or resamples is 0.
    pub fn new(
        metric: &str,
        baseline: PerQuery<'_>,
        system: PerQuery<'_>,
        queries: &[String],
        options: &CompareOptions,
    ) -> Result<Comparison> {
        check(baseline, queries)?;
        check(system, queries)?;
        options.check()?;
        let differences = paired(baseline.values, system.values);
        let better = |d: f64| match options.better {
            Better::Higher => d > 0.0,
            Better::Lower => d < 0.0,
        };
        let wins = differences.iter().filter(|d| better(**d)).count();
        let losses = differences.iter().filter(|d| better(-**d)).count();
        let mover = |i: usize| Mover {
            query: queries[i].clone(),
            baseline: baseline.values[i],
            system: system.values[i],
            difference: differences[i],
        };
        Ok(Comparison {
            metric: metric.to_owned(),
            baseline: baseline.name.to_owned(),
            system: system.name.to_owned(),
            options: options.clone(),
            queries: queries.len(),
            baseline_mean: mean(baseline.values),
            system_mean: mean(system.values),
            difference: mean(&differences),
            standard_deviation: (differences.len() > 1)
                .then(|| deviation(&differences))
                .filter(|deviation| deviation.is_finite()),
            effect_size: effect_size(&differences),
            wins,
            ties: queries.len() - wins - losses,
            losses,
            t_test: t_test(&differences),
            wilcoxon: wilcoxon(&differences),
            randomisation: randomisation(&differences, options.draws, options.seed),
            bootstrap: bootstrap(&differences, options.resamples, options.level, options.seed),
            adjusted: None,
            movers: largest(&differences, options.movers).into_iter().map(mover).collect(),
            differences,
        })
    }
}

impl CompareOptions {
    pub(super) fn check(&self) -> Result<()> {
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Error::Config(format!("bad level {}: expected a confidence level such as 0.95", self.level)));
        }
        if self.draws == 0 || self.resamples == 0 {
            return Err(Error::Config("the randomisation test and the bootstrap need at least one draw".into()));
        }
        Ok(())
    }
}

fn check(system: PerQuery<'_>, queries: &[String]) -> Result<()> {
    let PerQuery { name, values } = system;
    if values.is_empty() {
        return Err(Error::Mismatch(format!("{name}: no queries to compare")));
    }
    if values.len() != queries.len() {
        return Err(Error::Mismatch(format!("{name}: {} values for {} queries", values.len(), queries.len())));
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => Err(Error::Mismatch(format!("{name}: query '{}' has the value {}", queries[i], values[i]))),
        None => Ok(()),
    }
}

/// The indices of the `n` differences of largest size, without zeros; ties in input order.
fn largest(differences: &[f64], n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..differences.len()).filter(|&i| differences[i] != 0.0).collect();
    order.sort_by(|&a, &b| differences[b].abs().total_cmp(&differences[a].abs()));
    order.truncate(n);
    order
}

#[cfg(test)]
mod tests {
    use super::super::samples::{TEN, near, ten};
    use super::*;

    fn ids(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("q{i}")).collect()
    }

    fn compare(baseline: &[f64], system: &[f64], options: &CompareOptions) -> Result<Comparison> {
        let (a, b) = (PerQuery { name: "a", values: baseline }, PerQuery { name: "b", values: system });
        Comparison::new("map", a, b, &ids(baseline.len()), options)
    }

    #[test]
    fn contains_the_results_of_all_tests() {
        let comparison = compare(&TEN.0, &TEN.1, &CompareOptions { movers: 2, ..Default::default() }).unwrap();
        assert_eq!((comparison.wins, comparison.ties, comparison.losses, comparison.queries), (7, 0, 3, 10));
        near(comparison.difference, comparison.system_mean - comparison.baseline_mean, 1e-12);
        assert_eq!(comparison.differences, ten());
        assert_eq!(comparison.t_test, t_test(&ten()));
        assert_eq!(comparison.wilcoxon, wilcoxon(&ten()));
        assert_eq!(comparison.randomisation, randomisation(&ten(), 100_000, 0));
        assert_eq!(comparison.bootstrap, bootstrap(&ten(), 10_000, 0.95, 0));
        near(comparison.effect_size.unwrap(), comparison.difference / comparison.standard_deviation.unwrap(), 1e-12);
        assert_eq!(comparison.movers.iter().map(|m| m.query.as_str()).collect::<Vec<_>>(), ["q7", "q5"]);
        assert_eq!((comparison.movers[0].baseline, comparison.movers[0].system), (0.38, 0.59));
        let json: serde_json::Value = serde_json::from_str(&serde_json::to_string(&comparison).unwrap()).unwrap();
        assert_eq!(json["wilcoxon"]["p"], 0.037109375);
        assert_eq!(json["randomisation"]["method"], "exact");
    }

    #[test]
    fn lower_values_of_a_cost_are_wins() {
        let options = CompareOptions { better: Better::Lower, ..Default::default() };
        let comparison = compare(&[3.0, 2.0, 1.0], &[1.0, 2.0, 0.0], &options).unwrap();
        assert_eq!((comparison.wins, comparison.ties, comparison.losses), (2, 1, 0));
        assert!(comparison.difference < 0.0);
    }

    #[test]
    fn rounding_errors_are_not_differences() {
        // The same values, summed in different orders.
        let sums = |order: [f64; 3]| vec![order.iter().sum::<f64>(); 20];
        let (baseline, system) = (sums([0.1, 0.2, 0.3]), sums([0.3, 0.2, 0.1]));
        assert_ne!(baseline, system);
        let same = compare(&baseline, &system, &CompareOptions::default()).unwrap();
        assert_eq!((same.wins, same.ties, same.losses, same.movers.len()), (0, 20, 0, 0));
        assert_eq!((same.effect_size, same.standard_deviation), (Some(0.0), Some(0.0)));
        assert_eq!((same.t_test.unwrap().p, same.wilcoxon.unwrap().p, same.randomisation.unwrap().p), (1.0, 1.0, 1.0));
        assert_eq!((same.wilcoxon.unwrap().nonzero, same.bootstrap.unwrap().interval()), (0, (0.0, 0.0)));
        // The same gain of 0.1 on every query: the deviation is 0, so there is no effect size and no t-test.
        let baseline: Vec<f64> = (0..9).map(|i| f64::from(i) / 10.0).collect();
        let system: Vec<f64> = (1..10).map(|i| f64::from(i) / 10.0).collect();
        let same = compare(&baseline, &system, &CompareOptions::default()).unwrap();
        assert!(system.iter().zip(&baseline).any(|(s, b)| s - b != 0.1), "rounding makes them differ");
        assert_eq!((same.effect_size, same.t_test, same.wins), (None, None, 9));
        // All ranks are tied: 9 times the mean rank 5, and one of 2^9 outcomes at either end.
        assert_eq!((same.wilcoxon.unwrap().positive, same.wilcoxon.unwrap().p), (45.0, 2.0 / 512.0));
    }

    #[test]
    fn equal_systems_and_single_queries() {
        let same = compare(&[0.5; 60], &[0.5; 60], &CompareOptions::default()).unwrap();
        assert_eq!((same.t_test.unwrap().p, same.wilcoxon.unwrap().p, same.randomisation.unwrap().p), (1.0, 1.0, 1.0));
        assert_eq!((same.effect_size, same.bootstrap.unwrap().interval()), (Some(0.0), (0.0, 0.0)));
        assert!(same.movers.is_empty());
        let one = compare(&[0.1], &[0.2], &CompareOptions::default()).unwrap();
        assert_eq!((one.t_test, one.bootstrap, one.standard_deviation, one.effect_size), (None, None, None, None));
        assert_eq!((one.wilcoxon.unwrap().p, one.randomisation.unwrap().p), (1.0, 1.0));
        // JSON has no NaN: missing results must be null.
        assert!(serde_json::to_value(&one).unwrap()["t_test"].is_null());
    }

    #[test]
    fn invalid_input_is_rejected() {
        let assert_error = |result: Result<Comparison>, text: &str| {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        };
        let plain = CompareOptions::default();
        assert_error(compare(&[], &[], &plain), "no queries");
        assert_error(compare(&[1.0], &[1.0, 2.0], &plain), "b: 2 values for 1 queries");
        assert_error(compare(&[1.0, 1.0], &[1.0, f64::NAN], &plain), "b: query 'q1' has the value NaN");
        assert_error(compare(&[1.0], &[1.0], &CompareOptions { level: 95.0, ..plain.clone() }), "bad level 95");
        assert_error(compare(&[1.0], &[1.0], &CompareOptions { draws: 0, ..plain }), "at least one draw");
    }
}
