//! The journal of a search on disk, so that a search that was killed can be resumed with the same result.
//!
//! The first line identifies the search; each further line is the outcome of a trial after a rung.

use super::search::Outcome;
use crate::error::{Error, Result};
use crate::memory;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What to do with an existing journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingJournal {
    /// Return an error.
    Refuse,
    /// Resume the search, if it is the same.
    Resume,
    /// Overwrite it.
    Discard,
}

/// The open journal of a search, locked against other processes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    outcomes: Outcomes,
    /// The first error of writing an outcome.
    failure: Mutex<Option<Error>>,
}

/// Outcomes by trial and rung, with their line numbers.
type Outcomes = BTreeMap<(usize, usize), (Outcome, usize)>;

/// How to handle a journal that cannot be resumed.
const REMEDY: &str = "discard it with `force`, or choose another folder";

impl Journal {
    /// Opens the journal of the search with this identity, or creates it.
    ///
    /// # Errors
    /// If the file cannot be written, another process writes it, it is not a journal or is damaged, or there is already a
    /// journal of another search or one that may not be resumed.
    pub fn open(path: &Path, identity: &Value, existing: ExistingJournal) -> Result<Self> {
        let failed = |error| Error::io(path, "write", error);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(wrong(path, "another burnrank process writes it: wait for it, or choose another folder"));
            }
            // Without file locks on this system, two searches may write the same journal.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(wrong(path, "not a file: choose another folder"));
        }
        // Memory for the text and the parsed values.
        memory::ask(metadata.len().saturating_mul(4), &format!("reading {}", path.display()), REMEDY)?;
        let text = std::fs::read(path).map_err(|error| Error::io(path, "read", error))?;
        let (length, outcomes) = match existing {
            ExistingJournal::Discard => (0, Outcomes::new()),
            _ => read(path, &text, identity)?,
        };
        if existing == ExistingJournal::Refuse && !outcomes.is_empty() {
            return Err(wrong(
                path,
                "a search exists here: continue it with `resume`, discard it with `force`, or choose another folder",
            ));
        }
        file.set_len(length).map_err(failed)?;
        let journal = Journal { path: path.to_path_buf(), file: Mutex::new(file), outcomes, failure: Mutex::default() };
        if length == 0 {
            journal.write(identity)?;
        }
        Ok(journal)
    }

    /// Returns the stored outcome of a trial after a rung.
    pub fn get(&self, trial: usize, rung: usize) -> Option<&Outcome> {
        self.outcomes.get(&(trial, rung)).map(|(outcome, _)| outcome)
    }

    /// Returns all stored outcomes, if `check` accepts each of them.
    ///
    /// # Errors
    /// The first one that is not accepted, with its line and the reason.
    pub(super) fn load(&self, check: impl Fn(&Outcome) -> std::result::Result<(), String>) -> Result<Vec<&Outcome>> {
        let checked = self.outcomes.values().map(|(outcome, line)| match check(outcome) {
            Ok(()) => Ok(outcome),
            Err(why) => Err(wrong(&self.path, &format!("line {line}: {why}: {REMEDY}"))),
        });
        checked.collect()
    }

    /// Number of stored outcomes.
    pub fn n_outcomes(&self) -> usize {
        self.outcomes.len()
    }

    /// Appends an outcome. A failure does not end the search: it is kept for [`Journal::failure`], and a partial line is removed
    /// from the file.
    pub fn add(&self, outcome: &Outcome) {
        let value = serde_json::to_value(outcome).map_err(|error| Error::Record(error.to_string()));
        if let Err(error) = value.and_then(|value| self.write(&value)) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Takes the first error of writing an outcome; `None` if all were written.
    pub fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn write(&self, value: &Value) -> Result<()> {
        let failed = |error| Error::io(&self.path, "write", error);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        file.write_all(format!("{value}\n").as_bytes()).map_err(|error| {
            let _ = file.set_len(length);
            failed(error)
        })
    }
}

fn wrong(path: &Path, message: &str) -> Error {
    Error::Model { path: path.to_path_buf(), message: message.to_owned() }
}

/// The length of all complete lines, and their outcomes.
fn read(path: &Path, text: &[u8], identity: &Value) -> Result<(u64, Outcomes)> {
    // A line that was being written when the process was killed has no newline.
    let length = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if length == 0 && !text.is_empty() && !identity.to_string().as_bytes().starts_with(text) {
        return Err(wrong(path, &format!("not the journal of a search: {REMEDY}")));
    }
    let mut outcomes = Outcomes::new();
    for (place, line) in text[..length].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let damaged = || wrong(path, &format!("line {} is not valid in a journal: {REMEDY}", place + 1));
        let value: Value = serde_json::from_slice(line).map_err(|_| damaged())?;
        if place > 0 {
            let outcome: Outcome = serde_json::from_value(value).map_err(|_| damaged())?;
            outcomes.insert((outcome.trial, outcome.rung), (outcome, place + 1));
        } else if value != *identity {
            let differences = differences(&value, identity).ok_or_else(damaged)?;
            return Err(wrong(path, &format!("the journal of a search with another {differences}: {REMEDY}")));
        }
    }
    Ok((length as u64, outcomes))
}

/// The keys in which two identities differ; `None` if one is not an identity.
fn differences(actual: &Value, expected: &Value) -> Option<String> {
    let (actual, expected) = (actual.as_object()?, expected.as_object()?);
    let keys: BTreeSet<&String> = expected.keys().collect();
    if !actual.keys().any(|key| keys.contains(key)) {
        return None;
    }
    let differ = keys.into_iter().filter(|key| actual.get(*key) != expected.get(*key)).cloned();
    let names: Vec<String> = differ.collect();
    Some(if names.is_empty() { "version".into() } else { names.join(" and ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::Evaluation;
    use serde_json::json;

    fn outcome(trial: usize) -> Outcome {
        let values = vec![Some(0.1 + 0.2), None, Some(1.0 / 3.0)];
        let evaluation = Evaluation {
            epochs: 4,
            exhausted: false,
            chosen_epochs: vec![[1, 4]],
            half_means: [0.5, 0.25],
            values,
            validation_value: Some(0.375),
        };
        Outcome { trial, rung: 1, evaluation: Some(evaluation), failure: None, seconds: 0.5 }
    }

    #[test]
    fn outcomes_are_read_back_and_a_torn_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let identity = json!({"seed": 1, "space": {"lr": [1]}});
        let journal = Journal::open(&path, &identity, ExistingJournal::Refuse).unwrap();
        journal.add(&outcome(0));
        let one = std::fs::read(&path).unwrap();
        journal.add(&outcome(1));
        let two = std::fs::read(&path).unwrap();
        let busy = Journal::open(&path, &identity, ExistingJournal::Resume).unwrap_err().to_string();
        assert!(busy.contains("another burnrank process writes it"), "{busy}");
        drop(journal);
        for cut in one.len()..=two.len() {
            std::fs::write(&path, &two[..cut]).unwrap();
            let journal = Journal::open(&path, &identity, ExistingJournal::Resume).unwrap();
            assert_eq!(journal.get(0, 1), Some(&outcome(0)), "cut at {cut}");
            assert_eq!(journal.get(1, 1).is_some(), cut == two.len());
            assert_eq!(journal.n_outcomes(), 1 + usize::from(cut == two.len()));
            journal.add(&outcome(1));
            assert!(journal.failure().is_none());
            drop(journal);
            assert_eq!(Journal::open(&path, &identity, ExistingJournal::Resume).unwrap().get(1, 1), Some(&outcome(1)));
        }
        // A torn first line has no outcomes to lose.
        for cut in 0..5 {
            std::fs::write(&path, &one[..cut]).unwrap();
            assert_eq!(Journal::open(&path, &identity, ExistingJournal::Refuse).unwrap().n_outcomes(), 0);
        }
    }

    #[test]
    fn a_journal_of_another_search_is_rejected_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let identity = json!({"seed": 1, "space": 1, "data": 2});
        Journal::open(&path, &identity, ExistingJournal::Refuse).unwrap().add(&outcome(0));
        let before = std::fs::read(&path).unwrap();
        let error = |other: Value, how| Journal::open(&path, &other, how).unwrap_err().to_string();
        let message = error(json!({"seed": 2, "space": 2, "data": 2}), ExistingJournal::Resume);
        assert!(message.contains("a search with another seed and space: discard it with `force`"), "{message}");
        let message = error(identity.clone(), ExistingJournal::Refuse);
        assert!(message.contains("continue it with `resume`"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        for foreign in ["my diary\n", "diary", "{\"epoch\":1}\n", "[]\n"] {
            std::fs::write(&path, foreign).unwrap();
            let message = error(identity.clone(), ExistingJournal::Resume);
            assert!(message.contains("journal") && message.contains("another folder"), "{message}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), foreign);
        }
        std::fs::write(&path, [before.as_slice(), b"{}\n"].concat()).unwrap();
        assert!(error(identity.clone(), ExistingJournal::Resume).contains("line 3"));
        assert_eq!(Journal::open(&path, &identity, ExistingJournal::Discard).unwrap().n_outcomes(), 0);
    }
}
