//! Scorers, which turn scaled features into scores.

use super::record::{is_finite, ranker_from_bytes, ranker_to_bytes};
use super::score::score_rows;
use super::{Architecture, Forest, KernelRanker, Ranker, RankerConfig};
use crate::data::Dataset;
use crate::error::{Error, Result};
use burn::module::Module;
use burn::tensor::Device;
use std::sync::Arc;

/// Maximum number of feature values of a mapped file that are scored at a time.
const MAX_COPIED_VALUES: usize = 1 << 22;

/// Approximate cost of evaluating a tree, in multiplications.
const TREE_COST: usize = 16;

/// Scores documents: a net, trees or a sum of kernels.
#[derive(Debug, Clone)]
pub enum Scorer {
    /// A net, as a Burn module.
    Net(Ranker),
    /// Decision trees.
    Trees(Arc<Forest>),
    /// A sum of kernels.
    Kernel(KernelRanker),
}

impl Scorer {
    /// Architecture and number of features.
    pub fn config(&self) -> RankerConfig {
        match self {
            Scorer::Net(ranker) => ranker.config(),
            Scorer::Trees(forest) => {
                let leaves = forest.trees().iter().map(|tree| tree.leaves().len()).max().unwrap_or(0);
                RankerConfig::new(forest.n_features(), Architecture::Trees { trees: forest.n_trees(), leaves })
            }
            Scorer::Kernel(ranker) => ranker.config(),
        }
    }

    /// The net, or `None` for other scorers.
    pub fn net(&self) -> Option<&Ranker> {
        match self {
            Scorer::Net(ranker) => Some(ranker),
            Scorer::Trees(_) | Scorer::Kernel(_) => None,
        }
    }

    /// Scores rows of `width` scaled features.
    ///
    /// # Errors
    /// If `width` is not the scorer's number of features, or the device fails.
    pub fn score_rows(&self, features: &[f32], width: usize) -> Result<Vec<f32>> {
        match self {
            Scorer::Net(ranker) => {
                let device = ranker.devices().into_iter().next();
                let device = device.ok_or_else(|| Error::Device("the ranker has no weights on any device".into()))?;
                score_rows(ranker, features, width, &device)
            }
            Scorer::Trees(forest) => {
                let mut scores = vec![0.0; features.len() / width.max(1)];
                forest.score_rows(features, width, &mut scores)?;
                Ok(scores.into_iter().map(|score| score as f32).collect())
            }
            Scorer::Kernel(ranker) => ranker.score_rows(features, width),
        }
    }

    /// Scores all documents of a scaled data set; a mapped file is read in parts.
    pub(crate) fn score(&self, data: &Dataset) -> Result<Vec<f32>> {
        if !data.is_mapped() {
            return self.score_rows(data.features(), data.n_features());
        }
        let mut scores = Vec::with_capacity(data.n_documents());
        data.for_rows(MAX_COPIED_VALUES, |_, rows| {
            scores.extend(self.score_rows(rows, data.n_features())?);
            Ok(())
        })?;
        Ok(scores)
    }

    /// Approximate number of multiplications per document.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Scorer::Net(ranker) => ranker.num_params(),
            Scorer::Trees(forest) => forest.n_trees().saturating_mul(TREE_COST),
            Scorer::Kernel(ranker) => ranker.points().len(),
        }
    }

    /// Whether all weights are finite.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Scorer::Net(ranker) => is_finite(ranker),
            // Trees with other values are refused when they are read or built.
            Scorer::Trees(_) => true,
            Scorer::Kernel(ranker) => ranker.is_finite(),
        }
    }

    /// Name of the file that stores a scorer of this architecture.
    pub(crate) fn file(architecture: &Architecture) -> &'static str {
        match architecture {
            Architecture::Linear | Architecture::Mlp { .. } => "model.bpk",
            Architecture::Trees { .. } => "model.txt",
            Architecture::Kernel { .. } => "kernel.json",
        }
    }

    /// The contents of its file.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        match self {
            Scorer::Net(ranker) => ranker_to_bytes(ranker),
            Scorer::Trees(forest) => Ok(forest.to_text().into_bytes()),
            Scorer::Kernel(ranker) => ranker.to_bytes(),
        }
    }

    /// Parses the contents of the file of a scorer of this shape.
    pub(crate) fn from_bytes(shape: &RankerConfig, bytes: Vec<u8>, device: &Device) -> Result<Self> {
        let scorer = match &shape.architecture {
            Architecture::Linear | Architecture::Mlp { .. } => Scorer::Net(ranker_from_bytes(shape, bytes, device)?),
            Architecture::Trees { .. } => {
                let text = String::from_utf8(bytes).map_err(|_| Error::Record("damaged: it is not text".into()))?;
                Scorer::Trees(Arc::new(Forest::parse(&text)?))
            }
            Architecture::Kernel { .. } => Scorer::Kernel(KernelRanker::from_bytes(shape, &bytes)?),
        };
        if scorer.config() != *shape {
            return Err(Error::Record(format!("damaged: found {}", scorer.config().architecture)));
        }
        Ok(scorer)
    }
}
