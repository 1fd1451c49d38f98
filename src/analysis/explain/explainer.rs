//! The part of each feature in a document's score.

use super::gradient::Smooth;
use super::integrated::{Parts, integrated_gradients};
use super::shapley::{Paths, Room, Rules};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::model::{Child, Forest, HostNet, Scorer, Tree};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// How the parts of features are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttributionMethod {
    /// Weight times distance from the mean document; parts add up to the score less the mean document's. Exact.
    Linear,
    /// Shapley values of trees, path-dependent; parts add up to the score less the expected score. Exact.
    Shapley,
    /// Integrated gradients along the line between two documents; parts add up to the difference of scores within 0.1%.
    IntegratedGradients,
}

impl AttributionMethod {
    /// What it is, for people.
    pub fn words(self) -> &'static str {
        match self {
            AttributionMethod::Linear => {
                "weight x (scaled feature - its mean): exact, parts add up to the difference of scores"
            }
            AttributionMethod::Shapley => {
                "Shapley values of the trees, path-dependent: exact, parts add up to the difference of scores"
            }
            AttributionMethod::IntegratedGradients => {
                "integrated gradients along the line between the two scaled documents: parts add up to the difference of scores within 0.1%"
            }
        }
    }
}

/// Where the numbers of documents at the leaves of trees are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// From training, as the model's text has them.
    Training,
    /// From the data at hand, because the model's text has none.
    Data,
}

/// Finds the part of each feature in the scores of one model.
///
/// ```
/// use burnrank::analysis::explain::{Explainer, AttributionMethod};
/// use burnrank::{Dataset, RankerConfig, Scorer, device};
/// let scorer = Scorer::Net(RankerConfig::linear(2).from_weights(&[vec![2.0, -1.0]], &device::open("auto")?)?);
/// // Documents as the scorer sees them: scaled. The mean document is (2, 5).
/// let data = Dataset::new(2, vec![1.0, 5.0, 3.0, 5.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
/// let explainer = Explainer::new(&scorer, &data)?;
/// assert_eq!((explainer.method(), explainer.expected()), (AttributionMethod::Linear, -1.0));
/// assert_eq!(explainer.parts(&[4.0, 3.0]), [4.0, 2.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug)]
pub struct Explainer {
    kind: Kind,
    expected: f64,
}

#[derive(Debug)]
enum Kind {
    Linear { net: HostNet<f64>, mean: Vec<f64> },
    Smooth { scorer: Smooth, mean: Vec<f64> },
    Trees { forest: Arc<Forest>, paths: Vec<Paths>, rules: Rules, counts: Counts },
}

/// Documents that leaves are counted with where training did not count them: evenly spread over the data.
const COUNTED: usize = 20_000;

impl Explainer {
    /// For a scorer and documents as it sees them, scaled: their mean is what parts are relative to and, of trees whose
    /// training did not count, their way to leaves.
    ///
    /// # Errors
    /// When there is no document, when documents have another number of features, when memory is short, or the device fails.
    pub fn new(scorer: &Scorer, data: &Dataset) -> Result<Self> {
        let features = scorer.config().features;
        if data.n_features() != features {
            let found = data.n_features();
            return Err(Error::Mismatch(format!("the model scores {features} features, the data has {found}")));
        }
        if data.n_documents() == 0 {
            return Err(Error::Data("no documents to explain a model with".into()));
        }
        let smooth = |scorer: Smooth| {
            let mean = mean(data);
            let expected = scorer.score_and_slopes(&mean).0;
            Explainer { kind: Kind::Smooth { scorer, mean }, expected }
        };
        Ok(match scorer {
            Scorer::Net(ranker) if ranker.config().architecture.hidden().is_empty() => {
                let (net, mean) = (HostNet::of(ranker)?.to_f64(), mean(data));
                let expected = net.output().iter().zip(&mean).map(|(weight, mean)| weight * mean).sum();
                Explainer { kind: Kind::Linear { net, mean }, expected }
            }
            Scorer::Net(ranker) => smooth(Smooth::Net(HostNet::of(ranker)?.to_f64())),
            Scorer::Kernel(kernel) => smooth(Smooth::Kernel(kernel.clone())),
            Scorer::Trees(forest) => of_trees(forest, data)?,
        })
    }

    /// How parts are found.
    pub fn method(&self) -> AttributionMethod {
        match &self.kind {
            Kind::Linear { .. } => AttributionMethod::Linear,
            Kind::Smooth { .. } => AttributionMethod::IntegratedGradients,
            Kind::Trees { .. } => AttributionMethod::Shapley,
        }
    }

    /// Of trees, who counted the documents at their leaves.
    pub fn counts(&self) -> Option<Counts> {
        match &self.kind {
            Kind::Trees { counts, .. } => Some(*counts),
            _ => None,
        }
    }

    /// What parts are relative to: the score of the mean document; of trees, the mean score of the documents at their leaves.
    pub fn expected(&self) -> f64 {
        self.expected
    }

    /// The part of each feature in the score of a scaled document minus [`Explainer::expected`].
    ///
    /// # Panics
    /// When the document has fewer features than the model.
    pub fn parts(&self, document: &[f32]) -> Vec<f64> {
        match &self.kind {
            Kind::Linear { net, mean } => linear(net, mean, &wide(document)),
            Kind::Smooth { scorer, mean } => integrated_gradients(scorer, mean, &wide(document)).values,
            Kind::Trees { forest, paths, rules, .. } => {
                let (mut values, mut room) = (vec![0.0; forest.n_features()], Room::default());
                let factor = factor(forest);
                for (tree, paths) in forest.trees().iter().zip(paths) {
                    paths.add(tree, document, factor, rules, &mut room, &mut values);
                }
                values
            }
        }
    }

    /// The part of each feature in the score of one scaled document minus that of another.
    pub(super) fn differences(&self, to: &[f32], from: &[f32]) -> Parts {
        let values = match &self.kind {
            Kind::Linear { net, .. } => linear(net, &wide(from), &wide(to)),
            Kind::Smooth { scorer, .. } => return integrated_gradients(scorer, &wide(from), &wide(to)),
            Kind::Trees { .. } => self.parts(to).iter().zip(self.parts(from)).map(|(to, from)| to - from).collect(),
        };
        Parts { values, add_up: true }
    }

    /// The slope of the score in each feature at a scaled document; nothing for trees, whose slopes are 0.
    pub fn gradients(&self, document: &[f32]) -> Option<Vec<f64>> {
        match &self.kind {
            Kind::Linear { net, .. } => Some(net.output().to_vec()),
            Kind::Smooth { scorer, .. } => Some(scorer.score_and_slopes(&wide(document)).1),
            Kind::Trees { .. } => None,
        }
    }
}

fn wide(document: &[f32]) -> Vec<f64> {
    document.iter().map(|&x| f64::from(x)).collect()
}

/// The parts of features in the difference of two scores of a linear net.
fn linear(net: &HostNet<f64>, from: &[f64], to: &[f64]) -> Vec<f64> {
    to.iter().zip(from).zip(net.output()).map(|((to, from), weight)| (to - from) * weight).collect()
}

/// What the values of trees are multiplied by.
fn factor(forest: &Forest) -> f64 {
    if forest.is_average() { 1.0 / forest.n_trees().max(1) as f64 } else { 1.0 }
}

fn of_trees(forest: &Arc<Forest>, data: &Dataset) -> Result<Explainer> {
    let bytes = Paths::bytes(forest.trees(), forest.n_features());
    memory::ask(bytes, "the paths to all leaves of the trees", "use trees of fewer levels")?;
    let (counts, source) = match forest.leaf_counts() {
        Some(counts) => (counts, Counts::Training),
        None => (forest.trees().par_iter().map(|tree| counted(tree, data)).collect(), Counts::Data),
    };
    let paths: Vec<Paths> =
        forest.trees().par_iter().zip(&counts).map(|(tree, counts)| Paths::of(tree, counts)).collect();
    let expected = paths.iter().map(|paths| paths.expected).sum::<f64>() * factor(forest);
    let rules = Rules::of(&paths);
    Ok(Explainer { kind: Kind::Trees { forest: forest.clone(), paths, rules, counts: source }, expected })
}

/// The number of documents at each leaf.
fn counted(tree: &Tree, data: &Dataset) -> Vec<f64> {
    let mut counts = vec![0.0; tree.leaves().len()];
    for row in spread(data.n_documents(), COUNTED) {
        let document = row_of(data, row);
        let mut at = if tree.branches().is_empty() { Child::Leaf(0) } else { Child::Branch(0) };
        while let Child::Branch(index) = at {
            let branch = &tree.branches()[index];
            at = if branch.rule.goes_left(document[branch.feature]) { branch.left } else { branch.right };
        }
        if let Child::Leaf(leaf) = at {
            counts[leaf] += 1.0;
        }
    }
    counts
}

/// The features of one document.
pub(super) fn row_of(data: &Dataset, row: usize) -> &[f32] {
    &data.features()[row * data.n_features()..(row + 1) * data.n_features()]
}

/// At most `most` of `all` places, evenly spread.
pub(super) fn spread(all: usize, most: usize) -> impl Iterator<Item = usize> + Clone {
    let count = all.min(most);
    (0..count).map(move |place| (place as u128 * all as u128 / count.max(1) as u128) as usize)
}

/// The mean of each feature over the documents, of what is finite.
fn mean(data: &Dataset) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); data.n_features()];
    for row in data.features().chunks_exact(data.n_features().max(1)) {
        for ((sum, count), &x) in sums.iter_mut().zip(row).filter(|(_, x)| x.is_finite()) {
            *sum += f64::from(x);
            *count += 1.0;
        }
    }
    sums.into_iter().map(|(sum, count): (f64, f64)| if count > 0.0 { sum / count } else { 0.0 }).collect()
}
