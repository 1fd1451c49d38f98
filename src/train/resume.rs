//! A run that is written to a checkpoint, and goes on from it.

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
    /// Of one run, to which all parts belong.
    Run(Box<RunState>),
    /// Of an ensemble: each member, and how many of the parts are its own.
    Ensemble(Vec<(RunState, usize)>),
}

impl Trainer<'_> {
    /// Goes on from a file of [`Trainer::save_checkpoint`], to the same bytes as a run that was never interrupted.
    ///
    /// # Errors
    /// A file that is missing, damaged, or of a run with other settings or data.
    pub fn resume(mut self, path: &Path) -> Result<Self> {
        let read = || checkpoint::bytes(path);
        let bytes = match &self.partition {
            // The file may be where the first process is, and nowhere else.
            Some(partition) => partition.member.from_leader(read)?,
            None => read()?,
        };
        match checkpoint::parse(path, &bytes)? {
            (Saved::Run(state), parts) => self.restore(*state, parts, path)?,
            (Saved::Ensemble(_), _) => return Err(other_run(path)),
        }
        Ok(self)
    }

    /// Goes on from what a checkpoint at `path` holds.
    pub(super) fn restore(&mut self, state: RunState, parts: Vec<Vec<u8>>, path: &Path) -> Result<()> {
        if state.identity != self.state.identity {
            return Err(other_run(path));
        }
        let damaged = |error: Error| Error::Model { path: path.to_path_buf(), message: error.to_string() };
        self.learner.restore(parts, &self.data.train).map_err(damaged)?;
        self.state = state;
        Ok(())
    }

    /// Writes the run to one file, which is replaced atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_checkpoint(&self, path: &Path) -> Result<()> {
        let parts = self.learner.save()?;
        checkpoint::write(path, &self.state, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

/// Refuses to go on with another run.
pub(super) fn other_run(path: &Path) -> Error {
    let message = "the checkpoint is of a run with other settings or data: give the same, or delete it and train anew";
    Error::Model { path: path.to_path_buf(), message: message.into() }
}
