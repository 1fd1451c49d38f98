//! What leaves: a trained model in the formats of search engines and of other programs, one file per format.
//!
//! Every format scores raw features. A scaling that is affine is folded into the first layer of a net, in f64 and rounded
//! once, where that costs no digits; the thresholds of trees are moved to where raw features cross them, exactly, whatever the
//! scaling of single documents; what is left is written as nodes, normalisers or code. Where a format cannot hold a model, the
//! error says so, and what to train instead.
//!
//! Features are finite numbers; where a format has NaN, trees send it where they always do.
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
use crate::model::{Model, Scorer};
use crate::name::unknown;
use std::fmt;
use std::str::FromStr;

/// All formats, one row each.
pub const FORMATS: &[Format] = &[
    Format { name: "onnx", help: "a graph for ONNX Runtime: nets, trees, kernels, any scaling", write: onnx::write },
    Format { name: "solr", help: "Apache Solr's learning to rank: linear, nets, trees", write: solr::write },
    Format {
        name: "elasticsearch",
        help: "the Elasticsearch and OpenSearch plugin: linear, nets, trees",
        write: elasticsearch::write,
    },
    Format { name: "vespa", help: "a rank profile of Vespa; nets beside it as ONNX", write: vespa::write },
    Format { name: "lightgbm", help: "trees as LightGBM's text", write: lightgbm::write },
    Format { name: "json", help: "plain JSON: all weights and the scaling, for any reader", write: json::write },
    Format {
        name: "safetensors",
        help: "weights and scaling as tensors, for Python and others",
        write: safetensors::write,
    },
    Format { name: "rust", help: "a Rust source file without dependencies that scores", write: rust::write },
    Format { name: "c", help: "a C99 source file that scores", write: c::write },
];

/// A format that models can be exported to.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name, as in `onnx`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    write: fn(&Request<'_>) -> Result<Exported>,
}

/// A model to export, and how it and its features are called.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its name, where the format has one: letters, digits, `_` and `-`.
    pub name: String,
    /// One name per feature.
    pub feature_names: Vec<String>,
}

/// What a format made of a model.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The file.
    pub bytes: Vec<u8>,
    /// A file that belongs to it: what follows the name of the first one, as in `.features.json`, and its bytes.
    pub beside: Option<(&'static str, Vec<u8>)>,
    /// What whoever uses the file must know, as a sentence; may be empty.
    pub note: String,
}

impl Format {
    /// The format of this name.
    ///
    /// # Errors
    /// When there is none, with the one that was likely meant, or all of them.
    pub fn of(name: &str) -> Result<Format> {
        let wanted = name.trim().to_ascii_lowercase();
        if let Some(format) = FORMATS.iter().find(|format| format.name == wanted) {
            return Ok(*format);
        }
        Err(unknown("format", name, FORMATS.iter().map(|format| format.name)))
    }

    /// Writes a model in this format, to memory.
    ///
    /// # Errors
    /// When the format cannot hold the model, with what to train instead; when there is not one name per feature.
    pub fn export(&self, request: &Request<'_>) -> Result<Exported> {
        let (names, features) = (request.feature_names.len(), request.model.info.ranker.features);
        if names != features {
            return Err(Error::Mismatch(format!("{names} names for {features} features")));
        }
        (self.write)(request)
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
    /// A model under this name, with the names that it has for its features. What is neither a letter nor a digit nor `-`
    /// becomes `_`.
    pub fn new(model: &'a Model, name: &str) -> Self {
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = name.chars().map(letter).collect();
        let name = if name.is_empty() { "burnrank".to_owned() } else { name };
        Request { model, name, feature_names: model.info.names_of_features() }
    }

    /// What the model is, in a line for comments.
    fn title(&self) -> String {
        let info = &self.model.info;
        let features = info.ranker.features;
        format!("{}: {} over {features} features, scaling {}", self.name, info.ranker.architecture, info.scaler.kind())
    }

    /// The error of a model that a format cannot hold.
    fn refused(&self, format: &str, what: &str, remedy: &str) -> Error {
        Error::Mismatch(format!("{format} cannot hold {what}: {remedy}"))
    }

    /// Refuses scaling within queries, for engines that score one document at a time.
    fn check_per_document(&self, format: &str) -> Result<()> {
        let scaler = &self.model.info.scaler;
        if !scaler.is_per_query() {
            return Ok(());
        }
        let kind = scaler.kind();
        let remedy = "it scores one document at a time: train with `scale` zscore, or export to onnx, rust or c";
        Err(self.refused(format, &format!("features scaled within each query ({kind})"), remedy))
    }

    /// Refuses a sum of kernels.
    fn check_no_kernel(&self, format: &str) -> Result<()> {
        match self.model.scorer {
            Scorer::Net(_) | Scorer::Trees(_) => Ok(()),
            Scorer::Kernel(_) => {
                let remedy = "train with `model` mlp or trees, or export to onnx, json, safetensors, rust or c";
                Err(self.refused(format, "a sum of kernels", remedy))
            }
        }
    }
}

impl Exported {
    /// A file alone.
    fn alone(bytes: impl Into<Vec<u8>>) -> Self {
        Exported { bytes: bytes.into(), beside: None, note: String::new() }
    }
}
