//! Model metadata: the contents of `model.json`.

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

/// Version of the folder format, described in docs/model-folder.md.
pub(super) const FORMAT: u32 = 1;

/// Version of Burn that writes records.
pub(super) const BURN: &str = "0.22.1";

/// Maximum bytes per JSON value while a file is read, including the spare capacity of growing lists.
const VALUE: u64 = 256;

/// The contents of `model.json`: everything about a model except its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Version of the folder format.
    pub format: u32,
    /// Version of burnrank that wrote the model.
    pub burnrank: String,
    /// Version of Burn that wrote the record.
    pub burn: String,
    /// Number of features and architecture.
    pub ranker: RankerConfig,
    /// Training objective.
    pub objective: String,
    /// All settings of the training run.
    pub settings: serde_json::Value,
    /// Data sets by split.
    pub data: BTreeMap<String, DataInfo>,
    /// Metric values by split and metric.
    pub metrics: BTreeMap<String, BTreeMap<String, f64>>,
    /// Conventions of the metrics, such as the order of ties, as printed in reports.
    pub conventions: String,
    /// Epoch of the weights; for an ensemble, the last of its members' best epochs.
    pub best_epoch: usize,
    /// The training run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunInfo>,
    /// Members of an ensemble; empty for a single model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberInfo>,
    /// Checksum of everything that determines scores: format, shape, scaling and weights.
    pub checksum: String,
    /// Feature scaling.
    pub scaler: Scaler,
    /// Whether features that LETOR files leave out were missing in the training data, rather than 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sparse_missing: bool,
    /// Feature names in column order; empty if the data has no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feature_names: Vec<String>,
}

/// A data set that a model was trained or evaluated on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataInfo {
    /// Source, usually a file.
    pub source: String,
    /// Number of queries.
    pub queries: usize,
    /// Number of documents.
    pub documents: usize,
    /// Hash of all labels and features.
    pub fingerprint: String,
    /// The file, if the data set is a part of it, such as the queries held out for validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl DataInfo {
    /// Describes a data set as it was before scaling.
    pub fn of(source: impl Into<String>, data: &Dataset) -> Self {
        DataInfo {
            source: source.into(),
            queries: data.n_queries(),
            documents: data.n_documents(),
            fingerprint: format!("{:016x}", data.fingerprint()),
            file: None,
        }
    }
}

impl ModelInfo {
    /// Creates metadata with only shape, scaling and objective.
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
            sparse_missing: false,
            feature_names: Vec::new(),
        }
    }

    /// Number of features of a document. The scorer has more inputs if the scaling adds some, and fewer if a categorical feature
    /// has no level.
    pub fn n_features(&self) -> usize {
        self.scaler.n_features()
    }

    /// The feature names, by default `f1`, `f2`, ...
    pub fn names_of_features(&self) -> Vec<String> {
        match self.feature_names.is_empty() {
            true => default_feature_names(1, self.n_features()),
            false => self.feature_names.clone(),
        }
    }

    /// Arranges data in the model's features: by name if both have names, else by position. Sparse data is padded with
    /// zeros, or with missing values.
    ///
    /// # Errors
    /// If features are missing, too many, or have other names; if features that the data leaves out are 0, but were
    /// missing in the training data, or the other way round.
    pub fn fit(&self, data: Dataset) -> Result<Dataset> {
        if data.is_sparse() && data.is_sparse_missing() != self.sparse_missing {
            let (trained, remedy) = if self.sparse_missing { ("missing", "with") } else { ("0", "without") };
            return Err(Error::Mismatch(format!(
                "features that files leave out were {trained} in the training data of the model: read this data {remedy} \
                 `sparse_missing`"
            )));
        }
        let Some(names) = data.feature_names() else { return data.fit_width(self.n_features()) };
        let expected = self.names_of_features();
        let unnamed = [0, 1].map(|first| default_feature_names(first, self.n_features())).contains(&expected);
        let defaults: HashSet<&String> = expected.iter().collect();
        if unnamed && !names.iter().all(|name| defaults.contains(name)) {
            return data.without_feature_names().fit_width(self.n_features());
        }
        data.arranged(&expected)
    }
}

/// Reads and checks a folder's `model.json`.
pub(super) fn read_info(folder: &Path) -> Result<ModelInfo> {
    let path = folder.join("model.json");
    let json = get(&path, u64::MAX).map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            wrong(folder, "not a model folder: it has no model.json (training writes one)".into())
        }
        other => other,
    })?;
    // Parsed values take more memory than their text; the separators bound their number.
    let values = json.iter().filter(|byte| b",:[{".contains(byte)).count() as u64;
    memory::ask(values.saturating_mul(VALUE), &format!("reading {}", path.display()), "")?;
    let damaged =
        |error: serde_json::Error| wrong(&path, format!("damaged, or not the model.json of a model: {error}"));
    // Check the version first: a newer format can differ in everything else.
    let value: serde_json::Value = serde_json::from_slice(&json).map_err(damaged)?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            let message = format!("format {format}, but this burnrank reads format {FORMAT}: update burnrank");
            return Err(wrong(&path, message));
        }
        None => return Err(wrong(&path, "not the model.json of a model: `format` is missing".into())),
    }
    let mut info: ModelInfo = serde_json::from_value(value).map_err(damaged)?;
    info.ranker = info.ranker.encoded(&info.scaler);
    info.ranker.check().map_err(|error| wrong(&path, format!("damaged: {error}")))?;
    if info.scaler.n_inputs() != info.ranker.features {
        let (scaled, scored) = (info.scaler.n_inputs(), info.ranker.features);
        let message = format!("damaged: the scaling gives {scaled} inputs, the model has {scored}");
        return Err(wrong(&path, message));
    }
    if ![0, info.n_features()].contains(&info.feature_names.len()) {
        let message = format!("damaged: {} names for {} features", info.feature_names.len(), info.n_features());
        return Err(wrong(&path, message));
    }
    check_names(&info.feature_names).map_err(|problem| wrong(&path, format!("damaged: {problem}")))?;
    Ok(info)
}

/// Reads at most `max_bytes` bytes of a file.
pub(super) fn get(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::io(path, "read", source);
    // Checked before opening: opening a pipe would wait for a writer.
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(wrong(path, "not a file".into()));
    }
    memory::ask(metadata.len().saturating_mul(2), &format!("reading {}", path.display()), "")?;
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(failed)?.take(max_bytes).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

pub(super) fn wrong(path: &Path, message: String) -> Error {
    Error::Model { path: path.to_path_buf(), message }
}
