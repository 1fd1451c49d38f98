//! What all experiments share: sessions, stored runs, training, reports and figures.

mod claim;
pub mod dots;
pub mod facts;
pub mod figure;
pub mod finding;
mod index;
mod jobs;
mod lock;
pub mod machine;
mod net_shape;
mod packed;
mod page;
mod papers;
pub mod real;
mod report;
mod review;
pub mod shuffled;
mod store;
mod training;
pub mod trainings;
pub mod tuning;
pub mod units;
mod verdict;
mod words;

pub use claim::{Claim, Control, Evidence, Test};
pub use finding::Finding;
pub use index::write_index;
pub use jobs::{Job, OneEntryCache, Ticker};
pub use net_shape::NetShape;
pub use packed::Packed;
pub use papers::Paper;
pub use report::Report;
pub use training::{export, once, per_query, train, train_until};
pub use verdict::Spread;

use anyhow::{Context, bail};
use burnrank::Device;
use burnrank::internal::files::write_text;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use store::{Before, Store};

/// What unfinished runs keep, below the folder of results; gone when the experiment ends.
const CHECKPOINTS: &str = "checkpoints";

/// What an experiment is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A paper's numbers: the same seed gives the same bytes, so runs that are stored are not run again.
    Paper,
    /// Times of this machine: always measured anew in place of older ones of the same machine and settings, and never
    /// together with other experiments at full size.
    Speed,
}

/// One statement, table or figure of a paper.
pub struct Experiment {
    /// How it is called on the command line, and its folder.
    pub name: &'static str,
    pub kind: Kind,
    pub paper: Paper,
    /// Which table, figure, equation or section.
    pub place: &'static str,
    /// What the paper says, in a sentence or two.
    pub claim: &'static str,
    /// How long it takes at paper scale.
    pub time: &'static str,
    /// Every claim that is tested, with convention, unit and test, as it was written down before the first run.
    pub claims: fn(&Session) -> Vec<Claim>,
    /// What was changed in claims, tests or protocol after results were seen, and why.
    pub changed: &'static [&'static str],
    /// Every setting that decides the results: runs stored under others are not taken over.
    pub protocol: fn(&Session) -> anyhow::Result<Value>,
    /// Runs it.
    pub run: fn(&Execution<'_>) -> anyhow::Result<Report>,
    /// What no other experiment has.
    pub own: Option<&'static Own>,
}

/// Settings and helpers that only one experiment has.
pub struct Own {
    /// What `--set KEY=VALUE` knows: keys, and what they mean.
    pub options: &'static [(&'static str, &'static str)],
    /// A part that runs in a process of its own, with what it is asked to do.
    pub child: fn(&str, &Device) -> anyhow::Result<()>,
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
    /// What `--set` says to experiments that have settings of their own.
    pub options: BTreeMap<String, String>,
    pub out: PathBuf,
}

/// One experiment at work: the session and the runs that it has already finished.
pub struct Execution<'a> {
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
        let store = match experiment.kind {
            _ if self.fresh => Store::open(&folder, header, Before::Discard),
            Kind::Paper => Store::open(&folder, header, Before::GoOn),
            Kind::Speed => Store::open(&folder, header, Before::Replace),
        }?;
        let execution = Execution { session: self, folder, store };
        let report = execution.report(experiment)?;
        let told = report.judge(experiment, self)?;
        let _ = std::fs::remove_dir_all(execution.folder.join(CHECKPOINTS));
        execution.store.conclude(told.outcome())?;
        write(&execution.folder.join("figure.svg"), &report.figure.svg)?;
        let past = execution.store.past();
        write(&execution.folder.join("README.md"), &page::page(&told, self, &past))?;
        print(&format!("{}written: {}\n\n", told.text(past.seconds), execution.folder.display()))
    }
}

impl Execution<'_> {
    /// Runs what is missing, and reports.
    ///
    /// What was computed here can be reported; what a file says need not make sense, however well it reads.
    fn report(&self, experiment: &Experiment) -> anyhow::Result<Report> {
        if self.store.len() == 0 {
            return (experiment.run)(self);
        }
        let said = Arc::new(Mutex::new(String::new()));
        let (hook, heard) = (take_hook(), said.clone());
        set_hook(Box::new(move |panic| *heard.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string()));
        let reported = catch_unwind(AssertUnwindSafe(|| (experiment.run)(self)));
        set_hook(hook);
        reported.unwrap_or_else(|_| {
            let (file, why) =
                (self.store.file(), said.lock().unwrap_or_else(PoisonError::into_inner).replace('\n', " "));
            bail!("{}: its runs make no report: restore it, or start anew with --fresh ({why})", file.display())
        })
    }

    /// The scale of the session.
    pub fn scale(&self) -> Scale {
        self.session.scale
    }

    /// How long a stored run took, unless that was lost; for reports only, as results are the same whatever it took.
    pub fn seconds(&self, key: &str) -> Option<f64> {
        self.store.seconds(key)
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
    for Experiment { name, kind, paper, place, claim, time, own, .. } in experiments {
        let alone = match kind {
            Kind::Paper => "",
            Kind::Speed => "; not part of `all` without --quick, because other work would spoil its times",
        };
        let options = own.iter().flat_map(|own| own.options);
        let options: String = options.map(|(key, what)| format!("  --set {key}=...: {what}\n")).collect();
        let citation = paper.facts().citation;
        print(&format!(
            "{name}\n  paper: {citation}: {place}\n  claim: {claim}\n  time:  {time} at paper scale; --quick: under a \
             minute{alone}\n{options}\n"
        ))?;
    }
    Ok(())
}

/// Prints the values for each query that an experiment's results hold, as CSV.
pub fn print_per_query(experiment: &Experiment, out: &Path) -> anyhow::Result<()> {
    let folder = folder_of(out, experiment.name);
    let results = store::read(&folder)?
        .with_context(|| format!("{}: no results: run the experiment first", folder.join("results.json").display()))?;
    let mut text = String::from("run,what,query,value\n");
    for (key, run) in &results.runs {
        let mut found = vec![];
        packed::find(run, "", &mut found);
        for (path, packed) in found {
            for (query, value) in packed.values().iter().enumerate() {
                text += &format!("{key},{path},{query},{value}\n");
            }
        }
    }
    print(&text)
}

/// The folder of an experiment's results.
fn folder_of(out: &Path, name: &str) -> PathBuf {
    out.join("experiments/results").join(name)
}

/// Writes to standard output; that nobody reads on is no failure, the files are written.
fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("cannot print"),
        _ => Ok(()),
    }
}

/// Writes a file that is either the old one or the whole new one at any moment, and its folder where there is none.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot create", folder.display()))?;
    }
    Ok(write_text(path, text)?)
}
