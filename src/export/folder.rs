//! The model on disk: a folder of `model.bpk`, `model.json` and a model card.

use super::card;
use super::record::{ranker_from_bytes, ranker_to_bytes};
use crate::data::Dataset;
use crate::data::scale::Scaler;
use crate::error::{Error, Result};
use crate::hash::Hasher;
use crate::model::{Ranker, RankerConfig};
use crate::train::{EpochRecord, score};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The version of the folder's format that this crate writes, and the newest that it reads.
const FORMAT: u32 = 1;

/// The version of Burn that records are written with.
const BURN: &str = "0.22.1";

/// What `model.json` says: everything about a model but its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The version of the folder's format.
    pub format: u32,
    /// The version of burnrank that wrote it.
    pub burnrank: String,
    /// The version of Burn that wrote the record.
    pub burn: String,
    /// The shape of the net.
    pub ranker: RankerConfig,
    /// The objective that it was trained with.
    pub objective: String,
    /// All settings of the training run.
    pub settings: serde_json::Value,
    /// What it was trained on.
    pub data: BTreeMap<String, DataInfo>,
    /// What it was judged by: split, then measure.
    pub metrics: BTreeMap<String, BTreeMap<String, f64>>,
    /// Ties, empty queries and the like, as printed in reports.
    pub conventions: String,
    /// The epoch that the weights are from.
    pub best_epoch: usize,
    /// The checksum of the record's bytes.
    pub checksum: String,
    /// What is done to features before the net sees them.
    pub scaler: Scaler,
}

/// One split of the data a model was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataInfo {
    /// Where it came from.
    pub source: String,
    /// The number of queries.
    pub queries: usize,
    /// The number of documents.
    pub documents: usize,
    /// A hash of all labels and features.
    pub fingerprint: String,
}

impl DataInfo {
    /// Describes a data set as it was before scaling.
    pub fn of(source: impl Into<String>, data: &Dataset) -> Self {
        DataInfo {
            source: source.into(),
            queries: data.n_queries(),
            documents: data.n_documents(),
            fingerprint: format!("{:016x}", data.fingerprint()),
        }
    }
}

/// A ranker with all that is needed to use it on raw features.
#[derive(Debug, Clone)]
pub struct Model {
    /// What scores.
    pub ranker: Ranker,
    /// What is known about it.
    pub info: ModelInfo,
}

impl ModelInfo {
    /// A description with nothing known but the shape and the scaler.
    pub fn new(ranker: RankerConfig, scaler: Scaler, objective: impl Into<String>) -> Self {
        ModelInfo {
            format: FORMAT,
            burnrank: env!("CARGO_PKG_VERSION").into(),
            burn: BURN.into(),
            ranker,
            objective: objective.into(),
            settings: serde_json::Value::Null,
            data: BTreeMap::new(),
            metrics: BTreeMap::new(),
            conventions: String::new(),
            best_epoch: 0,
            checksum: String::new(),
            scaler,
        }
    }
}

/// Feature values that are filled up with zeros at once, at most, unless one query has more.
const AT_ONCE: usize = 1 << 26;

impl Model {
    /// Scores every document of a data set with raw features; a data set of fewer features is filled up with zeros.
    ///
    /// # Errors
    /// When the data has more features than the model, or the device fails.
    pub fn score(&self, data: &Dataset, device: &Device) -> Result<Vec<f32>> {
        let expected = self.info.ranker.features;
        if data.n_features() > expected {
            return Err(Error::Mismatch(format!(
                "the data has {} features, the model was trained on {expected}: use the same feature set",
                data.n_features()
            )));
        }
        if data.n_queries() > 1 && data.n_documents().saturating_mul(expected) > AT_ONCE && data.n_features() < expected
        {
            return self.score_in_parts(data, device);
        }
        let mut scaled = if data.n_features() < expected {
            Cow::Owned(data.clone().widened(expected)?)
        } else {
            Cow::Borrowed(data)
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

    /// Writes the folder in one step: at any moment it is the old one, absent, or the whole new one.
    ///
    /// # Errors
    /// When the folder cannot be written, or exists and is not a model's.
    pub fn save(&self, folder: &Path, history: &[EpochRecord]) -> Result<()> {
        Model::check_target(folder)?;
        let record = ranker_to_bytes(&self.ranker)?;
        let mut info = self.info.clone();
        info.checksum = format!("{:016x}", Hasher::of(&record));
        let json = serde_json::to_string_pretty(&info).map_err(|error| Error::Config(error.to_string()))? + "\n";
        let mut log = String::new();
        for epoch in history {
            log += &serde_json::to_string(epoch).map_err(|error| Error::Config(error.to_string()))?;
            log.push('\n');
        }
        let parent = parent(folder);
        fs::create_dir_all(parent).map_err(|source| Error::io(parent, "create", source))?;
        let new = tempfile::Builder::new().prefix(".burnrank-").tempdir_in(parent);
        let new = new.map_err(|source| Error::io(parent, "create a folder in", source))?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        put(new.path().join("model.bpk"), &record)?;
        put(new.path().join("model.json"), json.as_bytes())?;
        put(new.path().join("README.md"), card::text(&name, &info).as_bytes())?;
        if !history.is_empty() {
            put(new.path().join("training.jsonl"), log.as_bytes())?;
        }
        publish(new, folder)
    }

    /// Refuses a place where a model must not be written, before the work of making one.
    ///
    /// # Errors
    /// When something is there that is neither a model nor an empty folder.
    pub fn check_target(folder: &Path) -> Result<()> {
        let wrong = |message: &str| Err(Error::Model { path: folder.to_path_buf(), message: message.to_owned() });
        if folder.file_name().is_none() {
            return wrong("not a name for a model folder");
        }
        match fs::read_dir(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(_) => wrong("exists and is not a folder: choose another --out"),
            Ok(entries) => {
                if entries.count() == 0 || folder.join("model.json").is_file() {
                    return Ok(());
                }
                wrong("exists and is not a model: choose another --out, nothing was overwritten")
            }
        }
    }

    /// Reads a folder, and checks all of it.
    ///
    /// # Errors
    /// A folder that is missing, damaged, not a model's, or of a newer version.
    pub fn load(folder: &Path, device: &Device) -> Result<Self> {
        let path = folder.join("model.json");
        let wrong = |path: &Path, message: String| Error::Model { path: path.to_path_buf(), message };
        let json = fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                wrong(folder, "not a model folder: it has no model.json (burnrank train --out makes one)".into())
            }
            _ => Error::io(&path, "read", error),
        })?;
        let damaged = |error: serde_json::Error| wrong(&path, format!("damaged or not a model's: {error}"));
        // The version first: a newer format may differ in everything else.
        let value: serde_json::Value = serde_json::from_str(&json).map_err(damaged)?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format <= u64::from(FORMAT) => {}
            Some(format) => {
                let message = format!("format {format} is newer than this burnrank reads ({FORMAT}): update burnrank");
                return Err(wrong(&path, message));
            }
            None => return Err(wrong(&path, "not a model's: it states no format".into())),
        }
        let info: ModelInfo = serde_json::from_value(value).map_err(damaged)?;
        if info.scaler.n_features() != info.ranker.features {
            let message = format!("{} features scaled, {} scored", info.scaler.n_features(), info.ranker.features);
            return Err(wrong(&path, message));
        }
        let path = folder.join("model.bpk");
        let record = fs::read(&path).map_err(|source| Error::io(&path, "read", source))?;
        if format!("{:016x}", Hasher::of(&record)) != info.checksum {
            return Err(wrong(&path, "damaged: its bytes are not those that model.json was written with".into()));
        }
        let ranker =
            ranker_from_bytes(&info.ranker, record, device).map_err(|error| wrong(&path, error.to_string()))?;
        Ok(Model { ranker, info })
    }
}

fn parent(folder: &Path) -> &Path {
    folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn put(path: PathBuf, bytes: &[u8]) -> Result<()> {
    let failed = |source| Error::io(&path, "write", source);
    let mut file = fs::File::create(&path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.sync_all().map_err(failed)
}

/// Moves the new folder to its place. A folder cannot be replaced in one step, so the old one steps aside first.
fn publish(new: tempfile::TempDir, folder: &Path) -> Result<()> {
    let failed = |source| Error::io(folder, "write", source);
    let aside = tempfile::Builder::new().prefix(".burnrank-").tempdir_in(parent(folder)).map_err(failed)?;
    let had_old = folder.exists();
    if had_old {
        fs::rename(folder, aside.path().join("old")).map_err(failed)?;
    }
    let new = new.keep();
    fs::rename(&new, folder).map_err(|error| {
        if had_old {
            let _ = fs::rename(aside.path().join("old"), folder);
        }
        let _ = fs::remove_dir_all(&new);
        failed(error)
    })
}
