//! Reproduces tables and figures of papers: `cargo run --release --bin experiments -- list`.

mod approximation;
mod harness;
mod lambdaloss;
mod lambdarank;
mod optimality;
mod overview;
mod processes;
mod ranknet;
mod speed;

use anyhow::Context;
use burnrank::Error;
use burnrank::internal::program::{interrupt, is_bad_usage, message};
use clap::Parser;
use harness::{Experiment, Progress, Scale, Session};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Every experiment, in the order of the papers.
fn experiments() -> Vec<Experiment> {
    let mut all = vec![];
    all.extend(ranknet::EXPERIMENTS);
    all.extend(lambdarank::EXPERIMENTS);
    all.extend(approximation::EXPERIMENTS);
    all.extend(optimality::EXPERIMENTS);
    all.extend(lambdaloss::EXPERIMENTS);
    all.extend(overview::EXPERIMENTS);
    all
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 bad data, 2 bad usage, 130 interrupted.";

/// Reproduce the tables, figures and claims of learning-to-rank papers, with computed verdicts.
#[derive(Debug, Parser)]
#[command(name = "experiments", after_help = EXIT_CODES)]
struct Args {
    /// Experiments, or a command: `list`, `all`, `index` (rewrite the index and the papers' pages), `per-query NAME` (print stored
    /// values as CSV), `processes` (measure training on several processes).
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Run a small version of each experiment, in under a minute.
    #[arg(long)]
    quick: bool,
    /// Folder of real data, with one folder of LETOR folds per data set [default: $BURNRANK_DATA].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output folder for experiments/results/NAME and models [default: the current folder, or target/quick with --quick].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Device to train on: auto, or a backend of this build.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Number of parallel runs; results do not depend on it [default: number of cores].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Discard stored runs and start again, whatever their settings.
    #[arg(long, conflicts_with = "stored")]
    fresh: bool,
    /// Write reports from stored runs only; a missing run is an error, and reports with an earlier protocol stay.
    #[arg(long)]
    stored: bool,
    /// Setting of a single experiment; `list` shows them.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    options: Vec<String>,
    /// Part of an experiment that runs in a separate process.
    #[arg(long, hide = true, value_name = "JSON")]
    child: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    interrupt::install();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", message(&error));
            ExitCode::from(if is_bad_usage(&error) { 2 } else { 1 })
        }
    }
}

fn run(args: Args) -> anyhow::Result<()> {
    let all = experiments();
    let scale = if args.quick { Scale::Quick } else { Scale::Paper };
    let place = if args.quick { "target/quick" } else { "." };
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(place));
    let names: Vec<&str> = args.names.iter().map(String::as_str).collect();
    let chosen: Vec<&Experiment> = match names.as_slice() {
        ["list"] => return harness::list(&all),
        ["processes", rest @ ..] => return processes::run(rest, args.child.as_deref(), args.quick, &out),
        ["index"] => vec![],
        ["per-query", names @ ..] => {
            return named(&all, names)?
                .into_iter()
                .try_for_each(|experiment| harness::print_per_query(experiment, &out));
        }
        ["all"] => all.iter().filter(|experiment| args.quick || !experiment.timed).collect(),
        names => named(&all, names)?,
    };
    if let Some(task) = &args.child {
        let own = chosen.first().and_then(|experiment| experiment.own).context("this experiment has no such part")?;
        return (own.child)(task, &burnrank::device::open(&args.device)?);
    }
    let session = Session {
        scale,
        seed: args.seed,
        data: args.data.or_else(|| std::env::var_os("BURNRANK_DATA").map(PathBuf::from)),
        device: burnrank::device::open(&args.device)?,
        backend: burnrank::device::resolve(&args.device)?.name(),
        jobs: args.jobs.or(std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1).max(1),
        fresh: args.fresh,
        stored: args.stored,
        options: options(&args.options, &chosen)?,
        out,
    };
    let progress = Progress::new(&session, &chosen);
    for (place, experiment) in chosen.iter().enumerate() {
        if chosen.len() > 1 {
            eprintln!("[{}]", progress.words(place));
        }
        session.run(experiment)?;
        harness::write_index(&all, &session)?;
    }
    match names.as_slice() {
        ["index"] => harness::write_index(&all, &session),
        _ => Ok(()),
    }
}

/// Returns the experiments with these names.
fn named<'a>(all: &'a [Experiment], names: &[&str]) -> anyhow::Result<Vec<&'a Experiment>> {
    let find = |name: &&str| all.iter().find(|experiment| experiment.name == *name).ok_or_else(|| unknown(all, name));
    Ok(names.iter().map(find).collect::<Result<_, _>>()?)
}

/// Parses `--set` options and checks their keys against the chosen experiments.
fn options(given: &[String], chosen: &[&Experiment]) -> anyhow::Result<BTreeMap<String, String>> {
    let known: Vec<&str> = chosen
        .iter()
        .filter_map(|experiment| experiment.own)
        .flat_map(|own| own.options)
        .map(|(key, _)| *key)
        .collect();
    let mut options = BTreeMap::new();
    for pair in given {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !known.contains(&key) {
            let all = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Error::Config(format!("unknown setting '{key}': expected one of {all}")).into());
        }
        options.insert(key.to_owned(), value.to_owned());
    }
    Ok(options)
}

fn unknown(all: &[Experiment], name: &str) -> Error {
    let known =
        || ["list", "all", "index", "per-query"].into_iter().chain(all.iter().map(|experiment| experiment.name));
    Error::Config(match burnrank::internal::suggest::nearest(name, known()) {
        Some(meant) => format!("unknown experiment '{name}': did you mean '{meant}'?"),
        None => format!("unknown experiment '{name}': expected {}", known().collect::<Vec<_>>().join(", ")),
    })
}
