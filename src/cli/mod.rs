//! The command-line tool, one file per command. Nothing else prints.
//!
//! The `burnrank` program and the Python package call [`run`]. It handles signals and starts the thread pool of the process, so
//! it is not for other programs: they use the rest of the library.

mod allocator;
mod arguments;
mod cache;
mod certify;
mod compare;
mod convert;
mod data;
mod data_problems;
mod devices;
mod evaluate;
mod evaluation;
mod explain;
mod export;
mod figure;
mod generate;
mod help;
mod help_layout;
mod import;
mod info;
mod input;
mod lambda;
mod launch;
mod output;
mod pairs;
mod predict;
mod progress;
mod prose;
mod protect;
mod ranking;
mod report;
mod serve;
mod split;
mod statistics;
mod systems;
mod table;
mod train;
mod tune;
mod ui;
mod usage;
mod warnings;
mod widths;

pub use allocator::ReportingAllocator;

use anyhow::Context;
use burnrank::distributed::{Failure, Member};
use burnrank::internal::program::{interrupt, is_bad_usage, message_by};
use clap::{Parser, Subcommand};
use std::ffi::OsString;

const EXAMPLES: &str = "\
Examples:
  burnrank train --train train.txt --out model
  burnrank evaluate --data test.txt --model model
  burnrank compare model baseline.txt --data test.txt
  burnrank train
  burnrank generate web --queries 1000 --out all.txt
  burnrank split all.txt --out parts
  burnrank data parts/train.txt
  burnrank tune --train train.txt --valid vali.txt
  burnrank explain --model model --data test.txt
  burnrank report model --data test.txt -o report.html
  burnrank certify --model model --data train.txt
  burnrank lambda --objective lambdarank:ndcg
  burnrank predict --model model --data new.txt > scores.txt
  burnrank export --model model --format onnx -o model.onnx
  burnrank serve --model model

Data files are LETOR text, '<label> qid:<id> <index>:<value> ... # comment', plain or compressed with gzip or Zstandard. \
'-' is standard input or output.

Exit codes: 0 success, 1 error, 2 bad usage, 130 interrupted.";

/// Learning to rank: train, evaluate, compare and deploy ranking models
#[derive(Debug, Parser)]
#[command(name = "burnrank", version, after_help = EXAMPLES, max_term_width = 80)]
struct Cli {
    /// Number of threads; 0 uses all cores. Results do not depend on it
    #[arg(long, global = true, display_order = 900, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Memory limit, as in 500MB or 12GB [default: three quarters of the machine's memory]
    #[arg(long, global = true, display_order = 901, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
    /// GPU memory for features, as in 4GB; features beyond it are copied in slices [default: three quarters of the GPU's
    /// memory, if it is known]
    #[arg(long, global = true, display_order = 901, value_name = "SIZE", value_parser = bytes)]
    device_memory: Option<u64>,
    /// Show only warnings and errors
    #[arg(long, global = true, display_order = 902)]
    quiet: bool,
    /// Produce identical output on every kind of CPU; slower, also set by BURNRANK_PORTABLE=1
    #[arg(long, global = true, display_order = 903)]
    portable: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::Args>),
    Tune(Box<tune::Args>),
    Predict(predict::Args),
    Info(info::Args),
    Data(data::Args),
    Evaluate(evaluate::Args),
    Compare(compare::Args),
    Explain(Box<explain::Args>),
    Report(Box<report::Args>),
    Certify(certify::Args),
    Lambda(lambda::Args),
    Generate(generate::Args),
    Convert(convert::Args),
    Export(export::Args),
    Serve(serve::Args),
    Split(split::Args),
    Devices(devices::Args),
    Completions(help::CompletionsArgs),
    Man(help::ManArgs),
}

/// An invalid combination of options, detected after parsing.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The user interrupted the command, and its partial results are saved.
#[derive(Debug)]
struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Parses a command line, runs the command, and returns the exit code. The first argument is the name of the program.
///
/// Call it once per process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    arguments::set(arguments.into_iter().collect());
    launch::silence_followers();
    let cli: Cli = match usage::parse() {
        Ok(cli) => cli,
        Err(end) => {
            launch::report(end.code, end.message);
            launch::linger();
            return end.code;
        }
    };
    // The server handles signals itself.
    if !matches!(cli.command, Command::Serve(_)) {
        interrupt::install();
    }
    ui::set_quiet(cli.quiet || ui::is_silent());
    if cli.portable {
        burnrank::device::set_portable(true);
    }
    if let Some(bytes) = cli.max_memory {
        burnrank::memory::set_limit(bytes);
    }
    if let Some(bytes) = cli.device_memory {
        burnrank::device::set_memory_limit(bytes);
    }
    // Commands that several processes may run together.
    let member = match &cli.command {
        Command::Train(_) => launch::member("train"),
        Command::Tune(_) => launch::member("tune"),
        _ => Ok(None),
    };
    let member = match member {
        Ok(member) => member,
        Err(error) => {
            let failure = failure(&error.into());
            failure.iter().for_each(|failure| ui::refuse(&failure.message));
            launch::linger();
            return failure.map_or(1, |failure| failure.code);
        }
    };
    let result = run_command(cli.command, cli.threads, member.as_ref());
    let failure = launch::end(member.as_ref(), result.err().and_then(|error| failure(&error)));
    let code = match failure {
        None => 0,
        Some(Failure { code: INTERRUPTED, .. }) => INTERRUPTED,
        Some(Failure { code, message }) => {
            ui::refuse(&message);
            launch::linger();
            code
        }
    };
    // The processes end together.
    drop(member);
    code
}

/// Exit code of an interrupted command.
const INTERRUPTED: u8 = 130;

/// Returns the exit code and message of an error; `None` for a closed pipe, which is not an error.
fn failure(error: &anyhow::Error) -> Option<Failure> {
    let code = match error {
        // The reader of the output, for example `head`, has closed it.
        error if ui::is_broken_pipe(error) => return None,
        error if error.is::<Interrupted>() => INTERRUPTED,
        error if error.is::<Usage>() || is_bad_usage(error) => 2,
        error => match error.downcast_ref() {
            Some(burnrank::Error::Elsewhere { code, .. }) => *code,
            _ => 1,
        },
    };
    Some(Failure { code, message: message_by(error, usage::text) })
}

fn run_command(command: Command, threads: u16, member: Option<&Member>) -> anyhow::Result<()> {
    start_threads(threads).and_then(|threads| match command {
        Command::Train(args) => train::run(&args, member),
        Command::Tune(args) => tune::run(&args, member),
        Command::Predict(args) => predict::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Certify(args) => certify::run(&args),
        Command::Lambda(args) => lambda::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Serve(args) => serve::run(&args, threads),
        Command::Split(args) => split::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Completions(args) => help::completions(&args),
        Command::Man(args) => help::man(&args),
    })
}

/// Parses a size in bytes, as in 500MB, 12GB or 1073741824.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        _ => f64::NAN,
    };
    let size = number.parse::<f64>().unwrap_or(f64::NAN) * scale;
    if (1.0..1e18).contains(&size) { Ok(size as u64) } else { Err("expected a size, as in 500MB or 12GB".into()) }
}

/// Starts the thread pool and returns its number of threads: `option` of them; if it is 0, the number in the environment or one
/// per core.
fn start_threads(option: u16) -> anyhow::Result<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (requested, source) = match std::env::var("RAYON_NUM_THREADS") {
        Ok(number) if option == 0 => (number.trim().parse().unwrap_or(0), "RAYON_NUM_THREADS"),
        _ => (usize::from(option), "--threads"),
    };
    let max = cores.saturating_mul(8).max(64);
    if requested > max {
        ui::note(&format!("{source} {requested}: uses {max} threads, the maximum on this machine"));
    }
    let threads = if requested == 0 { cores } else { requested.min(max) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global().with_context(|| format!("cannot start {threads} threads: use a smaller --threads"))?;
    Ok(threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn sizes_have_units() {
        assert_eq!([bytes("12"), bytes("1.5kB"), bytes("12GB")], [Ok(12), Ok(1500), Ok(12_000_000_000)]);
        for wrong in ["", "0", "GB", "-1", "1x", "1e9GB", "inf"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
