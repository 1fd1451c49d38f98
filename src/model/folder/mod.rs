//! Models on disk: a folder with the weights (`model.bpk` for nets), `model.json` and a model card.

mod card;
mod checksum;
mod info;
mod lock;
mod place;
mod replace;
#[cfg(test)]
mod tests;

pub use info::{DataInfo, ModelInfo};
pub use place::ModelPlace;

use super::{Model, Scorer};
use crate::error::{Error, Result};
use crate::memory;
use burn::tensor::Device;
use info::{BURN, FORMAT, get, read_info, wrong};
use place::occupant;
use replace::{publish, recover_for_reading, stage};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Names of all files that a model folder can contain.
pub(super) const FILES: [&str; 6] =
    ["model.bpk", "model.txt", "kernel.json", "model.json", "README.md", "training.jsonl"];

/// Maximum bytes of a record besides its weights: names, shapes, alignment.
const RECORD_EXTRAS: u64 = 1 << 20;

impl Model {
    /// Writes the model folder, atomically replacing a model that is there.
    ///
    /// # Errors
    /// If the folder cannot be written, contains something other than a model, or a number of this model is not finite.
    pub fn save(&self, folder: &Path) -> Result<()> {
        self.save_to(&ModelPlace::claim(folder)?)
    }

    /// Like [`Model::save`], for a locked path.
    ///
    /// # Errors
    /// The errors of [`Model::save`].
    pub fn save_to(&self, place: &ModelPlace) -> Result<()> {
        let target = place.folder();
        occupant(target)?;
        self.check_finite()?;
        let record = self.scorer.to_bytes()?;
        let mut info = self.info.clone();
        (info.format, info.burnrank, info.burn) = (FORMAT, env!("CARGO_PKG_VERSION").into(), BURN.into());
        // JSON cannot represent them.
        info.metrics.values_mut().for_each(|values| values.retain(|_, value| value.is_finite()));
        info.checksum = checksum::of(&info, &record);
        let json = serde_json::to_string_pretty(&info).map_err(|error| Error::Record(error.to_string()))? + "\n";
        let mut log = String::new();
        for epoch in &self.history {
            log += &serde_json::to_string(epoch).map_err(|error| Error::Record(error.to_string()))?;
            log.push('\n');
        }
        let new = stage(target)?;
        let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        put(new.path().join(Scorer::file(&info.ranker.architecture)), &record)?;
        put(new.path().join("model.json"), json.as_bytes())?;
        put(new.path().join("README.md"), card::text(&name, &info).as_bytes())?;
        if !self.history.is_empty() {
            put(new.path().join("training.jsonl"), log.as_bytes())?;
        }
        publish(new, target)
    }

    /// Refuses numbers that are not finite, which would be refused when the model is loaded.
    fn check_finite(&self) -> Result<()> {
        let (center, spread) = self.info.scaler.numbers();
        if !self.scorer.is_finite() || !center.iter().chain(spread).all(|number| number.is_finite()) {
            let message = "the model was not saved, because its weights or scaling are not finite: lower `lr`";
            return Err(Error::Record(message.into()));
        }
        Ok(())
    }

    /// Reads and checks a model folder.
    ///
    /// # Errors
    /// If the folder is missing, damaged, not a model, or of another version.
    pub fn load(folder: &Path, device: &Device) -> Result<Self> {
        if !folder.exists() {
            recover_for_reading(folder)?;
        }
        let mut tries = 5;
        loop {
            let info = read_info(folder)?;
            match read_record(folder, &info, device) {
                Ok(scorer) => return Ok(Model { scorer, info, history: Vec::new() }),
                // Another process may have replaced the folder while it was read, even twice, so a mismatch is not
                // proof of damage.
                Err(_) if tries > 0 => tries -= 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// Reads the weights, after comparing the file's size with `model.json` before any memory is allocated.
fn read_record(folder: &Path, info: &ModelInfo, device: &Device) -> Result<Scorer> {
    let path = folder.join(Scorer::file(&info.ranker.architecture));
    let max_bytes = if info.ranker.architecture.is_net() { check_length(&path, info)? } else { u64::MAX };
    let record = get(&path, max_bytes)?;
    if checksum::of(info, &record) != info.checksum {
        let message = "damaged: the weights, or shape and scaling in model.json, have changed since they were written: \
                       restore the folder from a copy, or train again";
        return Err(wrong(&path, message.into()));
    }
    Scorer::from_bytes(&info.ranker, record, device).map_err(|error| wrong(&path, error.to_string()))
}

/// Checks the size of the file of a net, and returns its maximum size.
fn check_length(path: &Path, info: &ModelInfo) -> Result<u64> {
    let weights = info.ranker.weight_bytes();
    let length = fs::metadata(path).map_err(|source| Error::io(path, "read", source))?.len();
    if length < weights || length > weights.saturating_add(RECORD_EXTRAS) {
        let message = format!(
            "damaged: it has {}, but model.json describes a {} over {} features, whose weights take {}: restore the \
             folder from a copy, or train again",
            memory::readable(length),
            info.ranker.architecture,
            info.ranker.features,
            memory::readable(weights)
        );
        return Err(wrong(path, message));
    }
    Ok(weights.saturating_add(RECORD_EXTRAS))
}

fn put(path: PathBuf, bytes: &[u8]) -> Result<()> {
    let failed = |source| Error::io(&path, "write", source);
    let mut file = fs::File::create(&path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.sync_all().map_err(failed)
}
