//! Saving a run to a checkpoint, and resuming it.

use super::checkpoint;
use super::state::RunState;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use serde::Deserialize;
use std::path::Path;

/// The header of a checkpoint.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Saved {
    /// A single run, which owns all parts.
    Run(Box<RunState>),
    /// An ensemble: the state of each member and its number of parts.
    Ensemble(Vec<(RunState, usize)>),
}

impl Trainer<'_> {
    /// Resumes from a file of [`Trainer::save_checkpoint`]. The model equals that of an uninterrupted run, to the byte.
    ///
    /// # Errors
    /// If the file is missing, damaged, or of a run with other settings or data.
    pub fn resume(mut self, path: &Path) -> Result<Self> {
        let read = || checkpoint::bytes(path);
        let bytes = match &self.partition {
            // Only the first process may have the file.
            Some(partition) => partition.member.broadcast(read)?,
            None => read()?,
        };
        match checkpoint::parse(path, &bytes)? {
            (Saved::Run(state), parts) => self.restore(*state, parts, path)?,
            (Saved::Ensemble(_), _) => return Err(other_run(path)),
        }
        Ok(self)
    }

    /// Restores the contents of the checkpoint at `path`.
    pub(super) fn restore(&mut self, state: RunState, parts: Vec<Vec<u8>>, path: &Path) -> Result<()> {
        if state.identity != self.state.identity {
            return Err(other_run(path));
        }
        let damaged = |error: Error| Error::Model { path: path.to_path_buf(), message: error.to_string() };
        self.learner.restore(parts, &self.data.train).map_err(damaged)?;
        self.state = state;
        Ok(())
    }

    /// Writes a checkpoint, replacing the file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_checkpoint(&self, path: &Path) -> Result<()> {
        let parts = self.learner.save()?;
        checkpoint::write(path, &self.state, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

/// The error for a checkpoint of another run.
pub(super) fn other_run(path: &Path) -> Error {
    let message =
        "the checkpoint belongs to a run with other settings or data: use the same settings and data, or delete it";
    Error::Model { path: path.to_path_buf(), message: message.into() }
}
