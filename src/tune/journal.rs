//! What a search has found so far, on disk: one whole line per finished piece of work, so that a search that was killed goes
//! on to the same end.
//!
//! The first line is the identity of the search; each further one is a trial after a rung.

use super::search::Outcome;
use crate::error::{Error, Result};
use crate::memory;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What becomes of a journal that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// It is refused.
    Refuse,
    /// The search goes on with it, if it is its own.
    GoOn,
    /// It is discarded.
    Discard,
}

/// The open journal of a search; no other process writes it meanwhile.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    known: Known,
    /// Why an outcome could not be written, the first time.
    failure: Mutex<Option<Error>>,
}

/// Outcomes by trial and rung, with their lines in the file.
type Known = BTreeMap<(usize, usize), (Outcome, usize)>;

/// What to do about a journal that cannot be resumed.
const REMEDY: &str = "discard it with `force`, or choose another folder";

impl Journal {
    /// Opens the journal of the search of this identity, or starts one.
    ///
    /// # Errors
    /// When the file cannot be written, another process writes it, it is no journal or is damaged, or there is one already
    /// that is of another search or was not asked for.
    pub fn open(path: &Path, identity: &Value, before: Before) -> Result<Self> {
        let failed = |error| Error::io(path, "write", error);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(wrong(path, "another burnrank writes it: wait for its end, or choose another folder"));
            }
            // Where the system locks no files, nothing keeps two searches apart.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(wrong(path, "not a file: choose another folder"));
        }
        // The text, and what it is parsed into.
        memory::ask(metadata.len().saturating_mul(4), &format!("reading {}", path.display()), REMEDY)?;
        let text = std::fs::read(path).map_err(|error| Error::io(path, "read", error))?;
        let (length, known) = match before {
            Before::Discard => (0, Known::new()),
            _ => read(path, &text, identity)?,
        };
        if before == Before::Refuse && !known.is_empty() {
            return Err(wrong(
                path,
                "there is a search already: continue it with `resume`, discard it with `force`, or choose another folder",
            ));
        }
        file.set_len(length).map_err(failed)?;
        let journal = Journal { path: path.to_path_buf(), file: Mutex::new(file), known, failure: Mutex::default() };
        if length == 0 {
            journal.write(identity)?;
        }
        Ok(journal)
    }

    /// What a trial came to after a rung, if that is known from before.
    pub fn get(&self, trial: usize, rung: usize) -> Option<&Outcome> {
        self.known.get(&(trial, rung)).map(|(outcome, _)| outcome)
    }

    /// All outcomes that are known from before, if `check` accepts each of them.
    ///
    /// # Errors
    /// The first that it does not accept, with its line and what is wrong with it.
    pub(super) fn known(&self, check: impl Fn(&Outcome) -> std::result::Result<(), String>) -> Result<Vec<&Outcome>> {
        let checked = self.known.values().map(|(outcome, line)| match check(outcome) {
            Ok(()) => Ok(outcome),
            Err(why) => Err(wrong(&self.path, &format!("line {line}: {why}: {REMEDY}"))),
        });
        checked.collect()
    }

    /// The number of outcomes that are known from before.
    pub fn n_known(&self) -> usize {
        self.known.len()
    }

    /// Adds an outcome. A failure is no reason to lose a search: it is kept for [`Journal::failure`], and no part of the line is
    /// left in the file.
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

/// The length of all whole lines, and the outcomes that they tell.
fn read(path: &Path, text: &[u8], identity: &Value) -> Result<(u64, Known)> {
    // What was being written when the process was killed is no whole line.
    let length = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if length == 0 && !text.is_empty() && !identity.to_string().as_bytes().starts_with(text) {
        return Err(wrong(path, &format!("not the journal of a search: {REMEDY}")));
    }
    let mut known = Known::new();
    for (place, line) in text[..length].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let damaged = || wrong(path, &format!("line {} is not that of a journal: {REMEDY}", place + 1));
        let value: Value = serde_json::from_slice(line).map_err(|_| damaged())?;
        if place > 0 {
            let outcome: Outcome = serde_json::from_value(value).map_err(|_| damaged())?;
            known.insert((outcome.trial, outcome.rung), (outcome, place + 1));
        } else if value != *identity {
            let unlike = unlike(&value, identity).ok_or_else(damaged)?;
            return Err(wrong(path, &format!("the journal of another search, by its {unlike}: {REMEDY}")));
        }
    }
    Ok((length as u64, known))
}

/// What two identities differ in; nothing where one is none.
fn unlike(found: &Value, expected: &Value) -> Option<String> {
    let (found, expected) = (found.as_object()?, expected.as_object()?);
    let keys: BTreeSet<&String> = expected.keys().collect();
    if !found.keys().any(|key| keys.contains(key)) {
        return None;
    }
    let differ = keys.into_iter().filter(|key| found.get(*key) != expected.get(*key)).cloned();
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
    fn what_is_written_is_read_back_and_a_torn_line_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let identity = json!({"seed": 1, "space": {"lr": [1]}});
        let journal = Journal::open(&path, &identity, Before::Refuse).unwrap();
        journal.add(&outcome(0));
        let one = std::fs::read(&path).unwrap();
        journal.add(&outcome(1));
        let two = std::fs::read(&path).unwrap();
        let busy = Journal::open(&path, &identity, Before::GoOn).unwrap_err().to_string();
        assert!(busy.contains("another burnrank writes it"), "{busy}");
        drop(journal);
        for cut in one.len()..=two.len() {
            std::fs::write(&path, &two[..cut]).unwrap();
            let journal = Journal::open(&path, &identity, Before::GoOn).unwrap();
            assert_eq!(journal.get(0, 1), Some(&outcome(0)), "cut at {cut}");
            assert_eq!(journal.get(1, 1).is_some(), cut == two.len());
            assert_eq!(journal.n_known(), 1 + usize::from(cut == two.len()));
            journal.add(&outcome(1));
            assert!(journal.failure().is_none());
            drop(journal);
            assert_eq!(Journal::open(&path, &identity, Before::GoOn).unwrap().get(1, 1), Some(&outcome(1)));
        }
        // Torn in its first line, there is nothing to lose.
        for cut in 0..5 {
            std::fs::write(&path, &one[..cut]).unwrap();
            assert_eq!(Journal::open(&path, &identity, Before::Refuse).unwrap().n_known(), 0);
        }
    }

    #[test]
    fn a_journal_of_another_search_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let identity = json!({"seed": 1, "space": 1, "data": 2});
        Journal::open(&path, &identity, Before::Refuse).unwrap().add(&outcome(0));
        let before = std::fs::read(&path).unwrap();
        let refused = |other: Value, how| Journal::open(&path, &other, how).unwrap_err().to_string();
        let message = refused(json!({"seed": 2, "space": 2, "data": 2}), Before::GoOn);
        assert!(message.contains("another search, by its seed and space: discard it with `force`"), "{message}");
        let message = refused(identity.clone(), Before::Refuse);
        assert!(message.contains("continue it with `resume`"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        for foreign in ["my diary\n", "diary", "{\"epoch\":1}\n", "[]\n"] {
            std::fs::write(&path, foreign).unwrap();
            let message = refused(identity.clone(), Before::GoOn);
            assert!(message.contains("journal") && message.contains("another folder"), "{message}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), foreign);
        }
        std::fs::write(&path, [before.as_slice(), b"{}\n"].concat()).unwrap();
        assert!(refused(identity.clone(), Before::GoOn).contains("line 3"));
        assert_eq!(Journal::open(&path, &identity, Before::Discard).unwrap().n_known(), 0);
    }
}
