//! The contribution of each feature to a document's score.

use super::gradient::Smooth;
use super::integrated::{Parts, integrated_gradients};
use super::shapley::{Paths, Rules, Work};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::model::{Child, Forest, HostNet, Scorer, Tree};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// How contributions are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttributionMethod {
    /// Weight times the difference from the mean document. Exact; parts sum to the score minus the mean document's score.
    Linear,
    /// Path-dependent Shapley values of trees. They are exact: the parts sum to the score minus the expected score.
    Shapley,
    /// Integrated gradients along the line between two documents. The parts sum to the difference of the scores to within 0.1%.
    IntegratedGradients,
}

impl AttributionMethod {
    /// Returns a description for reports.
    pub fn words(self) -> &'static str {
        match self {
            AttributionMethod::Linear => {
                "weight x (scaled feature - its mean); exact: the parts sum to the difference of the scores"
            }
            AttributionMethod::Shapley => {
                "path-dependent Shapley values of the trees; exact: the parts sum to the difference of the scores"
            }
            AttributionMethod::IntegratedGradients => {
                "integrated gradients along the line between the two scaled documents; the parts sum to the difference of the scores to within 0.1%"
            }
        }
    }
}

/// Source of the numbers of documents at the leaves of trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Counted in training and stored in the model.
    Training,
    /// Counted on the given data, because the model stores none.
    Data,
}

/// Computes the contribution of each feature to the scores of one model.
///
/// ```
/// use burnrank::analysis::explain::{Explainer, AttributionMethod};
/// use burnrank::{Dataset, RankerConfig, Scorer, device};
/// let scorer = Scorer::Net(RankerConfig::linear(2).from_weights(&[vec![2.0, -1.0]], &device::open("auto")?)?);
/// // Documents are scaled as the scorer expects. The mean document is (2, 5).
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

/// Maximum number of documents for counting at leaves if the model stores no counts; evenly spaced in the data.
const COUNTED: usize = 20_000;

impl Explainer {
    /// Prepares explanations of a scorer. `data`, scaled as the scorer expects, gives the mean document as the reference and, for
    /// trees without stored counts, the numbers of documents at the leaves.
    ///
    /// # Errors
    /// If there is no document, the number of features differs, there is not enough memory, or the device fails.
    pub fn new(scorer: &Scorer, data: &Dataset) -> Result<Self> {
        let features = scorer.config().features;
        if data.n_features() != features {
            let width = data.n_features();
            return Err(Error::Mismatch(format!("the model expects {features} features, the data has {width}")));
        }
        if data.n_documents() == 0 {
            return Err(Error::Data("no documents to explain a model with".into()));
        }
        let smooth = |scorer: Smooth| {
            let mean = mean(data);
            let expected = scorer.score_and_gradient(&mean).0;
            Explainer { kind: Kind::Smooth { scorer, mean }, expected }
        };
        Ok(match scorer {
            Scorer::Net(ranker) if ranker.config().architecture.hidden().is_empty() => {
                let (net, mean) = (HostNet::of(ranker)?.to_f64(), mean(data));
                let expected = net.output().iter().zip(&net.inputs(&mean)).map(|(weight, mean)| weight * mean).sum();
                Explainer { kind: Kind::Linear { net, mean }, expected }
            }
            Scorer::Net(ranker) => smooth(Smooth::Net(HostNet::of(ranker)?.to_f64())),
            Scorer::Kernel(kernel) => smooth(Smooth::Kernel(kernel.clone())),
            Scorer::Trees(forest) => of_trees(forest, data)?,
        })
    }

    /// Returns how contributions are computed.
    pub fn method(&self) -> AttributionMethod {
        match &self.kind {
            Kind::Linear { .. } => AttributionMethod::Linear,
            Kind::Smooth { .. } => AttributionMethod::IntegratedGradients,
            Kind::Trees { .. } => AttributionMethod::Shapley,
        }
    }

    /// Returns the source of the counts at leaves; `None` for models without trees.
    pub fn counts(&self) -> Option<Counts> {
        match &self.kind {
            Kind::Trees { counts, .. } => Some(*counts),
            _ => None,
        }
    }

    /// Returns the reference of the parts: the score of the mean document, or for trees the mean score over the documents at the
    /// leaves.
    pub fn expected(&self) -> f64 {
        self.expected
    }

    /// Returns the contribution of each feature to the score of a scaled document minus [`Explainer::expected`].
    ///
    /// # Panics
    /// If the document has fewer features than the model.
    pub fn parts(&self, document: &[f32]) -> Vec<f64> {
        match &self.kind {
            Kind::Linear { net, mean } => linear(net, mean, &wide(document)),
            Kind::Smooth { scorer, mean } => integrated_gradients(scorer, mean, &wide(document)).values,
            Kind::Trees { forest, paths, rules, .. } => {
                let (mut values, mut work) = (vec![0.0; forest.n_features()], Work::default());
                let factor = factor(forest);
                for (tree, paths) in forest.trees().iter().zip(paths) {
                    paths.add(tree, document, factor, rules, &mut work, &mut values);
                }
                values
            }
        }
    }

    /// Contribution of each feature to the score of one scaled document minus that of another.
    pub(super) fn differences(&self, to: &[f32], from: &[f32]) -> Parts {
        let values = match &self.kind {
            Kind::Linear { net, .. } => linear(net, &wide(from), &wide(to)),
            Kind::Smooth { scorer, .. } => return integrated_gradients(scorer, &wide(from), &wide(to)),
            Kind::Trees { .. } => self.parts(to).iter().zip(self.parts(from)).map(|(to, from)| to - from).collect(),
        };
        Parts { values, add_up: true }
    }

    /// Returns the gradient of the score with respect to the features at a scaled document; `None` for trees.
    pub fn gradients(&self, document: &[f32]) -> Option<Vec<f64>> {
        match &self.kind {
            Kind::Linear { net, .. } => Some(net.by_features(&wide(document), net.output().to_vec())),
            Kind::Smooth { scorer, .. } => Some(scorer.score_and_gradient(&wide(document)).1),
            Kind::Trees { .. } => None,
        }
    }
}

fn wide(document: &[f32]) -> Vec<f64> {
    document.iter().map(|&x| f64::from(x)).collect()
}

/// Contributions of features to the difference of two scores of a linear net.
fn linear(net: &HostNet<f64>, from: &[f64], to: &[f64]) -> Vec<f64> {
    let (from, to) = (net.inputs(from), net.inputs(to));
    let parts: Vec<f64> =
        to.iter().zip(&from).zip(net.output()).map(|((to, from), weight)| (to - from) * weight).collect();
    net.sums_of_features(parts)
}

/// Factor for the values of trees.
fn factor(forest: &Forest) -> f64 {
    if forest.is_average() { 1.0 / forest.n_trees().max(1) as f64 } else { 1.0 }
}

fn of_trees(forest: &Arc<Forest>, data: &Dataset) -> Result<Explainer> {
    let bytes = Paths::bytes(forest.trees(), forest.n_features());
    memory::ask(bytes, "the paths to all leaves of the trees", "use shallower trees")?;
    let (counts, source) = match forest.leaf_counts() {
        Some(counts) => (counts, Counts::Training),
        None => (forest.trees().par_iter().map(|tree| count_at_leaves(tree, data)).collect(), Counts::Data),
    };
    let paths: Vec<Paths> =
        forest.trees().par_iter().zip(&counts).map(|(tree, counts)| Paths::of(tree, counts)).collect();
    let expected = paths.iter().map(|paths| paths.expected).sum::<f64>() * factor(forest);
    let rules = Rules::of(&paths);
    Ok(Explainer { kind: Kind::Trees { forest: forest.clone(), paths, rules, counts: source }, expected })
}

/// Number of documents at each leaf.
fn count_at_leaves(tree: &Tree, data: &Dataset) -> Vec<f64> {
    let mut counts = vec![0.0; tree.leaves().len()];
    for row in evenly_spaced(data.n_documents(), COUNTED) {
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

/// Features of one document.
pub(super) fn row_of(data: &Dataset, row: usize) -> &[f32] {
    &data.features()[row * data.n_features()..(row + 1) * data.n_features()]
}

/// At most `max` evenly spaced indices below `count`.
pub(super) fn evenly_spaced(count: usize, max: usize) -> impl Iterator<Item = usize> + Clone {
    let n = count.min(max);
    (0..n).map(move |place| (place as u128 * count as u128 / n.max(1) as u128) as usize)
}

/// Mean of the finite values of each feature.
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
