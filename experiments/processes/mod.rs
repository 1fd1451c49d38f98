//! Training over several processes: times on this machine, a model of them, and where more processes stop paying.
//!
//! `experiments processes` measures and writes `results.json` and `README.md` in `experiments/results/processes`; it needs a build with
//! the feature `mpi`, and `mpirun`. `experiments processes page` rewrites the page from stored measurements.

mod cost;
mod exchange;
mod measure;
mod netns;
mod page;

use anyhow::{Context, bail};
use burnrank::internal::files::write_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Where results go, below the folder of the project.
const RESULTS: &str = "experiments/results/processes/results.json";
/// The page that reports them.
const PAGE: &str = "experiments/results/processes/README.md";

/// A net that is trained.
#[derive(Debug, Clone, Copy)]
struct Net {
    /// As `--hidden` takes them.
    hidden: &'static str,
    queries: usize,
    epochs: usize,
    /// Queries per batch that the model of cost is fitted on; both are whole numbers of shares.
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

/// Everything that was measured.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    machine: Value,
    quick: bool,
    /// The load of the machine before and after.
    load: [String; 2],
    exchanges: Vec<Exchange>,
    runs: Vec<Run>,
}

/// How long members wait for each other.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Exchange {
    /// What carries the words.
    transport: String,
    /// Words that each of two processes gives.
    words: usize,
    seconds: f64,
}

/// The time of an epoch.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    hidden: String,
    weights: usize,
    queries: usize,
    batch: usize,
    /// 0 for one process that was not started by a launcher and computes batches whole.
    processes: usize,
    transport: String,
    /// The median epoch without the first.
    seconds: f64,
    /// A hash of the model, which is the same for all numbers of processes.
    model: String,
}

/// The command: `arguments` are those behind its name.
pub fn run(arguments: &[&str], child: Option<&str>, quick: bool, out: &Path) -> anyhow::Result<()> {
    if let Some(child) = child {
        return exchange::child(child);
    }
    let (results, page) = (out.join(RESULTS), out.join(PAGE));
    match arguments {
        [] => {
            let measured = measure::all(quick)?;
            folder_of(&results)?;
            write_text(&results, &(serde_json::to_string_pretty(&measured)? + "\n"))?;
            write_text(&page, &page::text(&measured)?)?;
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
