//! A run that is written to a checkpoint, and goes on from it.

use super::checkpoint;
use super::state::RunState;
use super::trainer::Trainer;
use crate::device;
use crate::error::{Error, Result};
use crate::model::{ranker_from_bytes, ranker_to_bytes};
use burn::tensor::{Bytes, Device};
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
        let [ranker, best, optimizer] = <[Vec<u8>; 3]>::try_from(parts).map_err(|_| wrong("damaged checkpoint"))?;
        let load = |bytes, device: &Device| {
            ranker_from_bytes(&self.shape, bytes, device).map_err(|error| wrong(&error.to_string()))
        };
        self.best = load(best, &self.device.clone().without_autodiff())?;
        self.ranker = load(ranker, &self.device)?;
        let (optimizer, fresh) = (Bytes::from_bytes_vec(optimizer), self.optimizer);
        // Burn loads the state on its own default device, which may be a GPU without a driver.
        self.optimizer = device::without_panic(|| fresh.from_bytes(optimizer))
            .ok_or_else(|| wrong("Burn's default device does not work here: resume with a build without GPU backends"))?
            .map_err(|error| wrong(&format!("damaged checkpoint: {error}")))?;
        self.state = state;
        Ok(self)
    }

    /// Writes the run to one file, which is replaced atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_checkpoint(&self, path: &Path) -> Result<()> {
        let ranker = ranker_to_bytes(&self.ranker)?;
        let optimizer = self.optimizer.into_bytes().map_err(|error| Error::Record(error.to_string()))?;
        checkpoint::write(path, &self.state, &[&ranker, &ranker_to_bytes(&self.best)?, &optimizer])
    }
}
