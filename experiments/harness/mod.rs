//! Shared parts of all experiments: sessions, stored runs, training, reports and figures.

mod claim;
pub mod comparison;
pub mod dots;
mod earlier;
pub mod facts;
pub mod figure;
pub mod finding;
mod first_rule;
mod index;
mod jobs;
mod lock;
pub mod machine;
mod net_shape;
mod packed;
mod page;
mod papers;
mod power;
mod progress;
mod prose;
pub mod real;
mod report;
mod runs;
pub mod shuffled;
mod store;
pub mod systems;
mod training;
pub mod trainings;
pub mod tuning;
pub mod units;
mod verdict;
mod words;

pub use claim::{Claim, Control, Evidence, Headline, Test};
pub use finding::Finding;
pub use index::write_index;
pub use jobs::{Job, OneEntryCache, Ticker};
pub use net_shape::NetShape;
pub use packed::Packed;
pub use papers::Paper;
pub use progress::Progress;
pub use report::Report;
pub use runs::{Runs, Tested, claims, evidence};
pub use training::{export, once, per_query, train, train_until};
pub use verdict::{Kind, Spread};

use anyhow::{Context, bail};
use burnrank::Device;
use burnrank::internal::files::write_text;
use burnrank::internal::text::counted;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use store::{Before, Store};

/// Folder for the state of unfinished runs, below the results; removed when the experiment ends.
const CHECKPOINTS: &str = "checkpoints";

/// One statement, table or figure of a paper.
pub struct Experiment {
    /// Name on the command line and of its folder.
    pub name: &'static str,
    pub kind: Kind,
    pub paper: Paper,
    /// Table, figure, equation or section.
    pub place: &'static str,
    /// What the paper claims, in one or two sentences.
    pub claim: &'static str,
    /// The same in at most 15 words, for the index.
    pub short: &'static str,
    /// The claims that decide the verdict, at most three; a choice made after a run is a change after seeing results.
    pub headlines: &'static [Headline],
    /// Id of the claim whose number the index shows, and what it is; if empty, the index counts the parts of headline claims.
    pub number: (&'static str, &'static str),
    /// Duration at full scale.
    pub time: &'static str,
    /// Whether results are times of this machine: always repeated, replacing earlier ones of the same machine and settings, and
    /// never run together with other experiments at full scale.
    pub timed: bool,
    /// All claims tested, with convention, unit and test, except those of the facts.
    pub claims: fn(&Session) -> Vec<Claim>,
    /// Unit of inference and convention of claims that state none.
    pub unit: &'static str,
    pub convention: &'static str,
    /// Statements that are computed; each is a claim.
    pub facts: &'static [facts::Fact],
    /// Changes to claims, tests or protocol made after results were seen, with reasons.
    pub changed: &'static [&'static str],
    /// All settings that determine the results; runs stored with other settings are not reused.
    pub protocol: fn(&Session) -> anyhow::Result<Value>,
    /// Runs the experiment.
    pub run: fn(&Execution<'_>) -> anyhow::Result<Report>,
    /// Extensions used by this experiment only.
    pub own: Option<&'static Own>,
}

impl Experiment {
    /// Defaults: a paper's claims, stored runs, nothing changed after seeing results.
    pub const BASE: Experiment = Experiment {
        name: "",
        kind: Kind::Paper,
        paper: Paper::Several,
        place: "",
        claim: "",
        short: "",
        headlines: &[],
        number: ("", ""),
        time: "",
        timed: false,
        claims: |_| vec![],
        unit: "",
        convention: "",
        facts: &[],
        changed: &[],
        protocol: |_| Ok(json!({})),
        run: |_| Ok(Report::default()),
        own: None,
    };
}

impl Experiment {
    fn all_claims(&self, session: &Session) -> Vec<Claim> {
        let all = facts::claims(self.facts).into_iter().chain((self.claims)(session));
        all.map(|claim| claim.with_defaults(self.unit, self.convention)).collect()
    }

    fn whole_protocol(&self, session: &Session) -> anyhow::Result<Value> {
        let mut protocol = (self.protocol)(session)?;
        if !self.facts.is_empty() {
            protocol["facts"] = facts::protocol(self.facts);
        }
        Ok(protocol)
    }
}

/// Settings and helpers of a single experiment.
pub struct Own {
    /// Keys of `--set KEY=VALUE` and their descriptions.
    pub options: &'static [(&'static str, &'static str)],
    /// A part that runs in a separate process, with its input.
    pub child: fn(&str, &Device) -> anyhow::Result<()>,
}

/// Scale of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As in the paper.
    Paper,
    /// Just enough to check that everything works.
    Quick,
}

impl Scale {
    /// Selects one of two values.
    pub fn pick<T>(self, paper: T, quick: T) -> T {
        match self {
            Scale::Paper => paper,
            Scale::Quick => quick,
        }
    }

    /// Name in results.
    pub fn name(self) -> &'static str {
        self.pick("paper", "quick")
    }
}

/// The options of the command line.
#[derive(Clone)]
pub struct Session {
    pub scale: Scale,
    pub seed: u64,
    pub data: Option<PathBuf>,
    pub device: Device,
    pub backend: &'static str,
    pub jobs: usize,
    pub fresh: bool,
    /// Only report stored runs; a missing run is an error.
    pub stored: bool,
    /// Values of `--set` for experiments with their own settings.
    pub options: BTreeMap<String, String>,
    pub out: PathBuf,
}

/// A running experiment: the session and the stored runs.
pub struct Execution<'a> {
    pub session: &'a Session,
    folder: PathBuf,
    store: Store,
}

impl Session {
    /// Runs an experiment, resuming from stored runs, and writes its results, figure and report.
    pub fn run(&self, experiment: &Experiment) -> anyhow::Result<()> {
        let folder = folder_of(&self.out, experiment.name);
        eprintln!("{} ({} scale, seed {}, {})", experiment.name, self.scale.name(), self.seed, self.backend);
        let header = store::Header {
            experiment: experiment.name.into(),
            scale: self.scale.name().into(),
            seed: self.seed,
            backend: self.backend.into(),
            protocol: experiment.whole_protocol(self)?,
        };
        if let Some(why) = self.unreported(&folder, &header)? {
            eprintln!("{}: {why}", experiment.name);
            return Ok(());
        }
        let before = match experiment.timed {
            _ if self.fresh => Before::Discard,
            true if self.stored => bail!("{}: times cannot be reported without measuring them again", experiment.name),
            true => Before::Replace,
            false => Before::Resume,
        };
        let store = Store::open(&folder, header, before)?;
        let execution = Execution { session: self, folder, store };
        let report = execution.report(experiment)?;
        let evaluated = report.evaluate(experiment, self)?;
        let _ = std::fs::remove_dir_all(execution.folder.join(CHECKPOINTS));
        execution.store.conclude(evaluated.outcome())?;
        write(&execution.folder.join("figure.svg"), &report.figure.svg)?;
        let past = execution.store.past();
        write(&execution.folder.join("README.md"), &page::page(&evaluated, self, &past))?;
        print(&format!("{}written: {}\n\n", evaluated.text(past.seconds), execution.folder.display()))
    }
}

impl Session {
    /// Why `--stored` has nothing to report: there are no runs, or they have an earlier protocol.
    fn unreported(&self, folder: &Path, header: &store::Header) -> anyhow::Result<Option<String>> {
        Ok(match store::read(folder)?.filter(|_| self.stored) {
            None => self.stored.then(|| "not run yet".into()),
            Some(stored) if stored.header.is_earlier(header) => {
                let runs = counted(stored.runs.len(), "run", "runs");
                Some(format!("the report stays, of {runs} with an earlier protocol"))
            }
            Some(_) => None,
        })
    }
}

impl Execution<'_> {
    /// Executes missing runs and builds the report.
    ///
    /// Stored runs may be inconsistent even if the file is readable: a panic caused by them becomes an error.
    fn report(&self, experiment: &Experiment) -> anyhow::Result<Report> {
        if self.store.len() == 0 {
            return (experiment.run)(self);
        }
        let message = Arc::new(Mutex::new(String::new()));
        let (hook, panic_text) = (take_hook(), message.clone());
        set_hook(Box::new(move |panic| *panic_text.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string()));
        let reported = catch_unwind(AssertUnwindSafe(|| (experiment.run)(self)));
        set_hook(hook);
        reported.unwrap_or_else(|_| {
            let (file, why) =
                (self.store.file(), message.lock().unwrap_or_else(PoisonError::into_inner).replace('\n', " "));
            bail!("{}: no report can be made from its runs; restore it or rerun with --fresh ({why})", file.display())
        })
    }

    /// The scale of the session.
    pub fn scale(&self) -> Scale {
        self.session.scale
    }

    /// Time of a stored run, if known; for reports only, because results do not depend on it.
    pub fn seconds(&self, key: &str) -> Option<f64> {
        self.store.seconds(key)
    }

    /// Stores the result of one run and writes all results.
    pub fn keep(&self, key: &str, run: &impl Serialize, seconds: f64) -> anyhow::Result<()> {
        self.store.put(key, serde_json::to_value(run)?, seconds)
    }

    /// Writes a further file next to the results, or removes it.
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

/// Prints every experiment with its paper, claim and duration.
pub fn list(experiments: &[Experiment]) -> anyhow::Result<()> {
    for Experiment { name, timed, paper, place, claim, time, own, .. } in experiments {
        let alone =
            if *timed { "; not part of `all` without --quick, because other work would distort its times" } else { "" };
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

/// Prints the per-query values in an experiment's results as CSV.
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

/// Writes to standard output. A closed pipe is not an error, because the files are written anyway.
fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("cannot print"),
        _ => Ok(()),
    }
}

/// Writes a file atomically, and creates its folder if necessary.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot create", folder.display()))?;
    }
    Ok(write_text(path, text)?)
}
