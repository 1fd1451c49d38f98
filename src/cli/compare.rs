//! `burnrank compare`: is the difference between systems real?

mod report;

use super::Usage;
use super::figure;
use super::input::ReadArgs;
use super::judging::{RunArgs, known_metric};
use super::systems::{Fold, System, names, read_folds, read_systems};
use super::ui::{self, Bar};
use anyhow::bail;
use burnrank::analysis::significance::{Better, CompareOptions, PerQuery, correct};
use burnrank::metric::Missing;
use burnrank::{Comparison, Conventions, Metric};
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
    let bar = Bar::working("comparing");
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
    drop(bar);
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
    ui::print(&report::text(args, &common, &systems, &conventions, &comparisons))
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
    if args.draws == 0 || args.resamples == 0 {
        bail!(Usage("--draws and --resamples: expected a number of 1 or more".into()));
    }
    args.judging.check()?;
    args.reading.check_keeps_lines()?;
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
    // The means of all resamples, and a sorted copy.
    let bytes = burnrank::memory::bytes_of::<[f64; 2]>(args.resamples as u64);
    burnrank::memory::ask(bytes, &format!("{} resamples", args.resamples), "give fewer --resamples")?;
    let per_query = |index: usize| PerQuery { name: &systems[index].name, values: &values[index] };
    let mut found = Vec::new();
    for first in 0..if args.baseline { 1 } else { systems.len() } {
        for second in first + 1..systems.len() {
            found.push(Comparison::new(&metric.name(), per_query(first), per_query(second), &ids, &options)?);
        }
    }
    Ok(found)
}
