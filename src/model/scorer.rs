//! What turns scaled features into scores.

use super::record::{is_finite, ranker_from_bytes, ranker_to_bytes};
use super::score::score_rows;
use super::{Architecture, Forest, KernelRanker, Ranker, RankerConfig};
use crate::data::Dataset;
use crate::error::{Error, Result};
use burn::module::Module;
use burn::tensor::Device;
use std::sync::Arc;

/// Feature values of a mapped file that are scored at a time.
const AT_ONCE: usize = 1 << 22;

/// What a tree costs, in multiplications.
const TREE_COST: usize = 16;

/// What scores documents. Every kind of model is one of these.
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
    /// The shape.
    pub fn config(&self) -> RankerConfig {
        match self {
            Scorer::Net(ranker) => ranker.config(),
            Scorer::Trees(forest) => RankerConfig {
                features: forest.n_features(),
                architecture: Architecture::Trees {
                    trees: forest.n_trees(),
                    leaves: forest.trees().iter().map(|tree| tree.leaves().len()).max().unwrap_or(0),
                },
            },
            Scorer::Kernel(ranker) => ranker.config(),
        }
    }

    /// The net, where it is one.
    pub fn net(&self) -> Option<&Ranker> {
        match self {
            Scorer::Net(ranker) => Some(ranker),
            Scorer::Trees(_) => None,
            Scorer::Kernel(_) => None,
        }
    }

    /// The score of each row of `width` features, scaled as the scorer expects them.
    ///
    /// # Errors
    /// When the rows are of another width, or the device fails.
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

    /// The scores of all documents of a data set, scaled as the scorer expects them; those of a mapped file are read part by
    /// part.
    pub(crate) fn score(&self, data: &Dataset) -> Result<Vec<f32>> {
        if !data.is_mapped() {
            return self.score_rows(data.features(), data.n_features());
        }
        let mut scores = Vec::with_capacity(data.n_documents());
        data.for_rows(AT_ONCE, |_, rows| {
            scores.extend(self.score_rows(rows, data.n_features())?);
            Ok(())
        })?;
        Ok(scores)
    }

    /// About how many multiplications the score of a document takes.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Scorer::Net(ranker) => ranker.num_params(),
            Scorer::Trees(forest) => forest.n_trees().saturating_mul(TREE_COST),
            Scorer::Kernel(ranker) => ranker.points().len(),
        }
    }

    /// Whether all of its numbers are finite.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Scorer::Net(ranker) => is_finite(ranker),
            // What is not is refused where trees are read or made.
            Scorer::Trees(_) => true,
            Scorer::Kernel(ranker) => ranker.is_finite(),
        }
    }

    /// The file that a scorer of this shape is kept in.
    pub(crate) fn file(architecture: &Architecture) -> &'static str {
        match architecture {
            Architecture::Linear | Architecture::Mlp { .. } => "model.bpk",
            Architecture::Trees { .. } => "model.txt",
            Architecture::Kernel { .. } => "kernel.json",
        }
    }

    /// All of its numbers, as its file holds them.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        match self {
            Scorer::Net(ranker) => ranker_to_bytes(ranker),
            Scorer::Trees(forest) => Ok(forest.to_text().into_bytes()),
            Scorer::Kernel(ranker) => ranker.to_bytes(),
        }
    }

    /// A scorer of this shape from the bytes of its file.
    pub(crate) fn from_bytes(shape: &RankerConfig, bytes: Vec<u8>, device: &Device) -> Result<Self> {
        let scorer = match &shape.architecture {
            Architecture::Linear | Architecture::Mlp { .. } => Scorer::Net(ranker_from_bytes(shape, bytes, device)?),
            Architecture::Trees { .. } => {
                let text = String::from_utf8(bytes).map_err(|_| Error::Record("damaged: it is no text".into()))?;
                Scorer::Trees(Arc::new(Forest::parse(&text)?))
            }
            Architecture::Kernel { .. } => Scorer::Kernel(KernelRanker::from_bytes(shape, &bytes)?),
        };
        if scorer.config() != *shape {
            return Err(Error::Record(format!("damaged: it is of {}", scorer.config().architecture)));
        }
        Ok(scorer)
    }
}
