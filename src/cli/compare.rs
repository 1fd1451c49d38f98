//! `burnrank compare`: which system is best, and are the differences significant?

mod common;
mod leaderboard;
mod report;

pub use common::{Common, Values, compare_pairs, default_draws};
pub use report::{equal_pairs, interval_text, is_equal, is_significant, mismatch_text, tests_text, verdict};

use super::Usage;
use super::evaluation::{RunArgs, known_metric};
use super::figure;
use super::input::ReadArgs;
use super::output::Output;
use super::systems::{System, names, read_folds, read_systems};
use super::ui::{self, Bar, Unit};
use anyhow::bail;
use burnrank::analysis::significance::Comparison;
use burnrank::analysis::significance::{CompareOptions, Leaderboard, draws_needed};
use burnrank::internal::program::leaderboard::{csv, families, markdown};
use burnrank::metric::DEFAULT_METRIC;
use burnrank::metric::Missing;
use burnrank::{Conventions, Metric};
use common::all_pairs;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  burnrank compare old-model new-model --data test.txt
  burnrank compare models/* bm25.run --data test.txt --metric ndcg@10,map
  burnrank compare models/* --data test.txt --markdown > table.md
  burnrank compare bm25.run scores.txt model --baseline --data test.txt --figure differences.svg
  burnrank compare 'scores/A.Fold{}.txt' 'scores/B.Fold{}.txt' --data 'Fold{}/test.txt' --folds 5

A system is a model folder, a score file (one score per line, in the order of the data), or a TREC run with the document
ids of the data. Queries missing from a run are skipped for all systems.

Two systems, and systems with --baseline, are compared pair by pair. A difference is the second system minus the first;
values that differ only by rounding count as equal. Three or more systems are ranked by the first metric, with a confidence
interval of each mean. Systems that share a letter do not differ significantly by the randomisation test.

Tests are two-sided. P-values and intervals of differences are corrected by Holm's method, for each metric over all
pairs of different systems, including pairs that are not shown. An interval excludes 0 if and only if the difference is
significant. Systems with equal values on every query count as one.";

/// Compare systems: a leaderboard, and paired significance tests over queries
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Two or more systems: model folders, score files or TREC runs
    #[arg(required = true, num_args = 2.., value_name = "SYSTEM")]
    systems: Vec<String>,
    /// Data with the labels
    #[arg(long, value_name = "FILE")]
    data: String,
    /// Number of folds to evaluate together; {} in file names is replaced with 1 to N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    folds: Option<u16>,
    /// Metrics, separated by commas; the first ranks the systems
    #[arg(long = "metric", short, value_name = "NAME", value_delimiter = ',', default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metrics: Vec<String>,
    /// Compare each system with the first one instead of ranking all
    #[arg(long)]
    baseline: bool,
    /// Significance level, over all pairs of systems together
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Random draws per randomisation test; the test is exact for up to 32 queries
    /// [default: 100000, more for over 2,500 comparisons]
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    /// Number of bootstrap resamples
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    resamples: usize,
    /// Number of queries to list per pair, those with the largest differences
    #[arg(long, value_name = "N", default_value_t = 5)]
    movers: usize,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Write a figure of the sorted differences per query, as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Replace the figure if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    evaluation: RunArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the leaderboard as comma-separated values, with all digits
    #[arg(long, conflicts_with_all = ["json", "baseline"])]
    csv: bool,
    /// Print the leaderboard as a table in Markdown
    #[arg(long, conflicts_with_all = ["json", "csv", "baseline"])]
    markdown: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// Maximum number of panels in a figure.
const MAX_PANELS: usize = 24;

impl Args {
    /// Whether to rank the systems; two systems, or any number with `--baseline`, are reported pair by pair.
    fn ranks(&self) -> bool {
        !self.baseline && (self.systems.len() > 2 || self.csv || self.markdown)
    }

    fn options(&self, draws: usize) -> CompareOptions {
        let (resamples, movers, seed) = (self.resamples, self.movers, self.seed);
        CompareOptions { draws, resamples, movers, seed, ..CompareOptions::default() }
    }

    /// Indices of the systems that are compared with each other.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = all_pairs(self.systems.len());
        pairs.retain(|(first, _)| !self.baseline || *first == 0);
        pairs
    }
}

/// Number of draws per test: `--draws`, or enough for a difference to be significant.
fn draws(args: &Args, common: &Common) -> usize {
    let comparisons = all_pairs(args.systems.len()).len();
    let needed = draws_needed(comparisons, args.alpha);
    let draws = args.draws.unwrap_or(default_draws(common, args.systems.len(), args.alpha));
    if !common.is_exact() && comparisons as f64 / (1.0 + draws as f64) > args.alpha {
        ui::note(&format!(
            "none of {comparisons} comparisons can be significant with {draws} draws each: use --draws {needed}"
        ));
    }
    draws
}

/// The comparisons whose numbers are shown, and one leaderboard per metric.
struct Results {
    comparisons: Vec<Comparison>,
    boards: Vec<Leaderboard>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let figure = Output::of_option(args.figure.as_deref(), "--figure", args.force)?;
    check(args)?;
    let metrics = args.evaluation.metrics(&args.metrics)?;
    let panels = args.pairs().len() * metrics.len();
    if args.figure.is_some() && panels > MAX_PANELS {
        bail!(Usage(format!(
            "{panels} comparisons are too many for a figure of at most {MAX_PANELS}: pass fewer systems"
        )));
    }
    let folds = args.folds.map(usize::from);
    let data = read_folds(&args.data, folds, &args.reading)?;
    let bar = Bar::working("evaluating");
    let systems = read_systems(&args.systems, folds, &data, &metrics, &args.evaluation)?;
    drop(bar);
    let common = Common::of(&systems, data.iter().map(|fold| fold.data.n_queries()).sum())?;
    let mut conventions = args.evaluation.conventions();
    if systems.iter().any(|system| system.missing == Missing::Absent) {
        conventions.missing = Missing::Absent;
    }
    let draws = draws(args, &common);
    let values_of = |(place, metric): (usize, &Arc<dyn Metric>)| {
        Values::of((place, &**metric), &systems, &common, &data, args.options(draws))
    };
    let values = metrics.iter().enumerate().map(values_of).collect::<anyhow::Result<Vec<_>>>()?;
    drop(data);
    let mut results = compare_all(args, &systems, &values)?;
    if let Some(figure) = &figure {
        figure::differences(figure, &results.comparisons)?;
    }
    if args.ranks() {
        // Per-query differences of many pairs would make the JSON huge.
        results.comparisons.iter_mut().for_each(|comparison| comparison.differences.clear());
    }
    match args {
        Args { json: true, .. } => ui::print_json(&as_json(args, &common, &systems, &conventions, &results)),
        Args { csv: true, .. } => ui::print(&csv(&results.boards)),
        Args { markdown: true, .. } => ui::print(&markdown(&results.boards)),
        _ if args.ranks() => ui::print(&leaderboard::text(args, &common, &systems, &conventions, &results.boards)),
        _ => ui::print(&report::text(args, &common, &systems, &conventions, &results)),
    }
}

/// Compares all selected pairs by all metrics.
fn compare_all(args: &Args, systems: &[System], values: &[Values]) -> anyhow::Result<Results> {
    // The means of all resamples, and a sorted copy.
    let bytes = burnrank::memory::bytes_of::<[f64; 2]>(args.resamples as u64);
    burnrank::memory::ask(bytes, &format!("{} resamples", args.resamples), "give fewer `resamples`")?;
    let pairs = args.pairs();
    let (bar, total) = (Bar::new("comparing", Unit::Share), pairs.len() * values.len());
    let (mut comparisons, mut boards) = (Vec::new(), Vec::new());
    for (place, values) in values.iter().enumerate() {
        let before = place * pairs.len();
        let progress = |pairs: usize| bar.update((1000 * (before + pairs) / total.max(1)) as u64, Some(1000));
        if args.ranks() && !args.json && args.figure.is_none() {
            let per_query = values.per_query(systems);
            let progress = |pairs, _| progress(pairs);
            boards.push(Leaderboard::new(&values.metric, &per_query, args.alpha, &values.options, &progress)?);
            continue;
        }
        let (compared, board) = compare_pairs(values, systems, &pairs, args.alpha, &progress)?;
        comparisons.extend(compared);
        boards.push(board);
    }
    Ok(Results { comparisons, boards })
}

fn as_json(args: &Args, common: &Common, systems: &[System], conventions: &Conventions, results: &Results) -> Value {
    json!({
        "data": args.data,
        "conventions": conventions.to_string(),
        "like": args.evaluation.like().map(burnrank::metric::Peer::name),
        "alpha": args.alpha,
        "queries": common.all,
        "skipped_queries": common.skipped(),
        "systems": systems.iter().map(system_json).collect::<Vec<_>>(),
        "family": families(&results.boards).into_iter().map(|(metric, pairs)| (metric.to_owned(), pairs.into())).collect::<Map<_, _>>(),
        "leaderboards": results.boards.iter().filter(|_| !args.baseline).map(board_json).collect::<Vec<_>>(),
        "comparisons": results.comparisons,
    })
}

/// A leaderboard without its pairs, which `comparisons` has in full.
fn board_json(board: &Leaderboard) -> Value {
    json!({
        "metric": board.metric,
        "better": board.options.better,
        "queries": board.queries,
        "rows": board.rows,
    })
}

fn system_json(system: &System) -> serde_json::Value {
    json!({
        "name": system.name,
        "path": system.path,
        "queries_not_in_run": system.not_in_run(),
        "queries_not_in_data": system.not_judged(),
        "documents_not_in_data": system.unknown(),
    })
}

fn check(args: &Args) -> anyhow::Result<()> {
    if !(args.alpha > 0.0 && args.alpha < 1.0) {
        bail!(Usage(format!("--alpha {}: expected a number between 0 and 1", args.alpha)));
    }
    if args.draws == Some(0) || args.resamples == 0 {
        bail!(Usage("--draws and --resamples: expected a number of 1 or more".into()));
    }
    args.evaluation.check()?;
    args.reading.check_keeps_lines()?;
    names(&args.systems)?;
    if args.data == "-" && args.systems.iter().any(|system| system == "-") {
        bail!(Usage("only one of --data and the systems can be standard input".into()));
    }
    Ok(())
}
