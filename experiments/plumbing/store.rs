//! `results.json`: written anew after each run, and read back to go on where an experiment was.
//!
//! Times are in `times.json`, so that the same seed gives the same `results.json` to the byte.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What decides the results; runs stored under another header are not taken over.
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

/// How long everything took, over all sessions that a result was made in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Times {
    /// From the start of each session to its last run.
    wall_seconds: f64,
    runs: BTreeMap<String, f64>,
}

/// The stored runs of one experiment.
pub struct Store {
    folder: PathBuf,
    inside: Mutex<(Results, Times)>,
    start: Instant,
    /// The wall seconds of sessions before this one.
    before: f64,
}

impl Store {
    /// Takes over the runs of a file with the same header; of any other, nothing is left.
    pub fn open(folder: &Path, header: Header, fresh: bool) -> anyhow::Result<Store> {
        let same = read(folder).filter(|results| !fresh && results.header == header);
        let inside = match same {
            Some(results) => {
                let times = std::fs::read(folder.join("times.json")).ok();
                let times = times.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
                (Results { outcome: Value::Null, ..results }, times)
            }
            None => {
                let _ = std::fs::remove_dir_all(folder.join(super::CHECKPOINTS));
                (Results { header, outcome: Value::Null, runs: BTreeMap::new() }, Times::default())
            }
        };
        let before = inside.1.wall_seconds;
        let store = Store { folder: folder.to_path_buf(), inside: Mutex::new(inside), start: Instant::now(), before };
        // Checkpoints belong to a header, so it must be there before them.
        store.write(&store.lock())?;
        Ok(store)
    }

    /// A run that is already there.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.lock().0.runs.get(key).cloned()
    }

    /// Adds a run, and writes everything.
    pub fn put(&self, key: &str, run: Value, seconds: f64) -> anyhow::Result<()> {
        let mut inside = self.lock();
        inside.0.runs.insert(key.to_owned(), run);
        inside.1.runs.insert(key.to_owned(), seconds);
        inside.1.wall_seconds = self.before + self.start.elapsed().as_secs_f64();
        self.write(&inside)
    }

    /// Adds what all runs together say.
    pub fn conclude(&self, outcome: Value) -> anyhow::Result<()> {
        let mut inside = self.lock();
        inside.0.outcome = outcome;
        self.write(&inside)
    }

    /// How long all sessions took.
    pub fn seconds(&self) -> f64 {
        self.lock().1.wall_seconds
    }

    fn lock(&self) -> MutexGuard<'_, (Results, Times)> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, inside: &(Results, Times)) -> anyhow::Result<()> {
        super::write(&self.folder.join("results.json"), &text(&inside.0)?)?;
        super::write(&self.folder.join("times.json"), &(serde_json::to_string_pretty(&inside.1)? + "\n"))
    }
}

/// The results in a folder, if there are any.
pub fn read(folder: &Path) -> Option<Results> {
    serde_json::from_slice(&std::fs::read(folder.join("results.json")).ok()?).ok()
}

/// How long the results in a folder took.
pub fn read_seconds(folder: &Path) -> Option<f64> {
    let times: Times = serde_json::from_slice(&std::fs::read(folder.join("times.json")).ok()?).ok()?;
    Some(times.wall_seconds)
}

/// JSON with one line a run: readable differences without a line for every number.
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

    #[test]
    fn runs_are_taken_over_under_the_same_header_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), header(1), false).unwrap();
        store.put("a", json!({"value": 0.1 + 0.2, "list": [1, 2]}), 1.5).unwrap();
        store.put("b", json!(null), 0.5).unwrap();
        let again = Store::open(folder.path(), header(1), false).unwrap();
        assert_eq!(again.get("a").unwrap()["value"], json!(0.1 + 0.2));
        assert!(again.seconds() > 0.0 && again.seconds() == store.seconds());
        again.conclude(json!({"verdict": "reproduced"})).unwrap();
        assert_eq!(read(folder.path()).unwrap().outcome["verdict"], "reproduced");
        assert_eq!(read(folder.path()).unwrap().runs.len(), 2);
        let checkpoints = folder.path().join("checkpoints");
        std::fs::create_dir(&checkpoints).unwrap();
        assert!(Store::open(folder.path(), header(1), false).unwrap().get("a").is_some() && checkpoints.exists());
        assert_eq!(Store::open(folder.path(), header(1), true).unwrap().get("a"), None);
        assert!(!checkpoints.exists());
        store.put("a", json!(1), 1.0).unwrap();
        assert_eq!(Store::open(folder.path(), header(2), false).unwrap().get("a"), None);
    }

    #[test]
    fn a_damaged_file_is_like_none() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("results.json"), "{\"runs\": {").unwrap();
        assert_eq!(Store::open(folder.path(), header(1), false).unwrap().get("a"), None);
    }
}
