//! What `compare` tells people: the verdict in words, then the numbers, then how they were found.

use super::common::Common;
use super::{Args, Found};
use crate::cli::prose::{fixed, named, number, p_value, paragraph, signed};
use crate::cli::ranking::of;
use crate::cli::systems::System;
use crate::cli::ui::{self, Align, Table, count, counted, heading};
use burnrank::Conventions;
use burnrank::analysis::significance::Better;
use burnrank::analysis::significance::Comparison;
use burnrank::internal::program::leaderboard::{families, family};

/// More comparisons than this are counted first, instead of told one by one.
const MOST_TOLD: usize = 6;

pub fn text(args: &Args, common: &Common, systems: &[System], conventions: &Conventions, found: &Found) -> String {
    let comparisons = &found.comparisons[..];
    let real = |found: &&Comparison| is_real(found, args.alpha);
    let different = comparisons.iter().filter(|found| !is_equal(found));
    let mut text = match (comparisons.len(), different.clone().filter(real).count()) {
        (..=MOST_TOLD, _) => comparisons.iter().map(|found| paragraph(&verdict(found, args.alpha))).collect(),
        (_, found) => {
            let found = match (found, different.count()) {
                (0, all) => format!("None of {all} comparisons found a significant difference."),
                (found, all) => format!("{} comparisons found a significant difference, marked *.", of(found, all)),
            };
            let equal = equal_pairs(comparisons);
            paragraph(&found) + &equal.iter().map(|line| paragraph(line)).collect::<String>()
        }
    };
    let names: Vec<String> = systems.iter().map(|system| system.name.clone()).collect();
    text += &fit_text(common, systems, &names, args.judging.complete);
    text += "\n";
    let place = |name: &str| systems.iter().position(|system| system.name == name).map_or(0, |place| place + 1);
    for system in systems {
        let label = if system.name == systems[0].name { "systems" } else { "" };
        text += &named(label, &format!("{} {}", place(&system.name), system.name));
    }
    text += "\n";
    if !comparisons.iter().all(is_equal) {
        text +=
            &tables(comparisons, args.alpha, &|found| format!("{}, {}", place(&found.baseline), place(&found.system)));
        text += "\n";
    }
    let measures: Vec<String> = comparisons.iter().map(|found| found.metric.clone()).collect();
    text += &named("data", &format!("{}: {}", args.data, counted(common.all, "query", "queries")));
    text += &named("judged", &args.judging.words(conventions, &measures));
    text += &named("tests", &tests_text(&families(&found.boards), args.alpha));
    let moved = comparisons.iter().filter(|found| !found.movers.is_empty());
    text + &moved.map(movers).collect::<String>()
}

/// How differences are tested, and what for; takes each metric and its number of pairs of different systems.
pub fn tests_text(metrics: &[(&str, usize)], alpha: f64) -> String {
    format!(
        "p-values of the t-test, of Wilcoxon's test and of the randomisation test, two-sided; intervals of differences by \
         inverting the randomisation test; both corrected by Holm's method over {}; * significant: p of the randomisation \
         test of {alpha} or less, which is where the interval excludes 0",
        family(metrics)
    )
}

/// Whether both systems have the same value on every query.
pub fn is_equal(found: &Comparison) -> bool {
    found.ties == found.queries
}

/// The pairs that are equal on every query, with the metrics by which they are, in a sentence each.
pub fn equal_pairs(comparisons: &[Comparison]) -> Vec<String> {
    let mut pairs: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for found in comparisons.iter().filter(|found| is_equal(found)) {
        match pairs.iter_mut().find(|(system, baseline, _)| (*system, *baseline) == (&found.system, &found.baseline)) {
            Some((_, _, metrics)) => metrics.push(found.metric.clone()),
            None => pairs.push((&found.system, &found.baseline, vec![found.metric.clone()])),
        }
    }
    let line = |(system, baseline, metrics): &(&str, &str, Vec<String>)| {
        let metrics = metrics.join(", ");
        format!("{system} and {baseline} are equal by {metrics} on every query, and not compared.")
    };
    pairs.iter().map(line).collect()
}

/// The corrected interval of a difference, as in "+0.0010 to +0.0200".
pub fn interval_text(found: &Comparison) -> Option<String> {
    let (low, high) = found.adjusted?.interval?;
    Some(format!("{} to {}", signed(low, 4), signed(high, 4)))
}

/// As in "95% interval".
fn interval_name(alpha: f64) -> String {
    format!("{}% interval", number(100.0 * (1.0 - alpha)))
}

/// Whether the difference is significant after the correction.
pub fn is_real(found: &Comparison, alpha: f64) -> bool {
    found.adjusted.and_then(|adjusted| adjusted.randomisation).is_some_and(|p| p <= alpha)
}

/// What a comparison came to, in a sentence.
pub fn verdict(found: &Comparison, alpha: f64) -> String {
    let (first, second, measure) = (&found.baseline, &found.system, &found.metric);
    if is_equal(found) {
        let queries = counted(found.queries, "query", "queries");
        return format!(
            "{second} and {first} are equal by {measure} on every query, {queries} in all, and not compared."
        );
    }
    let gain = if found.options.better == Better::Higher { found.difference } else { -found.difference };
    let p = p_value(found.adjusted.and_then(|adjusted| adjusted.randomisation));
    let p = if p.starts_with('<') { p.replace('<', "p < ") } else { format!("p = {p}") };
    let interval = interval_text(found);
    let interval = interval.map_or(String::new(), |interval| format!(", {} {interval}", interval_name(alpha)));
    let numbers = format!(
        "{} against {} (difference {}{interval}; {p})",
        fixed(found.system_mean, 4),
        fixed(found.baseline_mean, 4),
        signed(found.difference, 4)
    );
    match is_real(found, alpha) {
        true if gain > 0.0 => format!("{second} is better than {first} by {measure}: {numbers}. This is significant."),
        true => format!("{second} is worse than {first} by {measure}: {numbers}. This is significant."),
        false => format!("{second} and {first} do not differ significantly by {measure}: {numbers}."),
    }
}

/// Which queries and documents of runs and data do not fit together.
pub fn fit_text(common: &Common, systems: &[System], names: &[String], complete: bool) -> String {
    let mut text = String::new();
    for (system, name) in systems.iter().zip(names) {
        let lacking = of(system.lacks(), common.all);
        if system.lacks() > 0 && complete {
            text +=
                &paragraph(&format!("{lacking} queries are not in the run {name}: counted with nothing retrieved."));
        } else if system.lacks() > 0 {
            text += &paragraph(&format!("{lacking} queries left out for all systems, not in the run {name}."));
        }
        if system.says_nothing {
            text += &paragraph(&format!("All scores of {name} are the same."));
        }
        if system.not_judged() > 0 {
            let queries = counted(system.not_judged(), "query", "queries");
            text += &paragraph(&format!("{queries} of the run {name} left out, not judged."));
        }
        if system.unknown() > 0 {
            let documents = counted(system.unknown(), "document", "documents");
            text += &paragraph(&format!("{documents} of the run {name} not in the data, taken as not relevant."));
        }
    }
    text
}

/// How far systems are apart, and how sure that is.
fn tables(comparisons: &[Comparison], alpha: f64, pair: &dyn Fn(&Comparison) -> String) -> String {
    let right = |name| (name, Align::Right);
    let interval = interval_name(alpha);
    let mut means = Table::new(&[
        ("measure", Align::Left),
        ("pair", Align::Left),
        right("mean 1st"),
        right("mean 2nd"),
        right("difference"),
        (&interval, Align::Left),
    ]);
    let mut tests = Table::new(&[
        ("measure", Align::Left),
        ("pair", Align::Left),
        ("better/equal/worse", Align::Left),
        right("effect"),
        right("t-test"),
        right("Wilcoxon"),
        right("random"),
        ("", Align::Left),
    ]);
    for found in comparisons.iter().filter(|found| !is_equal(found)) {
        means.row([
            found.metric.clone(),
            pair(found),
            fixed(found.baseline_mean, 4),
            fixed(found.system_mean, 4),
            signed(found.difference, 4),
            interval_text(found).unwrap_or("-".into()),
        ]);
        let adjusted = found.adjusted.as_ref();
        tests.row([
            found.metric.clone(),
            pair(found),
            format!("{}/{}/{}", count(found.wins), count(found.ties), count(found.losses)),
            found.effect_size.map_or("-".into(), |effect| signed(effect, 3)),
            p_value(adjusted.and_then(|p| p.t_test)),
            p_value(adjusted.and_then(|p| p.wilcoxon)),
            p_value(adjusted.and_then(|p| p.randomisation)),
            if is_real(found, alpha) { "*" } else { "" }.to_owned(),
        ]);
    }
    format!("{}\n{}", ui::table(&means), ui::table(&tests))
}

fn movers(found: &Comparison) -> String {
    let title = paragraph(&format!("{}: {} to {}, moved most", found.metric, found.baseline, found.system));
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[("query", Align::Left), right("1st"), right("2nd"), right("difference")]);
    for mover in &found.movers {
        table.row([mover.query.clone(), fixed(mover.baseline, 4), fixed(mover.system, 4), signed(mover.difference, 4)]);
    }
    format!("\n{}\n{}", heading(title.trim_end()), ui::table(&table))
}
