//! Tables and figures of papers as programs: `cargo run --release --bin experiments -- list`.

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
use harness::{Experiment, Kind, Scale, Session};
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

/// Runs the tables and figures of papers and says which of them come out.
#[derive(Debug, Parser)]
#[command(name = "experiments", after_help = EXIT_CODES)]
struct Args {
    /// `list`, `all`, `index` (rewrites the index), `per-query NAME` (prints stored values), `processes` (measures training over
    /// several processes), or names of experiments.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// A small version of the experiment, in well under a minute.
    #[arg(long)]
    quick: bool,
    /// The folder of real data, one folder of LETOR folds per data set; without it, what BURNRANK_DATA says.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// What all random numbers follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes DIR/experiments/results/NAME and DIR/models; the default is here, and target/quick with --quick.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The device to train on: auto, or a backend of this build.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Runs that go on at the same time; the results do not depend on it.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Starts anew instead of going on from the runs that are already in results.json, whatever their settings.
    #[arg(long)]
    fresh: bool,
    /// A setting that only one experiment has: `list` names them.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    options: Vec<String>,
    /// A part of an experiment that runs in a process of its own, where nothing else takes memory.
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
        ["index"] => return harness::write_index(&all, &out),
        ["per-query", names @ ..] => {
            return named(&all, names)?
                .into_iter()
                .try_for_each(|experiment| harness::print_per_query(experiment, &out));
        }
        ["all"] => all.iter().filter(|experiment| args.quick || experiment.kind == Kind::Paper).collect(),
        names => named(&all, names)?,
    };
    if let Some(task) = &args.child {
        let own = chosen.first().and_then(|experiment| experiment.own).context("no part of this experiment")?;
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
        options: options(&args.options, &chosen)?,
        out,
    };
    for experiment in chosen {
        session.run(experiment)?;
        harness::write_index(&all, &session.out)?;
    }
    Ok(())
}

/// The experiments of these names.
fn named<'a>(all: &'a [Experiment], names: &[&str]) -> anyhow::Result<Vec<&'a Experiment>> {
    let find = |name: &&str| all.iter().find(|experiment| experiment.name == *name).ok_or_else(|| unknown(all, name));
    Ok(names.iter().map(find).collect::<Result<_, _>>()?)
}

/// What `--set` says, as far as the chosen experiments know it.
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
            return Err(Error::Config(format!("unknown setting '{key}': these experiments have {all}")).into());
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
