//! What all experiments share: sessions, stored runs, training, reports and figures.

pub mod figure;
mod jobs;
mod report;
mod store;
mod training;

pub use jobs::{Job, Kept, Ticker};
pub use report::{Check, Report, Table, write_index};
pub use training::{export, once, per_query, train};

use anyhow::Context;
use burnrank::Device;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use store::Store;

/// What unfinished runs keep, below the folder of results; gone when the experiment ends.
const CHECKPOINTS: &str = "checkpoints";

/// What an experiment is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A paper's numbers: the same seed gives the same bytes, so runs that are stored are not run again.
    Paper,
    /// Times of this machine: always measured anew, and never together with other experiments at full size.
    Speed,
}

/// One table or figure of a paper.
pub struct Experiment {
    /// How it is called on the command line, and its folder.
    pub name: &'static str,
    pub kind: Kind,
    /// Authors, title, year, and which table or figure.
    pub paper: &'static str,
    /// What the paper says, in a sentence or two.
    pub claim: &'static str,
    /// How long it takes at paper scale.
    pub time: &'static str,
    /// Every setting that decides the results: runs stored under others are not taken over.
    pub protocol: fn(&Session) -> anyhow::Result<Value>,
    /// Runs it.
    pub run: fn(&Lab<'_>) -> anyhow::Result<Report>,
}

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As the paper did.
    Paper,
    /// Enough to see that everything works.
    Quick,
}

impl Scale {
    /// One of two values.
    pub fn pick<T>(self, paper: T, quick: T) -> T {
        match self {
            Scale::Paper => paper,
            Scale::Quick => quick,
        }
    }

    /// As it is called in results.
    pub fn name(self) -> &'static str {
        self.pick("paper", "quick")
    }
}

/// What the command line asked for.
pub struct Session {
    pub scale: Scale,
    pub seed: u64,
    pub data: Option<PathBuf>,
    pub device: Device,
    pub backend: &'static str,
    pub jobs: usize,
    pub fresh: bool,
    /// The virtual environment of the peers to compare with, when that is asked for.
    pub peers: Option<PathBuf>,
    pub out: PathBuf,
}

/// One experiment at work: the session and the runs that it has already finished.
pub struct Lab<'a> {
    pub session: &'a Session,
    folder: PathBuf,
    store: Store,
}

impl Session {
    /// Runs an experiment, from where it was, and writes its results, figure and report.
    pub fn run(&self, experiment: &Experiment) -> anyhow::Result<()> {
        let folder = folder_of(&self.out, experiment.name);
        eprintln!("{} ({} scale, seed {}, {})", experiment.name, self.scale.name(), self.seed, self.backend);
        let header = store::Header {
            experiment: experiment.name.into(),
            scale: self.scale.name().into(),
            seed: self.seed,
            backend: self.backend.into(),
            protocol: (experiment.protocol)(self)?,
        };
        let store = Store::open(&folder, header, self.fresh || experiment.kind == Kind::Speed)?;
        let lab = Lab { session: self, folder, store };
        let report = (experiment.run)(&lab)?;
        let _ = std::fs::remove_dir_all(lab.folder.join(CHECKPOINTS));
        lab.store.conclude(report.outcome(experiment.kind))?;
        write(&lab.folder.join("figure.svg"), &report.figure)?;
        let seconds = lab.store.seconds();
        write(&lab.folder.join("README.md"), &report.page(experiment, self, seconds))?;
        print!("{}", report.text(experiment, seconds));
        println!("written: {}\n", lab.folder.display());
        Ok(())
    }
}

impl Lab<'_> {
    /// The scale of the session.
    pub fn scale(&self) -> Scale {
        self.session.scale
    }

    /// Stores what one measurement gave, and writes everything so far.
    pub fn keep(&self, key: &str, run: &impl Serialize, seconds: f64) -> anyhow::Result<()> {
        self.store.put(key, serde_json::to_value(run)?, seconds)
    }

    /// Writes one more file beside the results, or removes it.
    pub fn side_file(&self, name: &str, text: Option<&str>) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        match text {
            Some(text) => write(&path, text),
            None if path.exists() => {
                std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
            }
            None => Ok(()),
        }
    }
}

/// Prints every experiment with its paper, claim and time.
pub fn list(experiments: &[Experiment]) -> anyhow::Result<()> {
    for Experiment { name, kind, paper, claim, time, .. } in experiments {
        let alone = match kind {
            Kind::Paper => "",
            Kind::Speed => "; not part of `all` without --quick, because other work would spoil its times",
        };
        println!(
            "{name}\n  paper: {paper}\n  claim: {claim}\n  time:  {time} at paper scale; --quick: under a \
             minute{alone}\n"
        );
    }
    Ok(())
}

/// The folder of an experiment's results.
fn folder_of(out: &Path, name: &str) -> PathBuf {
    out.join("experiments/results").join(name)
}

/// Writes a file that is either the old one or the whole new one at any moment.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let new = path.with_extension("new");
    std::fs::write(&new, text).with_context(|| format!("cannot write {}", new.display()))?;
    std::fs::rename(&new, path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}
