//! Metrics of the systems of a report, their distribution over queries, and significance tests.

use super::Args;
use super::html::{aside, figures, table};
use crate::cli::compare::{
    Common, Values, compare_pairs, default_draws, equal_pairs, interval_text, is_equal, is_significant, mismatch_text,
    tests_text, verdict,
};
use crate::cli::explain::methods;
use crate::cli::figure::{self, Curve};
use crate::cli::prose::{fixed, p_value, signed};
use crate::cli::ranking::size;
use crate::cli::systems::{Fold, System, read_folds, read_systems};
use crate::cli::ui::{Bar, count};
use burnrank::analysis::explain::Explanation;
use burnrank::analysis::significance::CompareOptions;
use burnrank::analysis::significance::Comparison;
use burnrank::metric::Missing;
use burnrank::metric::REPORTED_METRICS;
use burnrank::metric::Summary;
use burnrank::{Conventions, Dataset, Metric};
use std::sync::Arc;

/// Ranks k of the table and figure of metric@k.
const RANKS: [usize; 6] = [1, 2, 3, 5, 10, 20];
/// Significance level over all comparisons.
const ALPHA: f64 = 0.05;
/// Maximum number of systems in a figure, and of figures of differences.
const MAX_CURVES: usize = 6;

/// All systems on one data set.
pub struct Evaluation {
    folds: Vec<Fold>,
    systems: Vec<System>,
    common: Common,
    conventions: Conventions,
    complete: bool,
    /// The values of each metric; `--metric` first.
    metrics: Vec<Values>,
    /// A metric name without its rank, and its values at each of [`RANKS`].
    by_rank: (String, Vec<(usize, Values)>),
}

impl Evaluation {
    /// Reads the data and evaluates the models and the baseline.
    pub fn new(args: &Args, paths: &[String], data: &str) -> anyhow::Result<Self> {
        let folds = read_folds(data, None, &args.reading)?;
        let is_metric = |name: &String| args.evaluation.metrics(std::slice::from_ref(name)).is_ok();
        let main = args.evaluation.metrics(std::slice::from_ref(&args.metric))?[0].name();
        let base = main.split('@').next().unwrap_or_default().to_owned();
        let base = if is_metric(&format!("{base}@1")) { base } else { "ndcg".to_owned() };
        let mut names = vec![main];
        names.extend(REPORTED_METRICS.into_iter().chain(["p@10"]).map(str::to_owned).filter(is_metric));
        let metrics = args.evaluation.metrics(&names)?;
        let ranked = args.evaluation.metrics(&RANKS.map(|rank| format!("{base}@{rank}")))?;
        let all: Vec<Arc<dyn Metric>> = metrics.iter().chain(&ranked).cloned().collect();
        let bar = Bar::working("evaluating");
        let systems = read_systems(paths, None, &folds, &all, &args.evaluation)?;
        drop(bar);
        let common = Common::of(&systems, folds.iter().map(|fold| fold.data.n_queries()).sum())?;
        let mut conventions = args.evaluation.conventions();
        if systems.iter().any(|system| system.missing == Missing::Absent) {
            conventions.missing = Missing::Absent;
        }
        let draws = default_draws(&common, systems.len(), ALPHA);
        let options = CompareOptions { seed: args.seed, draws, movers: 0, ..CompareOptions::default() };
        let values = |place: usize| Values::of((place, &*all[place]), &systems, &common, &folds, options.clone());
        let by_rank = RANKS.iter().enumerate().map(|(at, &rank)| Ok((rank, values(metrics.len() + at)?)));
        let by_rank = (base, by_rank.collect::<anyhow::Result<Vec<_>>>()?);
        let metrics = (0..metrics.len()).map(values).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Evaluation { folds, systems, common, conventions, complete: args.evaluation.complete, metrics, by_rank })
    }

    pub fn data(&self) -> &Dataset {
        &self.folds[0].data
    }

    pub fn data_name(&self) -> &str {
        &self.folds[0].name
    }

    /// As in "20 queries, 1,200 documents".
    pub fn size(&self) -> String {
        size(self.data())
    }

    /// The section of means, metrics by rank, and their distribution over queries. `main` is `--metric`.
    pub fn metrics(&self, main: &str) -> anyhow::Result<String> {
        let names: Vec<String> = self.systems.iter().map(|system| system.name.clone()).collect();
        let rows: Vec<Vec<String>> = (0..self.systems.len())
            .map(|system| {
                let cells = self.metrics.iter().map(|values| {
                    let summary = self.summary(values, system);
                    format!(
                        "{} ({} to {})",
                        fixed(summary.mean, 4),
                        fixed(summary.interval.0, 3),
                        fixed(summary.interval.1, 3)
                    )
                });
                std::iter::once(names[system].clone()).chain(cells).collect()
            })
            .collect();
        let mut headings = vec!["system"];
        headings.extend(self.metrics.iter().map(|values| values.metric.as_str()));
        let mut text = table("Means over queries, with 95% intervals in brackets", 1, &headings, &rows);
        let mismatches = mismatch_text(&self.common, &self.systems, &names, self.complete);
        text += &mismatches.lines().map(aside).collect::<String>();
        let (base, by_rank) = &self.by_rank;
        if self.systems.len() <= MAX_CURVES {
            let curve = |system: usize, points: Vec<(f64, f64)>, marks: usize| Curve {
                name: names[system].clone(),
                points,
                marks,
                dashed: false,
                best: None,
            };
            let at_ranks: Vec<Curve> = (0..self.systems.len())
                .map(|system| {
                    let point = |(rank, values): &(usize, Values)| (*rank as f64, self.summary(values, system).mean);
                    curve(system, by_rank.iter().map(point).collect(), 1)
                })
                .collect();
            let distributions: Vec<Curve> = (0..self.systems.len())
                .map(|system| curve(system, distribution(self.metrics[0].per_query(&self.systems)[system].values), 4))
                .collect();
            text += &figures(&[
                (
                    figure::lines(&format!("{base} at rank k"), ("k", base), &at_ranks, true)?,
                    format!("Mean {base}@k over queries, for k from 1 to 20."),
                ),
                (
                    figure::lines(
                        &format!("Distribution of {main}"),
                        (main, "fraction of queries"),
                        &distributions,
                        false,
                    )?,
                    format!("Cumulative distribution of {main} over queries: a lower curve is better."),
                ),
            ]);
        }
        let rows: Vec<Vec<String>> = (0..self.systems.len())
            .map(|system| {
                let cells = by_rank.iter().map(|(_, values)| fixed(self.summary(values, system).mean, 4));
                std::iter::once(names[system].clone()).chain(cells).collect()
            })
            .collect();
        let headings: Vec<String> = RANKS.iter().map(|rank| format!("k = {rank}")).collect();
        let headings: Vec<&str> = std::iter::once("system").chain(headings.iter().map(String::as_str)).collect();
        Ok(text + &table(&format!("{base}@k, means over queries"), 1, &headings, &rows))
    }

    fn summary(&self, values: &Values, system: usize) -> Summary {
        let values: Vec<Option<f64>> =
            values.per_query(&self.systems)[system].values.iter().copied().map(Some).collect();
        Summary::of(&values)
    }

    /// Compares each model with the baseline: `--baseline`, the first model, or the best single feature.
    pub fn comparisons(&self, args: &Args, explanations: &[Explanation]) -> anyhow::Result<Comparisons> {
        let models = args.models.len();
        if let ([explanation], None) = (explanations, &args.baseline) {
            let comparison = Comparison { system: self.systems[0].name.clone(), ..explanation.comparison.clone() };
            return Ok(Comparisons { comparisons: vec![comparison], metrics: 1 });
        }
        // --baseline is the last system.
        let (first, others) = if args.baseline.is_some() { (models, 0..models) } else { (0, 1..models) };
        let pairs: Vec<(usize, usize)> = others.map(|system| (first, system)).collect();
        let _bar = Bar::working("comparing");
        let mut comparisons = Vec::new();
        for values in &self.metrics {
            comparisons.extend(compare_pairs(values, &self.systems, &pairs, ALPHA, &|_| ())?.0);
        }
        Ok(Comparisons { comparisons, metrics: self.metrics.len() })
    }

    /// The table of how everything was computed.
    pub fn conventions(&self, args: &Args, comparisons: &Comparisons, explanations: &[Explanation]) -> String {
        let names: Vec<String> = self
            .metrics
            .iter()
            .chain(self.by_rank.1.iter().map(|(_, values)| values))
            .map(|values| values.metric.clone())
            .collect();
        let mut rows = vec![vec!["metrics".to_owned(), args.evaluation.words(&self.conventions, &names)]];
        rows.push(vec![
            "intervals".into(),
            "95%; of means by Student's t over queries, for each mean alone; of differences as below".into(),
        ]);
        rows.push(vec!["tests".into(), tests_text(&comparisons.families(), ALPHA)]);
        for explanation in explanations {
            for (name, words) in methods(explanation) {
                let row = vec![name.to_owned(), words];
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        table("How the numbers were computed", 2, &["what", "how"], &rows)
    }
}

/// Points of the cumulative distribution: value and fraction of queries.
fn distribution(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let share = |step: usize| step as f64 / 20.0;
    (0..=20)
        .filter_map(|step| Some((*sorted.get((share(step) * last as f64).round() as usize)?, share(step))))
        .collect()
}

/// The comparisons of the page, grouped by metric.
pub struct Comparisons {
    comparisons: Vec<Comparison>,
    /// Number of metrics.
    metrics: usize,
}

impl Comparisons {
    /// The comparisons by `--metric`.
    fn main(&self) -> &[Comparison] {
        &self.comparisons[..self.comparisons.len() / self.metrics.max(1)]
    }

    /// Each metric and the number of pairs of different systems that it is corrected for.
    fn families(&self) -> Vec<(&str, usize)> {
        fn of(group: &[Comparison]) -> Option<(&str, usize)> {
            let family = group.iter().find_map(|one| one.adjusted).map_or(0, |adjusted| adjusted.family);
            group.first().map(|first| (first.metric.as_str(), family))
        }
        self.comparisons.chunk_by(|a, b| a.metric == b.metric).filter_map(of).collect()
    }

    pub fn verdicts(&self) -> Vec<String> {
        self.main().iter().map(|comparison| verdict(comparison, ALPHA)).collect()
    }

    pub fn section(&self) -> anyhow::Result<String> {
        let row = |comparison: &Comparison| {
            let p = |pick: fn(&burnrank::analysis::significance::Adjusted) -> Option<f64>| {
                p_value(comparison.adjusted.as_ref().and_then(pick))
            };
            vec![
                comparison.system.clone(),
                comparison.metric.clone(),
                fixed(comparison.system_mean, 4),
                fixed(comparison.baseline_mean, 4),
                signed(comparison.difference, 4) + if is_significant(comparison, ALPHA) { " *" } else { "" },
                interval_text(comparison).unwrap_or("-".into()),
                format!("{}/{}/{}", count(comparison.wins), count(comparison.ties), count(comparison.losses)),
                p(|adjusted| adjusted.t_test),
                p(|adjusted| adjusted.wilcoxon),
                p(|adjusted| adjusted.randomisation),
            ]
        };
        let headings = [
            "system",
            "metric",
            "mean",
            "baseline",
            "difference",
            "95% interval",
            "better/equal/worse",
            "t-test",
            "Wilcoxon",
            "randomisation",
        ];
        let different = |comparison: &&Comparison| !is_equal(comparison);
        let rows: Vec<Vec<String>> = self.comparisons.iter().filter(different).map(row).collect();
        let baseline = self.comparisons.first().map_or("", |first| first.baseline.as_str());
        let caption = format!(
            "Differences from {baseline}, and p-values of three tests; * significant by the randomisation test"
        );
        let mut text = if rows.is_empty() { String::new() } else { table(&caption, 2, &headings, &rows) };
        text += &aside(&format!("How differences are tested: {}.", tests_text(&self.families(), ALPHA)));
        text += &equal_pairs(&self.comparisons).iter().map(|line| aside(line)).collect::<String>();
        let picture = |comparison: &Comparison| {
            let caption = format!(
                "Difference of {} per query, sorted: {} better, {} equal, {} worse.",
                comparison.metric,
                count(comparison.wins),
                count(comparison.ties),
                count(comparison.losses)
            );
            Ok((figure::difference(comparison, (figure::NARROW, figure::HIGH))?, caption))
        };
        let pictures =
            self.main().iter().filter(different).take(MAX_CURVES).map(picture).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(text + &figures(&pictures))
    }
}
