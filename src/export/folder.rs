//! The model on disk: a folder of `model.bpk`, `model.json` and a model card.

use super::info::{BURN, FORMAT, ModelInfo, get, read_info, wrong};
use super::place::{ModelPlace, occupant, resolve};
use super::record::{is_finite, ranker_from_bytes, ranker_to_bytes};
use super::replace::{publish, recover_for_reading, stage};
use super::{card, checksum};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::model::Ranker;
use crate::train::{EpochRecord, score};
use burn::tensor::Device;
use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// All files that a model folder may have. Whatever else lies in one is not ours.
pub(super) const FILES: [&str; 4] = ["model.bpk", "model.json", "README.md", "training.jsonl"];

/// What a record may have beside its weights: names, shapes, alignment.
const RECORD_EXTRAS: u64 = 1 << 20;

/// A ranker with all that is needed to use it on raw features.
#[derive(Debug, Clone)]
pub struct Model {
    /// What scores.
    pub ranker: Ranker,
    /// What is known about it.
    pub info: ModelInfo,
}

/// Feature values that are filled up with zeros at once, at most, unless one query has more.
const AT_ONCE: usize = 1 << 26;

impl Model {
    /// Scores every document of a data set with raw features; sparse data of fewer features is filled up with zeros.
    ///
    /// # Errors
    /// When the data has more features than the model, or fewer and is not sparse, or the device fails.
    pub fn score(&self, data: &Dataset, device: &Device) -> Result<Vec<f32>> {
        let expected = self.info.ranker.features;
        let mut scaled = if data.n_features() == expected {
            Cow::Borrowed(data)
        } else if data.n_queries() > 1 && data.n_documents().saturating_mul(expected) > AT_ONCE {
            return self.score_in_parts(data, device);
        } else {
            Cow::Owned(data.clone().fit_width(expected)?)
        };
        if self.info.scaler.kind() != crate::data::scale::ScaleKind::None {
            self.info.scaler.apply(scaled.to_mut())?;
        }
        score(&self.ranker, &scaled, device)
    }

    /// Scores a few queries at a time: filled up with zeros, all at once could take much more memory than the data.
    fn score_in_parts(&self, data: &Dataset, device: &Device) -> Result<Vec<f32>> {
        let (width, offsets) = (self.info.ranker.features, data.offsets());
        let mut scores = Vec::with_capacity(data.n_documents());
        let mut start = 0;
        while start < data.n_queries() {
            let fits = |end: &usize| (offsets[end + 1] - offsets[start]).saturating_mul(width) <= AT_ONCE;
            let end = (start + 1..data.n_queries()).take_while(fits).last().unwrap_or(start) + 1;
            let part = data.select(&(start..end).collect::<Vec<_>>());
            scores.extend(self.score(&part, device)?);
            start = end;
        }
        Ok(scores)
    }

    /// Writes the folder, over a model that is there: at any moment the name has the old model or the whole new one.
    ///
    /// # Errors
    /// When the folder cannot be written, something is there that is not a model, or numbers of this model are not finite.
    pub fn save(&self, folder: &Path, history: &[EpochRecord]) -> Result<()> {
        self.save_to(&ModelPlace::claim(folder)?, history)
    }

    /// The same for a place that has been claimed before.
    ///
    /// # Errors
    /// Those of [`Model::save`].
    pub fn save_to(&self, place: &ModelPlace, history: &[EpochRecord]) -> Result<()> {
        let target = place.folder();
        occupant(target)?;
        self.check_finite()?;
        let record = ranker_to_bytes(&self.ranker)?;
        let mut info = self.info.clone();
        (info.format, info.burnrank, info.burn) = (FORMAT, env!("CARGO_PKG_VERSION").into(), BURN.into());
        // JSON has no word for them, and a folder must read back.
        info.metrics.values_mut().for_each(|values| values.retain(|_, value| value.is_finite()));
        info.checksum = checksum::of(&info, &record);
        let json = serde_json::to_string_pretty(&info).map_err(|error| Error::Record(error.to_string()))? + "\n";
        let mut log = String::new();
        for epoch in history {
            log += &serde_json::to_string(epoch).map_err(|error| Error::Record(error.to_string()))?;
            log.push('\n');
        }
        let new = stage(target)?;
        let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        put(new.path().join("model.bpk"), &record)?;
        put(new.path().join("model.json"), json.as_bytes())?;
        put(new.path().join("README.md"), card::text(&name, &info).as_bytes())?;
        if !history.is_empty() {
            put(new.path().join("training.jsonl"), log.as_bytes())?;
        }
        publish(new, target)
    }

    /// A model with such numbers would be refused when it is loaded.
    fn check_finite(&self) -> Result<()> {
        let (center, spread) = self.info.scaler.numbers();
        if !is_finite(&self.ranker) || !center.iter().chain(spread).all(|number| number.is_finite()) {
            let message = "the model has weights or a scaling that are not finite, and was not saved: lower --lr";
            return Err(Error::Record(message.into()));
        }
        Ok(())
    }

    /// Refuses a place where a model must not be written, before the work of making one.
    ///
    /// # Errors
    /// When something is there that is neither a model with only its own files nor an empty folder.
    pub fn check_target(folder: &Path) -> Result<()> {
        occupant(&resolve(folder)?).map(drop)
    }

    /// Reads a folder, and checks all of it.
    ///
    /// # Errors
    /// A folder that is missing, damaged, not a model's, or of a newer version.
    pub fn load(folder: &Path, device: &Device) -> Result<Self> {
        if !folder.exists() {
            recover_for_reading(folder)?;
        }
        let mut tries = 5;
        loop {
            let info = read_info(folder)?;
            match read_weights(folder, &info, device) {
                Ok(ranker) => return Ok(Model { ranker, info }),
                // The folder was replaced after half of it had been read.
                Err(_) if tries > 0 && read_info(folder).is_ok_and(|now| now != info) => tries -= 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The record of a folder, compared with what its `model.json` says before memory is taken for a net of that size.
fn read_weights(folder: &Path, info: &ModelInfo, device: &Device) -> Result<Ranker> {
    let path = folder.join("model.bpk");
    let weights = info.ranker.weight_bytes();
    let length = fs::metadata(&path).map_err(|source| Error::io(&path, "read", source))?.len();
    if length < weights || length > weights.saturating_add(RECORD_EXTRAS) {
        let message = format!(
            "damaged: it has {}, but model.json tells of a {} over {} features, whose weights take {}: restore the folder \
             from a copy, or train again",
            memory::readable(length),
            info.ranker.architecture,
            info.ranker.features,
            memory::readable(weights)
        );
        return Err(wrong(&path, message));
    }
    let record = get(&path, weights.saturating_add(RECORD_EXTRAS))?;
    if checksum::of(info, &record) != info.checksum {
        let message = "damaged: the record, or shape and scaling in model.json, are not as they were written: restore the \
                       folder from a copy, or train again";
        return Err(wrong(&path, message.into()));
    }
    ranker_from_bytes(&info.ranker, record, device).map_err(|error| wrong(&path, error.to_string()))
}

fn put(path: PathBuf, bytes: &[u8]) -> Result<()> {
    let failed = |source| Error::io(&path, "write", source);
    let mut file = fs::File::create(&path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.sync_all().map_err(failed)
}
