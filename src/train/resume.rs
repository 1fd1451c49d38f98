//! A run that is written to a checkpoint, and goes on from it.

use super::checkpoint;
use super::state::RunState;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use std::path::Path;

impl Trainer<'_> {
    /// Goes on from a file of [`Trainer::save_checkpoint`], to the same bytes as a run that was never interrupted.
    ///
    /// # Errors
    /// A file that is missing, damaged, or of a run with other settings or data.
    pub fn resume(mut self, path: &Path) -> Result<Self> {
        let (state, parts): (RunState, _) = checkpoint::read(path)?;
        let wrong = |message: &str| Error::Model { path: path.to_path_buf(), message: message.to_owned() };
        if state.identity != self.state.identity {
            return Err(wrong(
                "the checkpoint is of a run with other settings or data: give the same, or delete it and train anew",
            ));
        }
        self.learner.restore(parts, &self.data.train).map_err(|error| wrong(&error.to_string()))?;
        self.state = state;
        Ok(self)
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
