//! Weighted sums of scorers as a single scorer.

mod nets;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use shape::shape_of_sum;

use super::{Forest, KernelRanker, Scorer, Tree};
use crate::error::{Error, Result};
use std::sync::Arc;

impl Scorer {
    /// Combines scorers into one whose score is the sum of `factor * score`; factors of `1 / n` give the mean.
    ///
    /// All scorers must expect the same feature scaling. This is not checked here, but by [`Model::ensemble`].
    ///
    /// - linear nets become a linear net;
    /// - nets with the same activation function and number of hidden layers become a net with all their hidden units,
    ///   without weights between units of different nets; factors go into the output weights;
    /// - relu nets can differ in depth and be combined with linear nets, because `x = relu(x) - relu(-x)` and
    ///   `relu(relu(x)) = relu(x)`; all linear nets together take two units per layer;
    /// - a skip connection of any net becomes one of the sum, and takes in all linear nets;
    /// - trees become one forest, with leaf values multiplied by the factor;
    /// - sums of the same kernel become one sum over all points.
    ///
    /// Weights are summed and multiplied in f64 and rounded to f32 once. Scorers with factor 0 are left out, unless all
    /// have it.
    ///
    /// # Errors
    /// If there is no scorer, numbers of features differ, the kinds cannot be combined (a net and trees, a tanh net and
    /// a linear net, kernels with different gamma), or weights overflow.
    ///
    /// ```
    /// use burnrank::{Activation, RankerConfig, Scorer, device};
    /// let device = device::open("auto")?;
    /// let linear = Scorer::Net(RankerConfig::linear(1).from_weights(&[vec![2.0]], &device)?);
    /// let relu = RankerConfig::mlp(1, &[1], Activation::Relu);
    /// let relu = Scorer::Net(relu.from_weights(&[vec![1.0], vec![-1.0], vec![4.0]], &device)?);
    ///
    /// // 0.5 * 2 x + 0.25 * 4 max(x - 1, 0)
    /// let sum = Scorer::weighted_sum(&[(&linear, 0.5), (&relu, 0.25)])?;
    /// assert_eq!(sum.config(), RankerConfig::mlp(1, &[3], Activation::Relu));
    /// assert_eq!(sum.score_rows(&[-1.0, 0.5, 3.0], 1)?, [-1.0, 0.5, 5.0]);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// [`Model::ensemble`]: crate::Model::ensemble
    pub fn weighted_sum(scorers: &[(&Scorer, f64)]) -> Result<Scorer> {
        if let Some((_, factor)) = scorers.iter().find(|(_, factor)| !factor.is_finite()) {
            return Err(Error::Config(format!("scorer with factor {factor}: expected a finite number")));
        }
        let mut kept: Vec<(&Scorer, f64)> = scorers.iter().copied().filter(|(_, factor)| *factor != 0.0).collect();
        if kept.is_empty() {
            kept.extend(scorers.first());
        }
        let shapes: Vec<_> = scorers.iter().map(|(scorer, _)| scorer.config()).collect();
        shape_of_sum(&shapes)?;
        let (mut nets, mut forests, mut kernels) = (Vec::new(), Vec::new(), Vec::new());
        for (scorer, factor) in kept {
            match scorer {
                Scorer::Net(net) => nets.push((net, factor)),
                Scorer::Trees(forest) => forests.push((&**forest, factor)),
                Scorer::Kernel(kernel) => kernels.push((kernel, factor)),
            }
        }
        // `shape_of_sum` has checked that all are of one kind.
        let sum = if !nets.is_empty() {
            Scorer::Net(nets::sum(&nets)?)
        } else if !forests.is_empty() {
            Scorer::Trees(Arc::new(sum_of_forests(&forests)?))
        } else {
            Scorer::Kernel(sum_of_kernels(&kernels)?)
        };
        if !sum.is_finite() {
            return Err(Error::Record("a weight times its factor exceeds the largest 32-bit number".into()));
        }
        Ok(sum)
    }
}

/// Combines all trees, with leaf values multiplied.
fn sum_of_forests(forests: &[(&Forest, f64)]) -> Result<Forest> {
    let mut trees = Vec::new();
    for (forest, factor) in forests {
        let factor = if forest.is_average() { factor / forest.n_trees().max(1) as f64 } else { *factor };
        for tree in forest.trees() {
            let leaves = tree.leaves().iter().map(|value| factor * value).collect();
            trees.push(Tree::new(tree.branches().to_vec(), leaves)?);
        }
    }
    Forest::from_trees(forests.first().map_or(0, |(forest, _)| forest.n_features()), trees)
}

/// Combines the points of all kernels, with their weights multiplied by the factors.
fn sum_of_kernels(kernels: &[(&KernelRanker, f64)]) -> Result<KernelRanker> {
    let Some((first, _)) = kernels.first() else {
        return Err(Error::Config("a sum of no kernels".into()));
    };
    let (mut points, mut offsets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (ranker, factor) in kernels {
        if ranker.kernel() != first.kernel() {
            return Err(Error::Mismatch(format!(
                "sums of {} and {} cannot be combined: train all with the same kernel, such as \
                 kernel-ranknet:gamma=0.1",
                first.kernel(),
                ranker.kernel()
            )));
        }
        points.extend_from_slice(ranker.points());
        offsets.extend_from_slice(ranker.offsets());
        weights.extend(ranker.weights().iter().map(|&weight| (factor * f64::from(weight)) as f32));
    }
    KernelRanker::new(first.config().features, first.kernel(), points, offsets, weights)
}
