//! Export of trained models to the formats of search engines and other programs, one file per format.
//!
//! Exported models score unscaled features. An affine scaling is folded into the first layer of a net, in f64 and
//! rounded once, if that loses no precision. Thresholds of trees are converted exactly to unscaled features for every
//! scaling of single documents. Other scalings are written as nodes, normalisers or code. If a format does not support
//! a model, the error says what to train instead. The [`Capability`] in the row of a format says what it supports.
//!
//! A missing feature is NaN. Trees handle it as in the model; nets and kernels replace it as in training, if the training data had
//! missing values, and formats that cannot do this refuse the model.
//!
//! ```
//! use burnrank::export::{Format, Request};
//! use burnrank::model::{Branch, Child, Forest, Rule, Tree, WhenMissing};
//!
//! let rule = Rule::AtMost { threshold: 0.5, missing: WhenMissing::NanIsZero };
//! let stump = Branch { feature: 1, rule, left: Child::Leaf(0), right: Child::Leaf(1) };
//! let forest = Forest::from_trees(2, vec![Tree::new(vec![stump], vec![-1.0, 1.0])?])?;
//! let model = forest.into_model("by hand")?;
//! let written = Format::of("json")?.export(&Request::new(&model, "stump"))?;
//! assert!(String::from_utf8_lossy(&written.bytes).contains(r#""threshold": 0.5"#));
//! # Ok::<(), burnrank::Error>(())
//! ```

mod c;
mod derived;
mod elasticsearch;
mod json;
mod lightgbm;
mod net;
mod numbers;
mod onnx;
mod plain;
mod rust;
mod safetensors;
mod scaling;
mod solr;
mod vespa;

use crate::error::{Error, Result};
use crate::model::{Architecture, Capability, ExportTarget, Model, Unsupported};
use crate::name::unknown;
use std::fmt;
use std::str::FromStr;

/// All export formats.
pub const FORMATS: &[Format] = &[
    Format {
        name: "onnx",
        help: "graph for ONNX Runtime: nets, trees, kernels, any scaling",
        capability: ExportTarget::Onnx.capability(),
        write: onnx::write,
    },
    Format {
        name: "solr",
        help: "Apache Solr learning to rank: linear, nets, trees",
        capability: ExportTarget::Solr.capability(),
        write: solr::write,
    },
    Format {
        name: "elasticsearch",
        help: "learning to rank plugin of Elasticsearch: linear, nets, trees",
        capability: ExportTarget::Elasticsearch.capability(),
        write: elasticsearch::write,
    },
    Format {
        name: "opensearch",
        help: "learning to rank plugin of OpenSearch: the same file as for Elasticsearch",
        capability: ExportTarget::OpenSearch.capability(),
        write: elasticsearch::write,
    },
    Format {
        name: "vespa",
        help: "Vespa rank profile; nets as a separate ONNX file",
        capability: ExportTarget::Vespa.capability(),
        write: vespa::write,
    },
    Format {
        name: "lightgbm",
        help: "LightGBM's text format: trees",
        capability: Capability::TREES,
        write: lightgbm::write,
    },
    Format {
        name: "json",
        help: "plain JSON with all weights and the scaling",
        capability: Capability::ANY,
        write: json::write,
    },
    Format {
        name: "safetensors",
        help: "weights and scaling as tensors, for Python and others",
        capability: Capability::ANY,
        write: safetensors::write,
    },
    Format {
        name: "rust",
        help: "Rust source file that scores documents, without dependencies",
        capability: ExportTarget::Rust.capability(),
        write: rust::write,
    },
    Format {
        name: "c",
        help: "C99 source file that scores documents",
        capability: ExportTarget::C.capability(),
        write: c::write,
    },
];

/// An export format.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Name, such as `onnx`.
    pub name: &'static str,
    /// Short description.
    pub help: &'static str,
    /// What it supports.
    pub capability: Capability,
    write: fn(&Request<'_>) -> Result<Exported>,
}

/// A model to export, with names for it and its features.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The model.
    pub model: &'a Model,
    /// Name of the model in the file: letters, digits, `_` and `-`.
    pub name: String,
    /// One name per feature.
    pub feature_names: Vec<String>,
}

/// An exported model.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The file.
    pub bytes: Vec<u8>,
    /// A second file that belongs to it: the suffix of its name, such as `.features.json`, and its bytes.
    pub beside: Option<(&'static str, Vec<u8>)>,
    /// Note for users of the file; may be empty.
    pub note: String,
}

impl Format {
    /// Returns the format with this name.
    ///
    /// # Errors
    /// If the name is unknown, with a suggestion or the list of formats.
    pub fn of(name: &str) -> Result<Format> {
        let lowercase = name.trim().to_ascii_lowercase();
        if let Some(format) = FORMATS.iter().find(|format| format.name == lowercase) {
            return Ok(*format);
        }
        Err(unknown("format", name, FORMATS.iter().map(|format| format.name)))
    }

    /// Exports a model to memory.
    ///
    /// # Errors
    /// If the format does not support the model, with what to train instead, or the number of feature names is wrong.
    pub fn export(&self, request: &Request<'_>) -> Result<Exported> {
        let (names, features) = (request.feature_names.len(), request.model.info.n_features());
        if names != features {
            return Err(Error::Mismatch(format!("{names} names for {features} features")));
        }
        let info = &request.model.info;
        let supported = self.capability.check(&info.ranker.architecture, info.scaler.kind());
        supported.map_err(|reason| self.refused(request, reason))?;
        if info.ranker.skip && !self.capability.skip {
            return Err(self.refused(request, Unsupported::Skip));
        }
        (self.write)(request)
    }

    /// The error for a model that the format does not support: what it does not support, and what to train instead.
    fn refused(&self, request: &Request<'_>, reason: Unsupported) -> Error {
        let info = &request.model.info;
        let (architecture, kind, name) = (&info.ranker.architecture, info.scaler.kind(), self.name);
        let (what, remedy) = match (reason, architecture) {
            (Unsupported::Architecture, Architecture::Kernel { .. }) if self.capability.nets.is_some() => (
                "a sum of kernels".to_owned(),
                "train with `model` mlp or trees, or export to onnx, json, safetensors, rust or c",
            ),
            (Unsupported::Architecture, _) => {
                (format!("a {architecture}"), "it contains only trees: train with `model` trees, or export to onnx")
            }
            (Unsupported::Skip, _) => (
                "a net with a skip connection".to_owned(),
                "its nets have layers only: train with `skip` none, or export to onnx, json, safetensors, rust or c",
            ),
            (Unsupported::Encoding, _) => (
                format!("a net that encodes features ({kind})"),
                "its nets read one number per feature: train with `scale` quantile, or export to onnx, json, safetensors, rust or c",
            ),
            (Unsupported::WithinQuery, _) => (
                format!("features scaled within each query ({kind})"),
                "it scores one document at a time: train with `scale` quantile, or export to onnx, rust or c",
            ),
            (Unsupported::Activation(activation), _) => (
                format!("a net with {activation} units"),
                "RankLib's units are logistic: train with `activation` tanh or sigmoid",
            ),
        };
        let target = match name.parse::<ExportTarget>() {
            Ok(target) => format!("; training with `for` {target} selects only what {target} supports"),
            Err(_) => String::new(),
        };
        Error::Mismatch(format!("{name} does not support {what}: {remedy}{target}"))
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Format::of(name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<'a> Request<'a> {
    /// Creates a request with the model's feature names. Characters of `name` other than letters, digits and `-` become
    /// `_`.
    pub fn new(model: &'a Model, name: &str) -> Self {
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = name.chars().map(letter).collect();
        let name = if name.is_empty() { "burnrank".to_owned() } else { name };
        Request { model, name, feature_names: model.info.names_of_features() }
    }

    /// A one-line description of the model for comments.
    fn title(&self) -> String {
        let info = &self.model.info;
        let features = info.n_features();
        format!("{}: {} over {features} features, scaling {}", self.name, info.ranker.architecture, info.scaler.kind())
    }

    /// The error for a model that the format's [`Capability`] excludes. [`Format::export`] has refused it already.
    fn unsupported(&self) -> Error {
        Error::Mismatch(format!("this format does not support the model {}", self.title()))
    }
}

impl Exported {
    /// An export without a second file.
    fn alone(bytes: impl Into<Vec<u8>>) -> Self {
        Exported { bytes: bytes.into(), beside: None, note: String::new() }
    }
}
