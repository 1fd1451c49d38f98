//! The value of `--model`.

use burnrank::Error;
use burnrank::setting::{ModelChoice, ModelKind, models};
use std::str::FromStr;

/// The value of `--model`: a model, or `auto` for model selection.
#[derive(Debug, Clone)]
pub enum ModelArg {
    Auto,
    Named(ModelChoice),
}

impl FromStr for ModelArg {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let name = text.trim().to_ascii_lowercase();
        if name == "auto" {
            return Ok(ModelArg::Auto);
        }
        let kind = name.split(':').next().unwrap_or_default();
        if models().all(|model| model.name != kind) {
            return Err(ModelKind::unknown(kind, &["auto"]));
        }
        text.parse().map(ModelArg::Named)
    }
}
