//! Two systems and one measure: everything that can be said about their difference.

use super::equal::paired;
use super::{
    Adjusted, Bootstrap, Randomisation, TTest, Wilcoxon, bootstrap, deviation, effect_size, mean, randomisation,
    t_test, wilcoxon,
};
use crate::error::{Error, Result};
use serde::Serialize;

/// One system's value of a measure for each query.
#[derive(Debug, Clone, Copy)]
pub struct PerQuery<'a> {
    /// What the system is called in reports.
    pub name: &'a str,
    /// One value per query, in the same order for all systems.
    pub values: &'a [f64],
}

/// Which way a measure improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// As for NDCG.
    #[default]
    Higher,
    /// As for ARP.
    Lower,
}

/// How two systems are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompareOptions {
    /// Which way the measure improves: decides wins and losses, and nothing else.
    pub better: Better,
    /// How often signs are drawn for the randomisation test, where there are too many to count.
    pub draws: usize,
    /// How often differences are drawn anew for the bootstrap.
    pub resamples: usize,
    /// The share of intervals that hold the truth.
    pub level: f64,
    /// How many of the queries that moved most are named.
    pub movers: usize,
    /// What all random numbers follow from.
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
    /// The system's less the baseline's.
    pub difference: f64,
}

/// A system against a baseline on the same queries, by one measure. Differences are system less baseline; what differs by
/// rounding only, by 1e-12 of its size, is equal everywhere: in wins and losses, movers, and all tests.
///
/// A test that has no answer, as for a single query, is `None`; see each test's own page.
///
/// ```
/// use burnrank::analysis::significance::Comparison;
/// use burnrank::analysis::significance::{CompareOptions, PerQuery};
/// let queries = ["a", "b", "c"].map(String::from);
/// let (old, new) = ([0.25, 0.5, 0.5], [0.5, 0.75, 0.5]);
/// let (old, new) = (PerQuery { name: "old", values: &old }, PerQuery { name: "new", values: &new });
/// let found = Comparison::new("ndcg@10", old, new, &queries, &CompareOptions::default())?;
/// assert_eq!((found.wins, found.ties, found.losses), (2, 1, 0));
/// assert_eq!(found.randomisation.unwrap().p, 0.5);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The measure's name.
    pub metric: String,
    /// The baseline's name.
    pub baseline: String,
    /// The system's name.
    pub system: String,
    /// How it was compared.
    pub options: CompareOptions,
    /// The number of queries.
    pub queries: usize,
    /// The baseline's mean.
    pub baseline_mean: f64,
    /// The system's mean.
    pub system_mean: f64,
    /// The mean of the differences.
    pub difference: f64,
    /// The standard deviation of the differences, by n - 1; none for one query.
    pub standard_deviation: Option<f64>,
    /// Cohen's d_z.
    pub effect_size: Option<f64>,
    /// Queries on which the system is better.
    pub wins: usize,
    /// Queries on which both are equal.
    pub ties: usize,
    /// Queries on which the baseline is better.
    pub losses: usize,
    /// Student's paired t-test.
    pub t_test: Option<TTest>,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: Option<Wilcoxon>,
    /// Fisher's randomisation test.
    pub randomisation: Option<Randomisation>,
    /// The bootstrap interval of the mean difference, for this comparison alone.
    pub bootstrap: Option<Bootstrap>,
    /// The p-values and the interval after [`Leaderboard::correct`](super::Leaderboard::correct); none before, and none where
    /// both systems are equal on every query.
    pub adjusted: Option<Adjusted>,
    /// The queries that moved most, the largest difference first.
    pub movers: Vec<Mover>,
    /// The difference on each query, in the order given; not written where they were cleared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<f64>,
}

impl Comparison {
    /// Compares `system` with `baseline` on the queries of the given ids.
    ///
    /// # Errors
    /// When there is no query, the numbers of values and ids differ, a value is not finite, or the level is not between 0
    /// and 1 or the number of draws or resamples is 0.
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
                .filter(|spread| spread.is_finite()),
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
            return Err(Error::Config(format!("bad level {} of an interval: expected 0.95 or the like", self.level)));
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
        return Err(Error::Mismatch(format!("{name}: no queries to compare on")));
    }
    if values.len() != queries.len() {
        return Err(Error::Mismatch(format!("{name}: {} values for {} queries", values.len(), queries.len())));
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => Err(Error::Mismatch(format!("{name}: query '{}' has the value {}", queries[i], values[i]))),
        None => Ok(()),
    }
}

/// The indices of the `n` largest differences other than 0, whatever their sign; earlier queries first among equals.
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
    fn bundles_what_the_tests_say() {
        let found = compare(&TEN.0, &TEN.1, &CompareOptions { movers: 2, ..Default::default() }).unwrap();
        assert_eq!((found.wins, found.ties, found.losses, found.queries), (7, 0, 3, 10));
        near(found.difference, found.system_mean - found.baseline_mean, 1e-12);
        assert_eq!(found.differences, ten());
        assert_eq!(found.t_test, t_test(&ten()));
        assert_eq!(found.wilcoxon, wilcoxon(&ten()));
        assert_eq!(found.randomisation, randomisation(&ten(), 100_000, 0));
        assert_eq!(found.bootstrap, bootstrap(&ten(), 10_000, 0.95, 0));
        near(found.effect_size.unwrap(), found.difference / found.standard_deviation.unwrap(), 1e-12);
        assert_eq!(found.movers.iter().map(|m| m.query.as_str()).collect::<Vec<_>>(), ["q7", "q5"]);
        assert_eq!((found.movers[0].baseline, found.movers[0].system), (0.38, 0.59));
        let json: serde_json::Value = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
        assert_eq!(json["wilcoxon"]["p"], 0.037109375);
        assert_eq!(json["randomisation"]["method"], "exact");
    }

    #[test]
    fn a_cost_is_won_by_being_lower() {
        let options = CompareOptions { better: Better::Lower, ..Default::default() };
        let found = compare(&[3.0, 2.0, 1.0], &[1.0, 2.0, 0.0], &options).unwrap();
        assert_eq!((found.wins, found.ties, found.losses), (2, 1, 0));
        assert!(found.difference < 0.0);
    }

    #[test]
    fn rounding_is_neither_a_win_nor_a_size() {
        // The same values, summed in another order.
        let sums = |order: [f64; 3]| vec![order.iter().sum::<f64>(); 20];
        let (baseline, system) = (sums([0.1, 0.2, 0.3]), sums([0.3, 0.2, 0.1]));
        assert_ne!(baseline, system);
        let same = compare(&baseline, &system, &CompareOptions::default()).unwrap();
        assert_eq!((same.wins, same.ties, same.losses, same.movers.len()), (0, 20, 0, 0));
        assert_eq!((same.effect_size, same.standard_deviation), (Some(0.0), Some(0.0)));
        assert_eq!((same.t_test.unwrap().p, same.wilcoxon.unwrap().p, same.randomisation.unwrap().p), (1.0, 1.0, 1.0));
        assert_eq!((same.wilcoxon.unwrap().nonzero, same.bootstrap.unwrap().interval()), (0, (0.0, 0.0)));
        // The same gain of 0.1 from everywhere: no spread, so no effect size and no t-test.
        let baseline: Vec<f64> = (0..9).map(|i| f64::from(i) / 10.0).collect();
        let system: Vec<f64> = (1..10).map(|i| f64::from(i) / 10.0).collect();
        let same = compare(&baseline, &system, &CompareOptions::default()).unwrap();
        assert!(system.iter().zip(&baseline).any(|(s, b)| s - b != 0.1), "rounding tells them apart");
        assert_eq!((same.effect_size, same.t_test, same.wins), (None, None, 9));
        // All ranks are shared: 9 times the mean rank 5, and one of 2^9 outcomes at either end.
        assert_eq!((same.wilcoxon.unwrap().positive, same.wilcoxon.unwrap().p), (45.0, 2.0 / 512.0));
    }

    #[test]
    fn equal_systems_and_single_queries_have_answers() {
        let same = compare(&[0.5; 60], &[0.5; 60], &CompareOptions::default()).unwrap();
        assert_eq!((same.t_test.unwrap().p, same.wilcoxon.unwrap().p, same.randomisation.unwrap().p), (1.0, 1.0, 1.0));
        assert_eq!((same.effect_size, same.bootstrap.unwrap().interval()), (Some(0.0), (0.0, 0.0)));
        assert!(same.movers.is_empty());
        let one = compare(&[0.1], &[0.2], &CompareOptions::default()).unwrap();
        assert_eq!((one.t_test, one.bootstrap, one.standard_deviation, one.effect_size), (None, None, None, None));
        assert_eq!((one.wilcoxon.unwrap().p, one.randomisation.unwrap().p), (1.0, 1.0));
        // JSON knows no NaN: what has no answer must be null.
        assert!(serde_json::to_value(&one).unwrap()["t_test"].is_null());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let says = |result: Result<Comparison>, text: &str| {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        };
        let plain = CompareOptions::default();
        says(compare(&[], &[], &plain), "no queries");
        says(compare(&[1.0], &[1.0, 2.0], &plain), "b: 2 values for 1 queries");
        says(compare(&[1.0, 1.0], &[1.0, f64::NAN], &plain), "b: query 'q1' has the value NaN");
        says(compare(&[1.0], &[1.0], &CompareOptions { level: 95.0, ..plain.clone() }), "bad level 95");
        says(compare(&[1.0], &[1.0], &CompareOptions { draws: 0, ..plain }), "at least one draw");
    }
}
