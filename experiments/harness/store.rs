//! Stored results: `results.json` is rewritten after each run and read to resume an experiment.
//!
//! Times are stored in `times.json`, so that the same seed gives the same `results.json`, byte for byte. Runs may have taken hours:
//! a file that cannot be read, or with runs of other settings, is rejected and kept.

use super::lock::Lock;
use anyhow::{Context, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The settings that determine the results; runs with another header are not reused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub experiment: String,
    pub scale: String,
    pub seed: u64,
    pub backend: String,
    pub protocol: Value,
}

/// The whole file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    #[serde(flatten)]
    pub header: Header,
    /// Verdict, main number and checks; null while runs are missing.
    pub outcome: Value,
    pub runs: BTreeMap<String, Value>,
}

/// Times over all sessions.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Times {
    /// Time from the start of each session to its last run, in seconds.
    wall_seconds: f64,
    /// The machines of these sessions, as far as known.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    machines: BTreeSet<String>,
    runs: BTreeMap<String, f64>,
}

/// Summary of the sessions, for reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Past {
    /// Total time in seconds, if known.
    pub seconds: Option<f64>,
    pub machines: Vec<String>,
    /// Whether there are per-query values.
    pub per_query: bool,
}

impl Times {
    fn are_possible(&self) -> bool {
        self.runs.values().chain([&self.wall_seconds]).all(|seconds| (0.0..1e10).contains(seconds))
    }

    /// Total time of the results, unless the time of a run is unknown.
    fn of(&self, results: &Results) -> Option<f64> {
        results.runs.keys().all(|key| self.runs.contains_key(key)).then_some(self.wall_seconds)
    }
}

/// How to treat existing results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Reuse runs with the same header; reject others.
    Resume,
    /// Replace results with the same header once the new ones are complete; reject others.
    Replace,
    /// Do not read them.
    Discard,
}

/// The stored runs of one experiment, locked against other processes.
pub struct Store {
    _lock: Lock,
    folder: PathBuf,
    state: Mutex<(Results, Times)>,
    /// Whether each run is written at once, or all of them at the end.
    at_once: bool,
    start: Instant,
    /// Seconds of previous sessions.
    before: f64,
    /// The machine of this session.
    machine: String,
}

impl Store {
    /// Opens the results in a folder, or creates them.
    ///
    /// # Errors
    /// If another process uses the folder, the files are damaged, or their runs have another header.
    pub fn open(folder: &Path, header: Header, before: Before) -> anyhow::Result<Store> {
        let lock = Lock::take(folder)?;
        let stored = if before == Before::Discard { None } else { read(folder)? };
        let (state, new) = match stored {
            Some(results) if results.header == header && before == Before::Resume => {
                let times = read_times(folder)?.unwrap_or_default();
                ((Results { outcome: Value::Null, ..results }, times), false)
            }
            Some(results) if results.header != header && !results.runs.is_empty() => bail!(
                "{}: its {} runs are of {}; use another --out DIR, or --fresh to discard them",
                folder.join("results.json").display(),
                results.runs.len(),
                header.unlike(&results.header)
            ),
            _ => {
                let _ = std::fs::remove_dir_all(folder.join(super::CHECKPOINTS));
                ((Results { header, outcome: Value::Null, runs: BTreeMap::new() }, Times::default()), true)
            }
        };
        let at_once = before != Before::Replace;
        let before = state.1.wall_seconds;
        let (folder, start, machine) = (folder.to_path_buf(), Instant::now(), super::machine::describe());
        let store = Store { _lock: lock, folder, state: Mutex::new(state), at_once, start, before, machine };
        // Checkpoints belong to a header, so it must be written before them; an existing file with the same header is kept.
        if new && at_once {
            store.write(&store.lock())?;
        }
        Ok(store)
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.lock().0.runs.len()
    }

    /// Path of the results, for messages.
    pub fn file(&self) -> PathBuf {
        self.folder.join("results.json")
    }

    /// Returns a stored run.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.lock().0.runs.get(key).cloned()
    }

    /// Time of a run in seconds, if known.
    pub fn seconds(&self, key: &str) -> Option<f64> {
        self.lock().1.runs.get(key).copied()
    }

    /// Adds a run and writes all results, unless they are written at the end.
    pub fn put(&self, key: &str, run: Value, seconds: f64) -> anyhow::Result<()> {
        let mut state = self.lock();
        state.0.runs.insert(key.to_owned(), run);
        state.1.runs.insert(key.to_owned(), seconds);
        state.1.wall_seconds = self.before + self.start.elapsed().as_secs_f64();
        state.1.machines.insert(self.machine.clone());
        if self.at_once { self.write(&state) } else { Ok(()) }
    }

    /// Sets the outcome over all runs.
    pub fn conclude(&self, outcome: Value) -> anyhow::Result<()> {
        let mut state = self.lock();
        state.0.outcome = outcome;
        self.write(&state)
    }

    /// Times and machines of all sessions.
    pub fn past(&self) -> Past {
        let state = self.lock();
        let per_query = state.0.runs.values().any(|run| {
            let mut found = vec![];
            super::packed::find(run, "", &mut found);
            !found.is_empty()
        });
        Past { seconds: state.1.of(&state.0), machines: state.1.machines.iter().cloned().collect(), per_query }
    }

    fn lock(&self) -> MutexGuard<'_, (Results, Times)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, state: &(Results, Times)) -> anyhow::Result<()> {
        super::write(&self.folder.join("results.json"), &text(&state.0)?)?;
        super::write(&self.folder.join("times.json"), &(serde_json::to_string_pretty(&state.1)? + "\n"))
    }
}

impl Header {
    /// Whether only the protocol differs.
    pub fn is_earlier(&self, now: &Header) -> bool {
        self != now && *now == Header { protocol: now.protocol.clone(), ..self.clone() }
    }

    /// The keys in which another header differs from this one.
    fn unlike(&self, other: &Header) -> String {
        let mut parts = vec![];
        if self.experiment != other.experiment {
            parts.push(format!("the experiment {}", other.experiment));
        }
        if self.scale != other.scale {
            parts.push(format!("{} scale, not {}", other.scale, self.scale));
        }
        if self.seed != other.seed {
            parts.push(format!("seed {}, not {}", other.seed, self.seed));
        }
        if self.backend != other.backend {
            parts.push(format!("backend {}, not {}", other.backend, self.backend));
        }
        if parts.is_empty() {
            let keys =
                |header: &Header| header.protocol.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect();
            let mut names: BTreeSet<String> = keys(self);
            names.append(&mut keys(other));
            names.retain(|name| self.protocol.get(name) != other.protocol.get(name));
            parts.push(format!("other settings ({})", names.into_iter().collect::<Vec<_>>().join(", ")));
        }
        parts.join(", ")
    }
}

/// Returns the results in a folder, if there are any.
///
/// # Errors
/// If the file does not contain results.
pub fn read(folder: &Path) -> anyhow::Result<Option<Results>> {
    parse(&folder.join("results.json"), "rerun with --fresh, or use another --out DIR")
}

/// Returns the total time of the results in a folder, if known.
pub fn read_seconds(folder: &Path, results: &Results) -> Option<f64> {
    read_times(folder).ok()??.of(results)
}

fn read_times(folder: &Path) -> anyhow::Result<Option<Times>> {
    let (path, remedy) = (folder.join("times.json"), "remove it; only the times of the runs are lost");
    match parse(&path, remedy)? {
        Some(times) if !Times::are_possible(&times) => bail!("{}: impossible time", damaged(&path, remedy)),
        times => Ok(times),
    }
}

/// Reads a JSON file; `None` if it does not exist.
fn parse<T: DeserializeOwned>(path: &Path, remedy: &str) -> anyhow::Result<Option<T>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot read", path.display())),
    };
    serde_json::from_slice(&bytes).map(Some).with_context(|| damaged(path, remedy))
}

fn damaged(path: &Path, remedy: &str) -> String {
    format!("{}: damaged; restore it, or {remedy}", path.display())
}

/// Formats JSON with one line per run: readable diffs without a line for every number.
fn text(results: &Results) -> anyhow::Result<String> {
    let head = serde_json::to_string_pretty(&Results { runs: BTreeMap::new(), ..results.clone() })?;
    let head = head.strip_suffix("{}\n}").context("results do not end with their runs")?;
    let lines: Vec<String> =
        results.runs.iter().map(|(key, run)| format!("    {}: {run}", Value::from(key.as_str()))).collect();
    Ok(format!("{head}{{\n{}\n  }}\n}}\n", lines.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn header(seed: u64) -> Header {
        let protocol = json!({"epochs": 3});
        Header { experiment: "x".into(), scale: "quick".into(), seed, backend: "flex".into(), protocol }
    }

    fn open(folder: &Path, seed: u64, fresh: bool) -> Result<Store, String> {
        open_as(folder, seed, if fresh { Before::Discard } else { Before::Resume })
    }

    fn open_as(folder: &Path, seed: u64, before: Before) -> Result<Store, String> {
        Store::open(folder, header(seed), before).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn runs_are_reused_under_the_same_header() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), 1, false).unwrap();
        store.put("a", json!({"value": 0.1 + 0.2, "list": [1, 2]}), 1.5).unwrap();
        store.put("b", json!(null), 0.5).unwrap();
        let past = store.past();
        assert_eq!(past.machines, [super::super::machine::describe()]);
        drop(store);
        let again = open(folder.path(), 1, false).unwrap();
        assert_eq!(again.get("a").unwrap()["value"], json!(0.1 + 0.2));
        assert!(again.past().seconds > Some(0.0) && again.past() == past);
        again.conclude(json!({"verdict": "reproduced"})).unwrap();
        drop(again);
        let results = read(folder.path()).unwrap().unwrap();
        assert_eq!((&results.outcome["verdict"], results.runs.len()), (&json!("reproduced"), 2));
        let checkpoints = folder.path().join("checkpoints");
        std::fs::create_dir(&checkpoints).unwrap();
        assert!(open(folder.path(), 1, false).unwrap().get("a").is_some() && checkpoints.exists());
        assert_eq!(open(folder.path(), 1, true).unwrap().len(), 0);
        assert!(!checkpoints.exists());
        // Without runs nothing is lost.
        assert!(open(folder.path(), 2, false).is_ok());
    }

    #[test]
    fn runs_of_other_settings_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), 1, false).unwrap();
        store.put("a", json!(1), 1.0).unwrap();
        drop(store);
        let before = std::fs::read(folder.path().join("results.json")).unwrap();
        let message = open(folder.path(), 2, false).err().unwrap();
        assert!(
            message.contains("results.json: its 1 runs are of seed 1, not 2; ") && message.contains("--fresh"),
            "{message}"
        );
        assert_eq!(std::fs::read(folder.path().join("results.json")).unwrap(), before);
    }

    #[test]
    fn results_are_replaced_once_the_new_ones_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        let stored = || read(folder.path()).unwrap().map(|results| results.runs);
        let first = open_as(folder.path(), 1, Before::Replace).unwrap();
        first.put("a", json!(1), 1.0).unwrap();
        assert!(stored().is_none());
        first.conclude(json!("done")).unwrap();
        drop(first);
        let second = open_as(folder.path(), 1, Before::Replace).unwrap();
        assert_eq!(second.len(), 0);
        second.put("b", json!(2), 1.0).unwrap();
        assert!(stored().unwrap().contains_key("a"));
        second.conclude(json!("done")).unwrap();
        assert_eq!(stored().unwrap().into_keys().collect::<Vec<_>>(), ["b"]);
        drop(second);
        let message = open_as(folder.path(), 2, Before::Replace).err().unwrap();
        assert!(message.contains("its 1 runs are of seed 1, not 2; ") && message.contains("--fresh"), "{message}");
        assert!(open_as(folder.path(), 2, Before::Discard).is_ok());
    }

    #[test]
    fn other_settings_are_named() {
        let other = Header { protocol: json!({"epochs": 4, "machine": "large"}), ..header(1) };
        assert_eq!(header(1).unlike(&other), "other settings (epochs, machine)");
    }

    #[test]
    fn damaged_files_are_kept() {
        let negative = r#"{"wall_seconds": -7, "runs": {}}"#;
        for (name, remedy, other) in [
            ("results.json", "--fresh", None),
            ("times.json", "remove it", None),
            ("times.json", "remove it", Some(negative)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            open(folder.path(), 1, false).unwrap().put("a", json!(1), 1.0).unwrap();
            let path = folder.path().join(name);
            let whole = std::fs::read(&path).unwrap();
            let bad = other.map_or(&whole[..whole.len() / 2], str::as_bytes);
            std::fs::write(&path, bad).unwrap();
            let message = open(folder.path(), 1, false).err().unwrap();
            assert!(message.contains(name) && message.contains("damaged") && message.contains(remedy), "{message}");
            assert_eq!(std::fs::read(&path).unwrap(), bad);
            assert!(open(folder.path(), 1, true).is_ok());
        }
    }

    #[test]
    fn runs_outlive_their_times() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path(), 1, false).unwrap().put("a", json!(1), 1.0).unwrap();
        let results = read(folder.path()).unwrap().unwrap();
        assert!(read_seconds(folder.path(), &results).is_some());
        std::fs::remove_file(folder.path().join("times.json")).unwrap();
        assert!(read_seconds(folder.path(), &results).is_none());
        let store = open(folder.path(), 1, false).unwrap();
        store.put("b", json!(2), 1.0).unwrap();
        assert_eq!((store.len(), store.past().seconds), (2, None));
    }

    #[test]
    fn a_second_program_is_refused_until_the_first_ends() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path(), 1, false).unwrap();
        let message = open(folder.path(), 1, false).err().unwrap();
        assert!(message.contains("another process") && message.contains("--out"), "{message}");
        drop(first);
        assert!(open(folder.path(), 1, false).is_ok());
    }
}
