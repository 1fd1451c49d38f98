//! What is known about a model: the content of `model.json`.

use crate::data::scale::Scaler;
use crate::data::{Dataset, check_names, default_feature_names};
use crate::error::{Error, Result};
use crate::memory;
use crate::model::{MemberInfo, RankerConfig, RunInfo};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::Path;

/// The version of the folder's format, which docs/model-folder.md describes.
pub(super) const FORMAT: u32 = 1;

/// The version of Burn that records are written with.
pub(super) const BURN: &str = "0.22.1";

/// The most bytes that one JSON value takes while a file is read, with the room that growing lists have to spare.
const VALUE: u64 = 256;

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
    /// The epoch that the weights are from; the last one of any member where the model is the average of several.
    pub best_epoch: usize,
    /// The training run that it is from, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunInfo>,
    /// The models that it is the average of; none where it is but one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberInfo>,
    /// The checksum of all that decides scores: format, shape, scaler and the record's bytes.
    pub checksum: String,
    /// What is done to features before the net sees them.
    pub scaler: Scaler,
    /// What the features are called, one after the other; empty where nobody named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feature_names: Vec<String>,
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
            run: None,
            members: Vec::new(),
            checksum: String::new(),
            scaler,
            feature_names: Vec::new(),
        }
    }

    /// What the features are called: `f1`, `f2`, ... where nobody named them.
    pub fn names_of_features(&self) -> Vec<String> {
        match self.feature_names.is_empty() {
            true => default_feature_names(1, self.ranker.features),
            false => self.feature_names.clone(),
        }
    }

    /// The data with the features that the model takes: by name where both have names, else by place; where data is sparse, zeros
    /// are added.
    ///
    /// # Errors
    /// When features are missing or too many, or are called otherwise.
    pub fn fit(&self, data: Dataset) -> Result<Dataset> {
        let Some(names) = data.feature_names() else { return data.fit_width(self.ranker.features) };
        let expected = self.names_of_features();
        let unnamed = [0, 1].map(|first| default_feature_names(first, self.ranker.features)).contains(&expected);
        let known: HashSet<&String> = expected.iter().collect();
        if unnamed && !names.iter().all(|name| known.contains(name)) {
            return data.without_feature_names().fit_width(self.ranker.features);
        }
        data.arranged(&expected)
    }
}

/// The content of a folder's `model.json`, which must be a model's of this format.
pub(super) fn read_info(folder: &Path) -> Result<ModelInfo> {
    let path = folder.join("model.json");
    let json = get(&path, u64::MAX).map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            wrong(folder, "not a model folder: it has no model.json (training writes one)".into())
        }
        other => other,
    })?;
    // What a file of many small values takes once it is read; a count of the marks between them tells how many at most.
    let values = json.iter().filter(|byte| b",:[{".contains(byte)).count() as u64;
    memory::ask(values.saturating_mul(VALUE), &format!("reading {}", path.display()), "")?;
    let damaged = |error: serde_json::Error| wrong(&path, format!("damaged or not a model's: {error}"));
    // The version first: a newer format may differ in everything else.
    let value: serde_json::Value = serde_json::from_slice(&json).map_err(damaged)?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            let message = format!("format {format}, and this burnrank reads format {FORMAT}: update burnrank");
            return Err(wrong(&path, message));
        }
        None => return Err(wrong(&path, "not a model's: it states no format".into())),
    }
    let info: ModelInfo = serde_json::from_value(value).map_err(damaged)?;
    info.ranker.check().map_err(|error| wrong(&path, format!("damaged: {error}")))?;
    if info.scaler.n_features() != info.ranker.features {
        let message = format!("{} features scaled, {} scored", info.scaler.n_features(), info.ranker.features);
        return Err(wrong(&path, message));
    }
    if ![0, info.ranker.features].contains(&info.feature_names.len()) {
        let message = format!("damaged: {} names of {} features", info.feature_names.len(), info.ranker.features);
        return Err(wrong(&path, message));
    }
    check_names(&info.feature_names).map_err(|problem| wrong(&path, format!("damaged: {problem}")))?;
    Ok(info)
}

/// The bytes of a file of at most `most` bytes.
pub(super) fn get(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::io(path, "read", source);
    // Asked before it is opened: a pipe would wait for a writer.
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(wrong(path, "not a file".into()));
    }
    memory::ask(metadata.len().saturating_mul(2), &format!("reading {}", path.display()), "")?;
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

pub(super) fn wrong(path: &Path, message: String) -> Error {
    Error::Model { path: path.to_path_buf(), message }
}
