//! The report of `compare` on pairs of systems: the verdict, the tables, then how they were computed.

use super::common::Common;
use super::{Args, Results};
use crate::cli::prose::{fixed, named, number, p_value, paragraph, signed};
use crate::cli::ranking::of;
use crate::cli::systems::System;
use crate::cli::ui::{self, Align, Table, count, counted, heading};
use burnrank::Conventions;
use burnrank::analysis::significance::Better;
use burnrank::analysis::significance::Comparison;
use burnrank::internal::program::leaderboard::{families, family};

/// Maximum number of comparisons with a sentence each; more are only counted.
const MAX_VERDICTS: usize = 6;

pub fn text(args: &Args, common: &Common, systems: &[System], conventions: &Conventions, results: &Results) -> String {
    let comparisons = &results.comparisons[..];
    let significant = |comparison: &&Comparison| is_significant(comparison, args.alpha);
    let different = comparisons.iter().filter(|comparison| !is_equal(comparison));
    let mut text = match (comparisons.len(), different.clone().filter(significant).count()) {
        (..=MAX_VERDICTS, _) => comparisons.iter().map(|one| paragraph(&verdict(one, args.alpha))).collect(),
        (_, significant) => {
            let count = match (significant, different.count()) {
                (0, all) => format!("None of {all} comparisons found a significant difference."),
                (some, all) => format!("{} comparisons found a significant difference, marked *.", of(some, all)),
            };
            let equal = equal_pairs(comparisons);
            paragraph(&count) + &equal.iter().map(|line| paragraph(line)).collect::<String>()
        }
    };
    let names: Vec<String> = systems.iter().map(|system| system.name.clone()).collect();
    text += &mismatch_text(common, systems, &names, args.evaluation.complete);
    text += "\n";
    let place = |name: &str| systems.iter().position(|system| system.name == name).map_or(0, |place| place + 1);
    for system in systems {
        let label = if system.name == systems[0].name { "systems" } else { "" };
        text += &named(label, &format!("{} {}", place(&system.name), system.name));
    }
    text += "\n";
    if !comparisons.iter().all(is_equal) {
        text += &tables(comparisons, args.alpha, &|pair| format!("{}, {}", place(&pair.baseline), place(&pair.system)));
        text += "\n";
    }
    let metrics: Vec<String> = comparisons.iter().map(|comparison| comparison.metric.clone()).collect();
    text += &named("data", &format!("{}: {}", args.data, counted(common.all, "query", "queries")));
    text += &named("conventions", &args.evaluation.words(conventions, &metrics));
    text += &named("tests", &tests_text(&families(&results.boards), args.alpha));
    let moved = comparisons.iter().filter(|comparison| !comparison.movers.is_empty());
    text + &moved.map(movers).collect::<String>()
}

/// How differences are tested. `metrics` has the name of each metric and its number of pairs of different systems.
pub fn tests_text(metrics: &[(&str, usize)], alpha: f64) -> String {
    format!(
        "two-sided p-values of the t-test, Wilcoxon's test and the randomisation test; intervals of differences by \
         inverting the randomisation test; both corrected by Holm's method over {}; * significant: p of the randomisation \
         test is at most {alpha}, and the interval excludes 0",
        family(metrics)
    )
}

/// Whether both systems have the same value on every query.
pub fn is_equal(comparison: &Comparison) -> bool {
    comparison.ties == comparison.queries
}

/// One sentence for each pair that is equal on every query, with the metrics.
pub fn equal_pairs(comparisons: &[Comparison]) -> Vec<String> {
    let mut pairs: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for Comparison { system, baseline, metric, .. } in comparisons.iter().filter(|comparison| is_equal(comparison)) {
        match pairs.iter_mut().find(|pair| (pair.0, pair.1) == (system.as_str(), baseline.as_str())) {
            Some((_, _, metrics)) => metrics.push(metric.clone()),
            None => pairs.push((system, baseline, vec![metric.clone()])),
        }
    }
    let line = |(system, baseline, metrics): &(&str, &str, Vec<String>)| {
        let metrics = metrics.join(", ");
        format!("{system} and {baseline} have equal {metrics} on every query; not compared.")
    };
    pairs.iter().map(line).collect()
}

/// The corrected interval of a difference, as in "+0.0010 to +0.0200".
pub fn interval_text(comparison: &Comparison) -> Option<String> {
    let (low, high) = comparison.adjusted?.interval?;
    Some(format!("{} to {}", signed(low, 4), signed(high, 4)))
}

/// As in "95% interval".
fn interval_name(alpha: f64) -> String {
    format!("{}% interval", number(100.0 * (1.0 - alpha)))
}

/// Whether the difference is significant after the correction.
pub fn is_significant(comparison: &Comparison, alpha: f64) -> bool {
    comparison.adjusted.and_then(|adjusted| adjusted.randomisation).is_some_and(|p| p <= alpha)
}

/// The result of a comparison, in one sentence.
pub fn verdict(comparison: &Comparison, alpha: f64) -> String {
    let Comparison { baseline: first, system: second, metric, difference, .. } = comparison;
    if is_equal(comparison) {
        let queries = counted(comparison.queries, "query", "queries");
        return format!("{second} and {first} have equal {metric} on every query ({queries}); not compared.");
    }
    let gain = if comparison.options.better == Better::Higher { *difference } else { -difference };
    let p = p_value(comparison.adjusted.and_then(|adjusted| adjusted.randomisation));
    let p = if p.starts_with('<') { p.replace('<', "p < ") } else { format!("p = {p}") };
    let interval = interval_text(comparison);
    let interval = interval.map_or(String::new(), |interval| format!(", {} {interval}", interval_name(alpha)));
    let numbers = format!(
        "{} against {} (difference {}{interval}; {p})",
        fixed(comparison.system_mean, 4),
        fixed(comparison.baseline_mean, 4),
        signed(*difference, 4)
    );
    match is_significant(comparison, alpha) {
        true if gain > 0.0 => format!("{second} is significantly better than {first} by {metric}: {numbers}."),
        true => format!("{second} is significantly worse than {first} by {metric}: {numbers}."),
        false => format!("{second} and {first} do not differ significantly by {metric}: {numbers}."),
    }
}

/// Queries and documents that are in the runs but not in the data, or the reverse.
pub fn mismatch_text(common: &Common, systems: &[System], names: &[String], complete: bool) -> String {
    let mut text = String::new();
    for (system, name) in systems.iter().zip(names) {
        let missing = of(system.not_in_run(), common.all);
        if system.not_in_run() > 0 && complete {
            text += &paragraph(&format!(
                "{missing} queries are missing from the run {name} and count as nothing retrieved."
            ));
        } else if system.not_in_run() > 0 {
            text +=
                &paragraph(&format!("{missing} queries are missing from the run {name} and skipped for all systems."));
        }
        if system.is_constant {
            text += &paragraph(&format!("All scores of {name} are equal."));
        }
        if system.not_judged() > 0 {
            let queries = counted(system.not_judged(), "query", "queries");
            text += &paragraph(&format!("{queries} of the run {name} not in the data, skipped."));
        }
        if system.unknown() > 0 {
            let documents = counted(system.unknown(), "document", "documents");
            text += &paragraph(&format!("{documents} of the run {name} not in the data, treated as not relevant."));
        }
    }
    text
}

/// The tables of means and of tests.
fn tables(comparisons: &[Comparison], alpha: f64, pair: &dyn Fn(&Comparison) -> String) -> String {
    let right = |name| (name, Align::Right);
    let interval = interval_name(alpha);
    let mut means = Table::new(&[
        ("metric", Align::Left),
        ("pair", Align::Left),
        right("mean 1st"),
        right("mean 2nd"),
        right("difference"),
        (&interval, Align::Left),
    ]);
    let mut tests = Table::new(&[
        ("metric", Align::Left),
        ("pair", Align::Left),
        ("better/equal/worse", Align::Left),
        right("effect"),
        right("t-test"),
        right("Wilcoxon"),
        right("random"),
        ("", Align::Left),
    ]);
    for comparison in comparisons.iter().filter(|comparison| !is_equal(comparison)) {
        means.row([
            comparison.metric.clone(),
            pair(comparison),
            fixed(comparison.baseline_mean, 4),
            fixed(comparison.system_mean, 4),
            signed(comparison.difference, 4),
            interval_text(comparison).unwrap_or("-".into()),
        ]);
        let adjusted = comparison.adjusted.as_ref();
        tests.row([
            comparison.metric.clone(),
            pair(comparison),
            format!("{}/{}/{}", count(comparison.wins), count(comparison.ties), count(comparison.losses)),
            comparison.effect_size.map_or("-".into(), |effect| signed(effect, 3)),
            p_value(adjusted.and_then(|p| p.t_test)),
            p_value(adjusted.and_then(|p| p.wilcoxon)),
            p_value(adjusted.and_then(|p| p.randomisation)),
            if is_significant(comparison, alpha) { "*" } else { "" }.to_owned(),
        ]);
    }
    format!("{}\n{}", ui::table(&means), ui::table(&tests))
}

/// The queries with the largest differences.
fn movers(comparison: &Comparison) -> String {
    let Comparison { metric, baseline, system, .. } = comparison;
    let title = paragraph(&format!("Largest differences in {metric}, {baseline} to {system}"));
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[("query", Align::Left), right("1st"), right("2nd"), right("difference")]);
    for mover in &comparison.movers {
        table.row([mover.query.clone(), fixed(mover.baseline, 4), fixed(mover.system, 4), signed(mover.difference, 4)]);
    }
    format!("\n{}\n{}", heading(title.trim_end()), ui::table(&table))
}
