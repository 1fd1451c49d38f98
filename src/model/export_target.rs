//! What export formats support, and the targets that training can be restricted to.
//!
//! Exports refuse what a [`Capability`] lacks, and training for an [`ExportTarget`] selects only from what it has.

use super::{Activation, Architecture};
use crate::data::ScaleKind;
use crate::name::words;

/// Scalings that a format supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalings {
    /// Those with one input per feature that do not depend on the other documents of the query.
    OneInput,
    /// All that do not depend on the other documents of the query.
    PerDocument,
    /// All.
    Any,
}

impl Scalings {
    /// Whether a scaling is one of them.
    pub fn has(self, kind: ScaleKind) -> bool {
        match self {
            Scalings::OneInput => !kind.is_per_query() && kind != ScaleKind::Piecewise,
            Scalings::PerDocument => !kind.is_per_query(),
            Scalings::Any => true,
        }
    }
}

/// What an export format supports.
///
/// ```
/// use burnrank::model::{Capability, ExportTarget};
/// use burnrank::{Architecture, ScaleKind};
/// let solr: Capability = ExportTarget::Solr.capability();
/// assert!(solr.check(&Architecture::Linear, ScaleKind::Quantile).is_ok());
/// assert!(solr.check(&Architecture::Linear, ScaleKind::QueryZScore).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capability {
    /// Scalings of nets; `None` if the format has no nets.
    pub nets: Option<Scalings>,
    /// Scalings of trees.
    pub trees: Option<Scalings>,
    /// Scalings of kernel sums; `None` if the format has no kernels.
    pub kernels: Option<Scalings>,
    /// Whether nets can have a skip connection.
    pub skip: bool,
    /// Activation functions of hidden units.
    pub activations: &'static [Activation],
    /// Maximum number of branches from the root of a tree to a leaf; `None` for no limit.
    pub levels: Option<usize>,
}

/// Why a format does not support a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupported {
    /// It has no nets with a skip connection.
    Skip,
    /// It has no models of this architecture.
    Architecture,
    /// It has no nets that encode features.
    Encoding,
    /// It scores documents independently, so it cannot scale features within a query.
    WithinQuery,
    /// It does not have this activation function.
    Activation(Activation),
}

/// Maximum number of branches from the root of a tree to a leaf in formats with nested branches, which have two brackets per
/// level: JSON parsers fail at a depth of a thousand brackets.
pub(crate) const NESTED_LEVELS: usize = 400;

impl Capability {
    /// Everything.
    pub const ANY: Capability = Capability {
        nets: Some(Scalings::Any),
        trees: Some(Scalings::Any),
        kernels: Some(Scalings::Any),
        skip: true,
        activations: &Activation::ALL,
        levels: None,
    };

    /// Trees only, as in LightGBM's text format.
    pub const TREES: Capability =
        Capability { nets: None, trees: Some(Scalings::PerDocument), kernels: None, ..Capability::ANY };

    /// Search engines with formulas or normalisers of features, and nested trees.
    const ENGINE: Capability = Capability {
        nets: Some(Scalings::OneInput),
        trees: Some(Scalings::PerDocument),
        kernels: None,
        skip: false,
        levels: Some(NESTED_LEVELS),
        ..Capability::ANY
    };

    /// Returns the scalings of models of an architecture; `None` if the format has no such models.
    pub fn scalings(&self, architecture: &Architecture) -> Option<Scalings> {
        match architecture {
            Architecture::Linear | Architecture::Mlp { .. } => self.nets,
            Architecture::Trees { .. } => self.trees,
            Architecture::Kernel { .. } => self.kernels,
        }
    }

    /// Checks architecture, scaling and activation function. The depth of trees is unknown before training.
    ///
    /// # Errors
    /// The first of them that the format does not support.
    pub fn check(&self, architecture: &Architecture, scaling: ScaleKind) -> Result<(), Unsupported> {
        let scalings = self.scalings(architecture).ok_or(Unsupported::Architecture)?;
        if !scalings.has(scaling) {
            return Err(if scaling.is_per_query() { Unsupported::WithinQuery } else { Unsupported::Encoding });
        }
        match architecture.activation().filter(|activation| !self.activations.contains(activation)) {
            Some(activation) => Err(Unsupported::Activation(activation)),
            None => Ok(()),
        }
    }
}

words! {
    /// Where a model will be used. Training is restricted to what the export format of the same name supports.
    #[derive(Default)]
    pub enum ExportTarget: "target" {
        /// No restriction.
        #[default]
        Any = "any",
        /// Apache Solr learning to rank.
        Solr = "solr",
        /// Learning to rank plugin of Elasticsearch.
        Elasticsearch = "elasticsearch",
        /// Learning to rank plugin of OpenSearch.
        OpenSearch = "opensearch",
        /// Vespa rank profile.
        Vespa = "vespa",
        /// ONNX Runtime.
        Onnx = "onnx",
        /// C source.
        C = "c",
        /// Rust source.
        Rust = "rust",
    }
}

impl ExportTarget {
    /// Returns what the export format of this target supports.
    pub const fn capability(self) -> Capability {
        match self {
            ExportTarget::Solr => Capability::ENGINE,
            // RankLib's units are logistic, which includes tanh.
            ExportTarget::Elasticsearch | ExportTarget::OpenSearch => {
                Capability { activations: &[Activation::Sigmoid, Activation::Tanh], ..Capability::ENGINE }
            }
            ExportTarget::Vespa => Capability {
                nets: Some(Scalings::PerDocument),
                kernels: Some(Scalings::PerDocument),
                skip: true,
                ..Capability::ENGINE
            },
            ExportTarget::Any | ExportTarget::Onnx | ExportTarget::C | ExportTarget::Rust => Capability::ANY,
        }
    }
}
