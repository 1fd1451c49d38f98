//! `burnrank compare`: is the difference between systems real?

use super::Usage;
use super::figure;
use super::input::ReadArgs;
use super::judging::{RunArgs, known_metric};
use super::prose::{fixed, named, p_value, paragraph, signed};
use super::ranking::{Ranking, of};
use super::systems::{Fold, System, names, read_folds, read_systems};
use super::ui::{self, Align, Table, count, counted, heading};
use anyhow::bail;
use burnrank::{Better, CompareOptions, Comparison, Conventions, Metric, Missing, PerQuery, correct};
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank compare old-model new-model --data test.txt
  burnrank compare bm25.run scores.txt model --data test.txt --metric ndcg@10,map --figure differences.svg
  burnrank compare 'scores/A.Fold{}.txt' 'scores/B.Fold{}.txt' --data 'Fold{}/test.txt' --folds 5

A system is a model folder, a file of scores (one per line, in the order of the data), or a TREC run whose document ids
are those of the data. Queries that a run lacks are left out for all systems. Differences are the second system's less
the first's; what differs by rounding only is equal. Tests are two-sided; p-values are corrected by Holm's method over
all comparisons that are shown together.";

/// Is the difference between systems real? Paired tests over queries
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Two systems or more
    #[arg(required = true, num_args = 2.., value_name = "SYSTEM")]
    systems: Vec<String>,
    /// LETOR file with the labels
    #[arg(long, value_name = "FILE")]
    data: String,
    /// Judge so many folds as one: {} in names is the number of the fold, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    folds: Option<u16>,
    /// What to judge by; may be repeated
    #[arg(long = "metric", short, value_name = "NAME", value_delimiter = ',', default_value = "ndcg@10", value_parser = known_metric)]
    metrics: Vec<String>,
    /// Compare only with the first system, instead of each with each
    #[arg(long)]
    baseline: bool,
    /// The error that is allowed, over all comparisons together
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Draws of the randomisation test, where there are too many to count
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    draws: usize,
    /// Resamples of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    resamples: usize,
    /// How many of the queries that moved most are listed
    #[arg(long, value_name = "N", default_value_t = 5)]
    movers: usize,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Draw the sorted differences by query as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    judging: RunArgs,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// More panels than this make no picture.
const MOST_PANELS: usize = 24;

pub fn run(args: &Args) -> anyhow::Result<()> {
    check(args)?;
    let metrics = args.judging.metrics(&args.metrics)?;
    let folds = args.folds.map(usize::from);
    let data = read_folds(&args.data, folds, &args.reading)?;
    let systems = read_systems(&args.systems, folds, &data, &args.judging)?;
    let common = Common::of(&data, &systems)?;
    let mut conventions = args.judging.conventions();
    if systems.iter().flat_map(|system| &system.rankings).any(|ranking| ranking.missing == Missing::Absent) {
        conventions.missing = Missing::Absent;
    }
    let mut comparisons = Vec::new();
    for metric in &metrics {
        comparisons.extend(compare(args, &common, &systems, &**metric, &conventions)?);
    }
    correct(&mut comparisons);
    if let Some(path) = &args.figure {
        if comparisons.len() > MOST_PANELS {
            bail!(Usage(format!("{} comparisons are too many for a figure: give fewer systems", comparisons.len())));
        }
        figure::differences(path, &comparisons)?;
    }
    if args.json {
        return ui::print_json(&json!({
            "data": args.data,
            "conventions": conventions.to_string(),
            "like": args.judging.like_trec_eval().then_some("trec_eval"),
            "alpha": args.alpha,
            "queries": common.all,
            "left_out": common.all - common.queries(),
            "systems": systems.iter().map(system_json).collect::<Vec<_>>(),
            "family": comparisons.len(),
            "comparisons": comparisons,
        }));
    }
    ui::print(&text(args, &common, &systems, &conventions, &comparisons))
}

fn system_json(system: &System) -> serde_json::Value {
    json!({
        "name": system.name,
        "path": system.path,
        "queries_not_in_run": system.lacks(),
        "queries_not_in_data": system.not_judged(),
        "documents_not_in_data": system.unknown(),
    })
}

fn check(args: &Args) -> anyhow::Result<()> {
    if !(args.alpha > 0.0 && args.alpha < 1.0) {
        bail!(Usage(format!("--alpha {}: expected a number between 0 and 1", args.alpha)));
    }
    args.judging.check()?;
    if args.reading.lenient || args.reading.regroup {
        bail!(Usage(
            "--lenient and --regroup move documents away from their scores: 'burnrank convert' the data first".into()
        ));
    }
    names(&args.systems)?;
    if args.data == "-" && args.systems.iter().any(|system| system == "-") {
        bail!(Usage("only one of --data and the systems can be standard input".into()));
    }
    Ok(())
}

/// The queries that all systems have ranked: only these can be compared.
struct Common {
    /// The ids of each fold.
    folds: Vec<Vec<String>>,
    /// How many queries the data have.
    all: usize,
}

impl Common {
    fn of(data: &[Fold], systems: &[System]) -> anyhow::Result<Self> {
        let ranked = |fold: usize| -> HashMap<&str, usize> {
            let mut ranked = HashMap::new();
            let ids = systems.iter().flat_map(|system| &system.rankings[fold].query_ids);
            ids.for_each(|id| *ranked.entry(id.as_str()).or_default() += 1);
            ranked
        };
        let kept = |(fold, data): (usize, &Fold)| {
            let ranked = ranked(fold);
            let by_all = |id: &&String| ranked.get(id.as_str()) == Some(&systems.len());
            data.data.query_ids().iter().filter(by_all).cloned().collect()
        };
        let folds: Vec<Vec<String>> = data.iter().enumerate().map(kept).collect();
        let common = Common { folds, all: data.iter().map(|fold| fold.data.n_queries()).sum() };
        if common.queries() == 0 {
            bail!("no query is in all systems: they cannot be compared; --complete counts what a run lacks");
        }
        Ok(common)
    }

    fn queries(&self) -> usize {
        self.folds.iter().map(Vec::len).sum()
    }
}

/// Each system with each later one, or only with the first, by one measure.
fn compare(
    args: &Args,
    common: &Common,
    systems: &[System],
    metric: &dyn Metric,
    conventions: &Conventions,
) -> anyhow::Result<Vec<Comparison>> {
    let judged =
        systems.iter().map(|system| system.judge(metric, conventions)).collect::<burnrank::Result<Vec<_>>>()?;
    let mut ids = Vec::new();
    let mut values = vec![Vec::new(); systems.len()];
    for (fold, kept) in common.folds.iter().enumerate() {
        for id in kept {
            let of_query: Vec<f64> = judged.iter().filter_map(|folds| folds[fold][id.as_str()]).collect();
            // A query counts for all systems or for none.
            if of_query.len() == systems.len() {
                ids.push(id.clone());
                values.iter_mut().zip(of_query).for_each(|(values, value)| values.push(value));
            }
        }
    }
    let options = CompareOptions {
        better: if metric.is_cost() { Better::Lower } else { Better::Higher },
        draws: args.draws,
        resamples: args.resamples,
        movers: args.movers,
        seed: args.seed,
        ..CompareOptions::default()
    };
    let per_query = |index: usize| PerQuery { name: &systems[index].name, values: &values[index] };
    let mut found = Vec::new();
    for first in 0..if args.baseline { 1 } else { systems.len() } {
        for second in first + 1..systems.len() {
            found.push(Comparison::new(&metric.name(), per_query(first), per_query(second), &ids, &options)?);
        }
    }
    Ok(found)
}

/// More comparisons than this are counted first, instead of told one by one.
const MOST_TOLD: usize = 6;

fn text(
    args: &Args,
    common: &Common,
    systems: &[System],
    conventions: &Conventions,
    comparisons: &[Comparison],
) -> String {
    let real = |found: &&Comparison| is_real(found, args.alpha);
    let mut text = match comparisons.len() {
        ..=MOST_TOLD => comparisons.iter().map(|found| paragraph(&verdict(found, args.alpha))).collect(),
        all => match comparisons.iter().filter(real).count() {
            0 => paragraph(&format!("None of {all} comparisons found a significant difference.")),
            found => paragraph(&format!("{} comparisons found a significant difference, marked *.", of(found, all))),
        },
    };
    text += &fit_text(common, systems, args.judging.complete);
    text += "\n";
    let place = |name: &str| systems.iter().position(|system| system.name == name).map_or(0, |place| place + 1);
    for system in systems {
        let label = if system.name == systems[0].name { "systems" } else { "" };
        text += &named(label, &format!("{} {}", place(&system.name), system.name));
    }
    text += "\n";
    text += &tables(comparisons, args.alpha, &|found| format!("{}, {}", place(&found.baseline), place(&found.system)));
    text += "\n";
    let measures: Vec<String> = comparisons.iter().map(|found| found.measure.clone()).collect();
    text += &named("data", &format!("{}: {}", args.data, counted(common.all, "query", "queries")));
    text += &named("judged", &args.judging.words(conventions, &measures));
    text += &named(
        "tests",
        &format!(
            "p-values of the t-test, of Wilcoxon's test and of the randomisation test, two-sided, corrected by Holm's \
             method over {}; * significant: p of the randomisation test of {} or less",
            counted(comparisons.len(), "comparison", "comparisons"),
            args.alpha
        ),
    );
    let moved = comparisons.iter().filter(|found| !found.movers.is_empty());
    text + &moved.map(movers).collect::<String>()
}

fn is_real(found: &Comparison, alpha: f64) -> bool {
    found.adjusted.and_then(|adjusted| adjusted.randomisation).is_some_and(|p| p <= alpha)
}

/// What a comparison came to, in a sentence.
fn verdict(found: &Comparison, alpha: f64) -> String {
    let (first, second, measure) = (&found.baseline, &found.system, &found.measure);
    if found.ties == found.queries {
        let queries = counted(found.queries, "query", "queries");
        return format!("{second} and {first} are equal by {measure} on every query, {queries} in all.");
    }
    let gain = if found.options.better == Better::Higher { found.difference } else { -found.difference };
    let p = p_value(found.adjusted.and_then(|adjusted| adjusted.randomisation));
    let p = if p.starts_with('<') { p.replace('<', "p < ") } else { format!("p = {p}") };
    let interval = found.bootstrap.as_ref().map(|bootstrap| bootstrap.interval());
    let interval = interval
        .map_or(String::new(), |(low, high)| format!(", 95% interval {} to {}", signed(low, 4), signed(high, 4)));
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
fn fit_text(common: &Common, systems: &[System], complete: bool) -> String {
    let mut text = String::new();
    for system in systems {
        let lacking = of(system.lacks(), common.all);
        if system.lacks() > 0 && complete {
            text += &paragraph(&format!(
                "{lacking} queries are not in the run {}: counted with nothing retrieved.",
                system.name
            ));
        } else if system.lacks() > 0 {
            text += &paragraph(&format!("{lacking} queries left out for all systems, not in the run {}.", system.name));
        }
        if system.rankings.iter().any(Ranking::says_nothing) {
            text += &paragraph(&format!("All scores of {} are the same.", system.name));
        }
        if system.not_judged() > 0 {
            let queries = counted(system.not_judged(), "query", "queries");
            text += &paragraph(&format!("{queries} of the run {} left out, not judged.", system.name));
        }
        if system.unknown() > 0 {
            let documents = counted(system.unknown(), "document", "documents");
            text +=
                &paragraph(&format!("{documents} of the run {} not in the data, taken as not relevant.", system.name));
        }
    }
    text
}

/// How far systems are apart, and how sure that is.
fn tables(comparisons: &[Comparison], alpha: f64, pair: &dyn Fn(&Comparison) -> String) -> String {
    let right = |name| (name, Align::Right);
    let mut means = Table::new(&[
        ("measure", Align::Left),
        ("pair", Align::Left),
        right("mean 1st"),
        right("mean 2nd"),
        right("difference"),
        ("95% interval", Align::Left),
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
    for found in comparisons {
        let interval = found.bootstrap.as_ref().map(|bootstrap| bootstrap.interval());
        means.row([
            found.measure.clone(),
            pair(found),
            fixed(found.baseline_mean, 4),
            fixed(found.system_mean, 4),
            signed(found.difference, 4),
            interval.map_or("-".into(), |(low, high)| format!("{} to {}", signed(low, 4), signed(high, 4))),
        ]);
        let adjusted = found.adjusted.as_ref();
        tests.row([
            found.measure.clone(),
            pair(found),
            format!("{}/{}/{}", count(found.wins), count(found.ties), count(found.losses)),
            found.effect_size.map_or("-".into(), |effect| signed(effect, 3)),
            p_value(adjusted.and_then(|p| p.t_test)),
            p_value(adjusted.and_then(|p| p.wilcoxon)),
            p_value(adjusted.and_then(|p| p.randomisation)),
            if is_real(found, alpha) { "*" } else { "" }.to_owned(),
        ]);
    }
    format!("{}\n{}", means.render(), tests.render())
}

fn movers(found: &Comparison) -> String {
    let title = paragraph(&format!("{}: {} to {}, moved most", found.measure, found.baseline, found.system));
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[("query", Align::Left), right("1st"), right("2nd"), right("difference")]);
    for mover in &found.movers {
        table.row([mover.query.clone(), fixed(mover.baseline, 4), fixed(mover.system, 4), signed(mover.difference, 4)]);
    }
    format!("\n{}\n{}", heading(title.trim_end()), table.render())
}
