//! Training over several processes: times on this machine, a cost model, and the useful number of processes.
//!
//! `experiments processes` measures and writes `results.json` and `README.md` in `experiments/results/processes`; it needs a build with
//! the feature `mpi`, and `mpirun`. `experiments processes page` rewrites the page from stored measurements.

mod cost;
mod exchange;
mod measurements;
mod netns;
mod page;

use anyhow::{Context, bail};
use burnrank::internal::files::write_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Path of the results, relative to the output folder.
const RESULTS: &str = "experiments/results/processes/results.json";
/// Path of the page that reports them.
const PAGE: &str = "experiments/results/processes/README.md";

/// A net to train.
#[derive(Debug, Clone, Copy)]
struct Net {
    /// Value of `--hidden`.
    hidden: &'static str,
    queries: usize,
    epochs: usize,
    /// Queries per batch for fitting the cost model; both are multiples of the number of shares.
    batches: [usize; 2],
}

/// Nets of about 1e3, 1e5 and 1e7 weights on 136 features.
const NETS: [Net; 3] = [
    Net { hidden: "10", queries: 1_000, epochs: 60, batches: [12, 120] },
    Net { hidden: "730", queries: 240, epochs: 6, batches: [12, 120] },
    Net { hidden: "2900,3300", queries: 24, epochs: 3, batches: [4, 24] },
];
const FEATURES: usize = 136;
const DOCUMENTS: usize = 120;

/// All measurements.
#[derive(Debug, Serialize, Deserialize)]
struct Measurements {
    machine: Value,
    quick: bool,
    /// Load of the machine before and after.
    load: [String; 2],
    exchanges: Vec<Exchange>,
    runs: Vec<Run>,
}

/// Time of an exchange between processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Exchange {
    /// Name of the transport.
    transport: String,
    /// Number of values that each of two processes sends.
    words: usize,
    seconds: f64,
}

/// Time of an epoch.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    hidden: String,
    weights: usize,
    queries: usize,
    batch: usize,
    /// 0 for one process without a launcher, which computes whole batches.
    processes: usize,
    transport: String,
    /// Median over epochs without the first.
    seconds: f64,
    /// Hash of the model, which does not depend on the number of processes.
    model: String,
}

/// Runs the command with the arguments that follow its name.
pub fn run(arguments: &[&str], child: Option<&str>, quick: bool, out: &Path) -> anyhow::Result<()> {
    if let Some(child) = child {
        return exchange::child(child);
    }
    let (results, page) = (out.join(RESULTS), out.join(PAGE));
    match arguments {
        [] => {
            let measurements = measurements::all(quick)?;
            folder_of(&results)?;
            write_text(&results, &(serde_json::to_string_pretty(&measurements)? + "\n"))?;
            write_text(&page, &page::text(&measurements)?)?;
        }
        ["page"] => {
            let text =
                std::fs::read_to_string(&results).with_context(|| format!("{}: cannot read", results.display()))?;
            write_text(&page, &page::text(&serde_json::from_str(&text)?)?)?;
        }
        other => bail!("'processes {}': expected 'processes' or 'processes page'", other.join(" ")),
    }
    println!("written: {}", page.display());
    Ok(())
}

fn folder_of(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().context("a path without a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot create", folder.display()))
}
