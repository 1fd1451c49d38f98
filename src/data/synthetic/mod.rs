//! Synthetic data with a known target function, as in the RankNet and LambdaRank papers, and similar to judged web pages.

mod bins;
mod net;
mod polynomial;
mod web;

pub use bins::{LabelMix, WEB_MIX};
pub use net::TargetActivation;
pub use web::{Web, WebGenerator};

use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use bins::Bins;
use net::RandomNet;
use polynomial::Polynomial;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Number of documents sampled to place the bins: label fractions are accurate to about 0.2 percentage points.
const SAMPLE: usize = 1 << 16;
const SAMPLE_BLOCK: usize = 1 << 10;

// Streams of the random generator for different purposes, with the same seed.
const FUNCTION_STREAM: u64 = 0;
const SAMPLE_STREAM: u64 = 1;
const QUERY_STREAM: u64 = 1 << 32;

/// Random target function that determines labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Two-layer net with weights uniform in [-1, 1].
    Net {
        /// Number of hidden units; 10 in the paper.
        hidden: usize,
        /// Activation function of the hidden units.
        activation: TargetActivation,
    },
    /// Mean of a linear, a quadratic and a cubic term, each with mean 0 and variance 1.
    Polynomial,
}

/// Settings of synthetic ranking data: features uniform in [-1, 1], a random target function, and labels that are bins of the
/// target (Burges et al. 2005, section 5.1; Burges et al. 2006, section 6.3.1).
///
/// Each query depends only on the seed and its index, not on the number of queries or threads. For training and test data with
/// the same target function, generate once and split by query.
///
/// ```
/// use burnrank::Synthetic;
/// let data = Synthetic { queries: 20, seed: 1, ..Synthetic::net() }.generator()?.dataset()?;
/// assert_eq!((data.n_queries(), data.n_documents(), data.n_features()), (20, 1000, 50));
/// assert!(data.labels().iter().all(|&label| label <= 5.0));
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Synthetic {
    /// Target function.
    pub target: Target,
    /// Number of queries.
    pub queries: usize,
    /// Number of documents per query.
    pub documents: usize,
    /// Number of features per document.
    pub features: usize,
    /// Label distribution.
    pub mix: LabelMix,
    /// Random seed.
    pub seed: u64,
}

impl Synthetic {
    /// Returns the settings of the RankNet paper's random net: 10 hidden units, 1,000 queries of 50 documents, 50 features, 6
    /// labels.
    pub fn net() -> Synthetic {
        Synthetic {
            target: Target::Net { hidden: 10, activation: TargetActivation::Sigmoid },
            ..Synthetic::polynomial()
        }
    }

    /// Returns the settings of the RankNet paper's random polynomial: 1,000 queries of 50 documents, 50 features, 6 labels.
    pub fn polynomial() -> Synthetic {
        Synthetic {
            target: Target::Polynomial,
            queries: 1000,
            documents: 50,
            features: 50,
            mix: LabelMix::default(),
            seed: 0,
        }
    }

    /// Returns the settings of the LambdaRank paper's polynomial data: 25,000 queries (10,000, 5,000 and 10,000 for training,
    /// validation and test) of 50 documents, 50 features, 5 labels distributed as [`WEB_MIX`].
    pub fn lambdarank() -> Synthetic {
        Synthetic { queries: 25_000, mix: LabelMix::web(), ..Synthetic::polynomial() }
    }

    /// Draws the target function and places the bins.
    ///
    /// # Errors
    /// When a number is 0, or a query or the target function is too large.
    pub fn generator(&self) -> Result<Generator> {
        self.check()?;
        let mut rng = stream(self.seed, FUNCTION_STREAM);
        let function = match self.target {
            Target::Net { hidden, activation } => {
                Function::Net(RandomNet::random(self.features, hidden, activation, &mut rng))
            }
            Target::Polynomial => Function::Polynomial(Polynomial::random(self.features, &mut rng)),
        };
        let block = |index: usize| {
            let mut rng = stream(self.seed, SAMPLE_STREAM + index as u64);
            let mut row = vec![0.0; self.features];
            let draw = |_| {
                fill(&mut row, &mut rng);
                function.target(&row)
            };
            (0..SAMPLE_BLOCK).map(draw).collect::<Vec<f64>>()
        };
        let sample: Vec<f64> = (0..SAMPLE / SAMPLE_BLOCK).into_par_iter().flat_map_iter(block).collect();
        let bins = Bins::fit(&self.mix, sample);
        Ok(Generator { settings: self.clone(), function, bins })
    }

    /// Checks that all numbers are positive, and that a query and the target function are not too large.
    fn check(&self) -> Result<()> {
        let hidden = match self.target {
            Target::Net { hidden, .. } => hidden,
            Target::Polynomial => 1,
        };
        let counts = [
            ("query", self.queries),
            ("document per query", self.documents),
            ("feature", self.features),
            ("hidden unit", hidden),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(Error::Config(format!("artificial data needs at least one {name}, got 0")));
        }
        let limited = |what: &str, a: usize, b: usize, limit: usize| match a.checked_mul(b) {
            Some(product) if product <= limit => Ok(()),
            _ => Err(Error::Config(format!("{a} {what} times {b} features: at most {limit} are supported"))),
        };
        limited("documents per query", self.documents, self.features, 1 << 30)?;
        limited("hidden units", hidden, self.features, 1 << 24)
    }
}

/// Generates the queries of a [`Synthetic`] data set on demand.
#[derive(Debug, Clone)]
pub struct Generator {
    settings: Synthetic,
    function: Function,
    bins: Bins,
}

/// A synthetic query.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticQuery {
    /// Number of the query, from 1.
    pub id: String,
    /// Features, row-major, one row per document.
    pub features: Vec<f32>,
    /// Labels, one per document.
    pub labels: Vec<f32>,
    /// Continuous targets, one per document; labels are bins of these.
    pub targets: Vec<f64>,
}

impl Generator {
    /// Returns the settings.
    pub fn settings(&self) -> &Synthetic {
        &self.settings
    }

    /// Generates query `index`, from 0, which may exceed [`Synthetic::queries`].
    pub fn query(&self, index: usize) -> SyntheticQuery {
        let documents = self.settings.documents;
        let mut features = vec![0.0; documents * self.settings.features];
        let (mut labels, mut targets) = (vec![0.0; documents], vec![0.0; documents]);
        self.write(index, &mut features, &mut labels, &mut targets);
        SyntheticQuery { id: id(index), features, labels, targets }
    }

    /// Generates all queries one at a time.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = SyntheticQuery> + '_ {
        (0..self.settings.queries).map(|index| self.query(index))
    }

    /// Generates all queries in memory.
    ///
    /// # Errors
    /// When they exceed the memory limit.
    pub fn dataset(&self) -> Result<Dataset> {
        Ok(self.part(0..self.settings.queries)?.0)
    }

    /// Generates a range of queries in parallel. Returns them with the continuous target of every document.
    ///
    /// # Errors
    /// When they exceed the memory limit.
    pub fn part(&self, queries: Range<usize>) -> Result<(Dataset, Vec<f64>)> {
        let (documents, width) = (self.settings.documents, self.settings.features);
        let too_large = || {
            let n = queries.len();
            Error::Config(format!("{n} queries of {documents} documents and {width} features do not fit into memory"))
        };
        let rows = queries.len().checked_mul(documents).ok_or_else(too_large)?;
        let values = rows.checked_mul(width).ok_or_else(too_large)?;
        // One f32 per value, an f32 and an f64 per document, and an id per query.
        let bytes = (values as u64).saturating_mul(4).saturating_add((rows as u64).saturating_mul(12));
        let bytes = bytes.saturating_add((queries.len() as u64).saturating_mul(64));
        let what = format!("{} queries of {documents} documents and {width} features", queries.len());
        memory::ask(bytes, &what, "generate fewer documents")?;
        let mut features = zeros(values).ok_or_else(too_large)?;
        let mut labels = zeros(rows).ok_or_else(too_large)?;
        let mut targets = zeros(rows).ok_or_else(too_large)?;
        features
            .par_chunks_mut(documents * width)
            .zip(labels.par_chunks_mut(documents))
            .zip(targets.par_chunks_mut(documents))
            .enumerate()
            .for_each(|(i, ((features, labels), targets))| self.write(queries.start + i, features, labels, targets));
        let ids = queries.map(|index| (id(index), documents)).collect();
        Ok((Dataset::new(width, features, labels, ids)?, targets))
    }

    fn write(&self, index: usize, features: &mut [f32], labels: &mut [f32], targets: &mut [f64]) {
        let mut rng = stream(self.settings.seed, QUERY_STREAM.wrapping_add(index as u64));
        for ((row, label), target) in features.chunks_exact_mut(self.settings.features).zip(labels).zip(targets) {
            fill(row, &mut rng);
            *target = self.function.target(row);
            *label = self.bins.label(*target);
        }
    }
}

#[derive(Debug, Clone)]
enum Function {
    Net(RandomNet),
    Polynomial(Polynomial),
}

impl Function {
    fn target(&self, x: &[f32]) -> f64 {
        match self {
            Function::Net(net) => net.target(x),
            Function::Polynomial(polynomial) => polynomial.target(x),
        }
    }
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

fn fill(row: &mut [f32], rng: &mut ChaCha8Rng) {
    row.iter_mut().for_each(|x| *x = 2.0 * rng.random::<f32>() - 1.0);
}

fn id(index: usize) -> String {
    (index as u128 + 1).to_string()
}

/// Returns zeros, or `None` if the allocation fails.
fn zeros<T: Copy + Default>(n: usize) -> Option<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(n).ok()?;
    all.resize(n, T::default());
    Some(all)
}

#[cfg(test)]
mod tests;
