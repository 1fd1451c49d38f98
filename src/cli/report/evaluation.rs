//! The systems of a report, judged query by query: measures, their distribution, and whether differences are real.

use super::Args;
use super::html::{aside, figures, table};
use crate::cli::compare::{
    Common, Values, compare_pairs, equal_pairs, fit_text, interval_text, is_equal, is_real, tests_text, usual_draws,
    verdict,
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

/// Ranks that measures are told at.
const RANKS: [usize; 6] = [1, 2, 3, 5, 10, 20];
/// The error that is allowed over all comparisons.
const ALPHA: f64 = 0.05;
/// More systems than this make no figure.
const MOST_CURVES: usize = 6;

/// All systems on one data set.
pub struct Judged {
    folds: Vec<Fold>,
    systems: Vec<System>,
    common: Common,
    conventions: Conventions,
    complete: bool,
    /// The values of each measure; the one asked for first.
    measures: Vec<Values>,
    /// The rank and the values of the measure by rank, and its name without one.
    by_rank: (String, Vec<(usize, Values)>),
}

impl Judged {
    /// Reads the data and judges models and baseline.
    pub fn new(args: &Args, paths: &[String], data: &str) -> anyhow::Result<Self> {
        let folds = read_folds(data, None, &args.reading)?;
        let known = |name: &String| args.judging.metrics(std::slice::from_ref(name)).is_ok();
        let asked = args.judging.metrics(std::slice::from_ref(&args.metric))?;
        let mut names = vec![asked[0].name()];
        names.extend(REPORTED_METRICS.into_iter().chain(["p@10"]).map(str::to_owned).filter(known));
        let own = asked[0].name().split('@').next().unwrap_or_default().to_owned();
        let base = if known(&format!("{own}@1")) { own } else { "ndcg".to_owned() };
        let measures = args.judging.metrics(&names)?;
        let ranked = args.judging.metrics(&RANKS.map(|rank| format!("{base}@{rank}")))?;
        let all: Vec<Arc<dyn Metric>> = measures.iter().chain(&ranked).cloned().collect();
        let bar = Bar::working("judging");
        let systems = read_systems(paths, None, &folds, &all, &args.judging)?;
        drop(bar);
        let common = Common::of(&systems, folds.iter().map(|fold| fold.data.n_queries()).sum())?;
        let mut conventions = args.judging.conventions();
        if systems.iter().any(|system| system.missing == Missing::Absent) {
            conventions.missing = Missing::Absent;
        }
        let draws = usual_draws(&common, systems.len(), ALPHA);
        let options = CompareOptions { seed: args.seed, draws, movers: 0, ..CompareOptions::default() };
        let values = |place: usize| Values::of((place, &*all[place]), &systems, &common, &folds, options.clone());
        let by_rank = RANKS.iter().enumerate().map(|(at, &rank)| Ok((rank, values(measures.len() + at)?)));
        let by_rank = (base, by_rank.collect::<anyhow::Result<Vec<_>>>()?);
        let measures = (0..measures.len()).map(values).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Judged { folds, systems, common, conventions, complete: args.judging.complete, measures, by_rank })
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

    /// Means, measures by rank, and how values are spread over queries.
    pub fn measures(&self, asked: &str) -> anyhow::Result<String> {
        let names: Vec<String> = self.systems.iter().map(|system| system.name.clone()).collect();
        let rows: Vec<Vec<String>> = (0..self.systems.len())
            .map(|system| {
                let cells = self.measures.iter().map(|values| {
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
        headings.extend(self.measures.iter().map(|values| values.measure.as_str()));
        let mut text = table("Means over queries, with 95% intervals in brackets", 1, &headings, &rows);
        let fit = fit_text(&self.common, &self.systems, &names, self.complete);
        text += &fit.lines().map(aside).collect::<String>();
        let (base, by_rank) = &self.by_rank;
        if self.systems.len() <= MOST_CURVES {
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
            let spread: Vec<Curve> = (0..self.systems.len())
                .map(|system| curve(system, distribution(self.measures[0].per_query(&self.systems)[system].values), 4))
                .collect();
            text += &figures(&[
                (
                    figure::lines(&format!("{base} at rank k"), ("k", base), &at_ranks, true)?,
                    format!("The mean of {base}@k over queries, for k from 1 to 20."),
                ),
                (
                    figure::lines("Queries with at most this value", (asked, "share of queries"), &spread, false)?,
                    format!("The share of queries whose {asked} is at most a value: the lower the curve, the better."),
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

    /// Each model against the baseline: the one given, the first model, or the best single feature.
    pub fn comparisons(&self, args: &Args, explained: &[Explanation]) -> anyhow::Result<Compared> {
        let models = args.models.len();
        if let ([found], None) = (explained, &args.baseline) {
            let comparison = Comparison { system: self.systems[0].name.clone(), ..found.comparison.clone() };
            return Ok(Compared { comparisons: vec![comparison], measures: 1 });
        }
        // The baseline is the last system where one is given.
        let (first, others) = if args.baseline.is_some() { (models, 0..models) } else { (0, 1..models) };
        let pairs: Vec<(usize, usize)> = others.map(|system| (first, system)).collect();
        let _bar = Bar::working("comparing");
        let mut comparisons = Vec::new();
        for values in &self.measures {
            comparisons.extend(compare_pairs(values, &self.systems, &pairs, ALPHA, &|_| ())?.0);
        }
        Ok(Compared { comparisons, measures: self.measures.len() })
    }

    /// What all numbers depend on.
    pub fn conventions(&self, args: &Args, compared: &Compared, explained: &[Explanation]) -> String {
        let names: Vec<String> = self
            .measures
            .iter()
            .chain(self.by_rank.1.iter().map(|(_, values)| values))
            .map(|values| values.measure.clone())
            .collect();
        let mut rows = vec![vec!["judged".to_owned(), args.judging.words(&self.conventions, &names)]];
        rows.push(vec![
            "intervals".into(),
            "95%; of means by Student's distribution over queries, for each mean alone; of differences as below".into(),
        ]);
        rows.push(vec!["tests".into(), tests_text(&compared.families(), ALPHA)]);
        for found in explained {
            for (name, words) in methods(found) {
                let row = vec![name.to_owned(), words];
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        table("How numbers were found", 2, &["what", "how"], &rows)
    }
}

/// Points of the cumulative distribution: value and share of queries.
fn distribution(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let share = |step: usize| step as f64 / 20.0;
    (0..=20)
        .filter_map(|step| Some((*sorted.get((share(step) * last as f64).round() as usize)?, share(step))))
        .collect()
}

/// Comparisons of the page, by measures.
pub struct Compared {
    comparisons: Vec<Comparison>,
    measures: usize,
}

impl Compared {
    /// Those by the measure asked for.
    fn main(&self) -> &[Comparison] {
        &self.comparisons[..self.comparisons.len() / self.measures.max(1)]
    }

    /// Each measure and the number of pairs of different systems that it is corrected for.
    fn families(&self) -> Vec<(&str, usize)> {
        fn of(found: &[Comparison]) -> Option<(&str, usize)> {
            let family = found.iter().find_map(|found| found.adjusted).map_or(0, |adjusted| adjusted.family);
            found.first().map(|first| (first.metric.as_str(), family))
        }
        self.comparisons.chunk_by(|a, b| a.metric == b.metric).filter_map(of).collect()
    }

    /// What they came to.
    pub fn verdicts(&self) -> Vec<String> {
        self.main().iter().map(|found| verdict(found, ALPHA)).collect()
    }

    pub fn section(&self) -> anyhow::Result<String> {
        let row = |found: &Comparison| {
            let p = |pick: fn(&burnrank::analysis::significance::Adjusted) -> Option<f64>| {
                p_value(found.adjusted.as_ref().and_then(pick))
            };
            vec![
                found.system.clone(),
                found.metric.clone(),
                fixed(found.system_mean, 4),
                fixed(found.baseline_mean, 4),
                signed(found.difference, 4) + if is_real(found, ALPHA) { " *" } else { "" },
                interval_text(found).unwrap_or("-".into()),
                format!("{}/{}/{}", count(found.wins), count(found.ties), count(found.losses)),
                p(|adjusted| adjusted.t_test),
                p(|adjusted| adjusted.wilcoxon),
                p(|adjusted| adjusted.randomisation),
            ]
        };
        let headings = [
            "system",
            "measure",
            "mean",
            "baseline",
            "difference",
            "95% interval",
            "better/equal/worse",
            "t-test",
            "Wilcoxon",
            "randomisation",
        ];
        let rows: Vec<Vec<String>> = self.comparisons.iter().filter(|found| !is_equal(found)).map(row).collect();
        let baseline = self.comparisons.first().map_or("", |found| found.baseline.as_str());
        let caption = format!(
            "Differences from {baseline}, and the p-values of three tests; * significant by the randomisation test"
        );
        let mut text = if rows.is_empty() { String::new() } else { table(&caption, 2, &headings, &rows) };
        text += &aside(&format!("How differences are tested: {}.", tests_text(&self.families(), ALPHA)));
        text += &equal_pairs(&self.comparisons).iter().map(|line| aside(line)).collect::<String>();
        let picture = |found: &Comparison| {
            let caption = format!(
                "The difference of {} on each query, sorted: {} better, {} equal, {} worse.",
                found.metric,
                count(found.wins),
                count(found.ties),
                count(found.losses)
            );
            Ok((figure::difference(found, (figure::NARROW, figure::HIGH))?, caption))
        };
        let pictures = self
            .main()
            .iter()
            .filter(|found| !is_equal(found))
            .take(MOST_CURVES)
            .map(picture)
            .collect::<anyhow::Result<Vec<_>>>()?;
        Ok(text + &figures(&pictures))
    }
}
