//! `burnrank compare`: is the difference between systems real, and which is best?

mod common;
mod leaderboard;
mod report;

pub use common::{Common, Values, compare_pairs, usual_draws};
pub use report::{equal_pairs, fit_text, interval_text, is_equal, is_real, tests_text, verdict};

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

A system is a model folder, a file of scores (one per line, in the order of the data), or a TREC run whose document ids
are those of the data. Queries that a run lacks are left out for all systems.

Two systems, and systems with --baseline, are compared pair by pair. Differences are the second system's less the
first's; what differs by rounding only is equal. Three systems or more are ranked by the first measure: systems that
share a letter do not differ significantly by the randomisation test, and intervals are those of the means.

Tests are two-sided. P-values and intervals of differences are corrected by Holm's method over all pairs of different
systems by one metric, whichever of them are shown. An interval excludes 0 exactly where the difference is significant.
Systems that are equal on every query count as one and are not compared.";

/// Is the difference between systems real? A leaderboard and paired tests over queries
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
    #[arg(long = "metric", short, value_name = "NAME", value_delimiter = ',', default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metrics: Vec<String>,
    /// Compare only with the first system, pair by pair, instead of ranking all
    #[arg(long)]
    baseline: bool,
    /// The error that is allowed, over all pairs of systems together
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Draws of the randomisation test, where there are too many to count
    /// [default: 100000, and more for over 2,500 comparisons]
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    /// Resamples of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    resamples: usize,
    /// How many of the queries that moved most are listed for each pair
    #[arg(long, value_name = "N", default_value_t = 5)]
    movers: usize,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Draw the sorted differences of each pair by query as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Replace the figure if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    judging: RunArgs,
    /// Print JSON for machines
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

/// More panels than this make no picture.
const MOST_PANELS: usize = 24;

impl Args {
    /// Whether systems are ranked; two systems, or many and a baseline, are told pair by pair.
    fn ranks(&self) -> bool {
        !self.baseline && (self.systems.len() > 2 || self.csv || self.markdown)
    }

    fn options(&self, draws: usize) -> CompareOptions {
        let (resamples, movers, seed) = (self.resamples, self.movers, self.seed);
        CompareOptions { draws, resamples, movers, seed, ..CompareOptions::default() }
    }

    /// The places of the systems that are compared with each other.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = all_pairs(self.systems.len());
        pairs.retain(|(first, _)| !self.baseline || *first == 0);
        pairs
    }
}

/// The draws of each test: those asked for, or as many as it takes.
fn draws(args: &Args, common: &Common) -> usize {
    let comparisons = all_pairs(args.systems.len()).len();
    let needed = draws_needed(comparisons, args.alpha);
    let draws = args.draws.unwrap_or(usual_draws(common, args.systems.len(), args.alpha));
    if !common.counts_signs() && comparisons as f64 / (1.0 + draws as f64) > args.alpha {
        ui::note(&format!(
            "of {comparisons} comparisons on over 32 queries none can be significant after {draws} draws each: give --draws {needed}"
        ));
    }
    draws
}

/// What came of it: comparisons where somebody wants their numbers, and a board of all systems for each metric.
struct Found {
    comparisons: Vec<Comparison>,
    boards: Vec<Leaderboard>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let figure = Output::of_option(args.figure.as_deref(), "--figure", args.force)?;
    check(args)?;
    let metrics = args.judging.metrics(&args.metrics)?;
    let panels = args.pairs().len() * metrics.len();
    if args.figure.is_some() && panels > MOST_PANELS {
        bail!(Usage(format!("{panels} comparisons are too many for a figure: give fewer systems")));
    }
    let folds = args.folds.map(usize::from);
    let data = read_folds(&args.data, folds, &args.reading)?;
    let bar = Bar::working("judging");
    let systems = read_systems(&args.systems, folds, &data, &metrics, &args.judging)?;
    drop(bar);
    let common = Common::of(&systems, data.iter().map(|fold| fold.data.n_queries()).sum())?;
    let mut conventions = args.judging.conventions();
    if systems.iter().any(|system| system.missing == Missing::Absent) {
        conventions.missing = Missing::Absent;
    }
    let draws = draws(args, &common);
    let of = |(place, metric): (usize, &Arc<dyn Metric>)| {
        Values::of((place, &**metric), &systems, &common, &data, args.options(draws))
    };
    let values = metrics.iter().enumerate().map(of).collect::<anyhow::Result<Vec<_>>>()?;
    drop(data);
    let mut found = find(args, &systems, &values)?;
    if let Some(figure) = &figure {
        figure::differences(figure, &found.comparisons)?;
    }
    if args.ranks() {
        // The differences of many pairs on all queries are more than anybody reads.
        found.comparisons.iter_mut().for_each(|comparison| comparison.differences.clear());
    }
    match args {
        Args { json: true, .. } => ui::print_json(&as_json(args, &common, &systems, &conventions, &found)),
        Args { csv: true, .. } => ui::print(&csv(&found.boards)),
        Args { markdown: true, .. } => ui::print(&markdown(&found.boards)),
        _ if args.ranks() => ui::print(&leaderboard::text(args, &common, &systems, &conventions, &found.boards)),
        _ => ui::print(&report::text(args, &common, &systems, &conventions, &found)),
    }
}

/// Compares all pairs that are to be compared, by all measures.
fn find(args: &Args, systems: &[System], values: &[Values]) -> anyhow::Result<Found> {
    // The means of all resamples, and a sorted copy.
    let bytes = burnrank::memory::bytes_of::<[f64; 2]>(args.resamples as u64);
    burnrank::memory::ask(bytes, &format!("{} resamples", args.resamples), "give fewer `resamples`")?;
    let pairs = args.pairs();
    let (bar, all) = (Bar::new("comparing", Unit::Share), pairs.len() * values.len());
    let (mut comparisons, mut boards) = (Vec::new(), Vec::new());
    for (place, values) in values.iter().enumerate() {
        let before = place * pairs.len();
        let done = |pairs: usize| bar.update((1000 * (before + pairs) / all.max(1)) as u64, Some(1000));
        if args.ranks() && !args.json && args.figure.is_none() {
            let (per_query, progress) = (values.per_query(systems), |pairs, _| done(pairs));
            boards.push(Leaderboard::new(&values.measure, &per_query, args.alpha, &values.options, &progress)?);
            continue;
        }
        let (found, board) = compare_pairs(values, systems, &pairs, args.alpha, &done)?;
        comparisons.extend(found);
        boards.push(board);
    }
    Ok(Found { comparisons, boards })
}

fn as_json(args: &Args, common: &Common, systems: &[System], conventions: &Conventions, found: &Found) -> Value {
    json!({
        "data": args.data,
        "conventions": conventions.to_string(),
        "like": args.judging.like().map(burnrank::metric::Peer::name),
        "alpha": args.alpha,
        "queries": common.all,
        "skipped_queries": common.left_out(),
        "systems": systems.iter().map(system_json).collect::<Vec<_>>(),
        "family": families(&found.boards).into_iter().map(|(metric, pairs)| (metric.to_owned(), pairs.into())).collect::<Map<_, _>>(),
        "leaderboards": found.boards.iter().filter(|_| !args.baseline).map(board_json).collect::<Vec<_>>(),
        "comparisons": found.comparisons,
    })
}

/// A board without its pairs, which the comparisons tell in full.
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
        "queries_not_in_run": system.lacks(),
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
    args.judging.check()?;
    args.reading.check_keeps_lines()?;
    names(&args.systems)?;
    if args.data == "-" && args.systems.iter().any(|system| system == "-") {
        bail!(Usage("only one of --data and the systems can be standard input".into()));
    }
    Ok(())
}
