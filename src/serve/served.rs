//! The served model and its description.

use crate::device;
use crate::error::Result;
use crate::model::{Model, ServingScorer};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A loaded model.
#[derive(Debug)]
pub(super) struct ServedModel {
    pub scorer: ServingScorer,
    pub checksum: String,
    pub architecture: String,
    /// Time of loading, in seconds since 1970.
    pub loaded: f64,
    /// The response to `GET /model`.
    pub description: Value,
}

impl ServedModel {
    pub fn load(folder: &Path) -> Result<Self> {
        let model = Model::load(folder, &device::open("auto")?)?;
        let scorer = model.serving()?;
        let loaded = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        let info = &model.info;
        Ok(ServedModel {
            scorer,
            checksum: info.checksum.clone(),
            architecture: info.ranker.architecture.to_string(),
            loaded,
            description: describe(&model, loaded),
        })
    }
}

fn describe(model: &Model, loaded: f64) -> Value {
    let info = &model.info;
    json!({
        "model": info.checksum,
        "architecture": info.ranker.architecture.to_string(),
        "features": info.n_features(),
        "feature_names": info.names_of_features(),
        "scaling": info.scaler.kind().name(),
        "serving": info.scaler.kind().serving(),
        "objective": info.objective,
        "metrics": info.metrics,
        "written_by": format!("burnrank {}", info.burnrank),
        "served_by": format!("burnrank {}", env!("CARGO_PKG_VERSION")),
        "loaded": loaded,
        "warnings": model.warnings(),
    })
}
