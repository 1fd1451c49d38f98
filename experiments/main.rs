//! Tables and figures of papers as programs: `cargo run --release --bin experiments -- list`.

mod harness;
mod lambdaloss_table3;
mod lambdarank_cubic;
mod ranknet_table1;
mod speed;
mod systems;

use burnrank::Error;
use burnrank::program::{interrupt, is_bad_usage, message};
use clap::Parser;
use harness::{Experiment, Kind, Scale, Session};
use std::path::PathBuf;
use std::process::ExitCode;

/// Every experiment, in the order of the papers.
const EXPERIMENTS: [Experiment; 5] = [
    ranknet_table1::EXPERIMENT,
    lambdarank_cubic::EXPERIMENT,
    lambdaloss_table3::EXPERIMENT,
    systems::EXPERIMENT,
    speed::EXPERIMENT,
];

const EXIT_CODES: &str = "Exit codes: 0 done, 1 bad data, 2 bad usage, 130 interrupted.";

/// Runs the tables and figures of papers and says which of them come out.
#[derive(Debug, Parser)]
#[command(name = "experiments", after_help = EXIT_CODES)]
struct Args {
    /// `list`, `all`, `index` (writes the index anew), or the name of an experiment.
    name: String,
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
    /// speed: measures other tools on the same data too, from a virtual environment that is made if it is not there.
    #[arg(long)]
    peers: bool,
    /// speed: the folder of that virtual environment.
    #[arg(long, value_name = "DIR", default_value = "target/peers-venv")]
    peers_venv: PathBuf,
    /// speed: the part that runs in a process of its own, where nothing else takes memory.
    #[arg(long, hide = true, value_name = "JSON")]
    memory_child: Option<String>,
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
    if let Some(task) = &args.memory_child {
        return speed::memory::child(task, &burnrank::device::open(&args.device)?);
    }
    let scale = if args.quick { Scale::Quick } else { Scale::Paper };
    let place = if args.quick { "target/quick" } else { "." };
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(place));
    let chosen: Vec<&Experiment> = match args.name.as_str() {
        "list" => return harness::list(&EXPERIMENTS),
        "index" => return harness::write_index(&EXPERIMENTS, &out),
        "all" => EXPERIMENTS.iter().filter(|experiment| args.quick || experiment.kind == Kind::Paper).collect(),
        name => EXPERIMENTS.iter().filter(|experiment| experiment.name == name).collect(),
    };
    if chosen.is_empty() {
        return Err(unknown(&args.name).into());
    }
    let session = Session {
        scale,
        seed: args.seed,
        data: args.data.or_else(|| std::env::var_os("BURNRANK_DATA").map(PathBuf::from)),
        device: burnrank::device::open(&args.device)?,
        backend: burnrank::device::resolve(&args.device)?.name(),
        jobs: args.jobs.or(std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1).max(1),
        fresh: args.fresh,
        peers: args.peers.then(|| args.peers_venv.clone()),
        out,
    };
    for experiment in chosen {
        session.run(experiment)?;
        harness::write_index(&EXPERIMENTS, &session.out)?;
    }
    Ok(())
}

fn unknown(name: &str) -> Error {
    let known = || ["list", "all", "index"].into_iter().chain(EXPERIMENTS.iter().map(|experiment| experiment.name));
    Error::Config(match burnrank::suggest::nearest(name, known()) {
        Some(meant) => format!("unknown experiment '{name}': did you mean '{meant}'?"),
        None => format!("unknown experiment '{name}': expected {}", known().collect::<Vec<_>>().join(", ")),
    })
}
