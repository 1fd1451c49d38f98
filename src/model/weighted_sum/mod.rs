//! Several scorers as one: the weighted sum of their scores, computed at the price of one scorer with all their units.

mod nets;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use shape::shape_of_sum;

use super::{Forest, KernelRanker, Scorer, Tree};
use crate::error::{Error, Result};
use std::sync::Arc;

impl Scorer {
    /// One scorer whose score is the sum of `factor * score` over scorers: `1 / n` for each of `n` makes it their mean.
    ///
    /// All of them must be for features of the same scaling, which a scorer does not know: [`Model::ensemble`] does.
    ///
    /// - linear nets become a linear net;
    /// - nets of the same function and number of hidden layers become a net with all their hidden units, of which those of
    ///   different nets have no weight between them; factors go into the weights of the output;
    /// - nets of relu units may differ in depth, and linear nets may be among them, because `x = relu(x) - relu(-x)` and
    ///   `relu(relu(x)) = relu(x)`: all linear nets together take two units per layer;
    /// - trees become one forest, their leaves multiplied by the factor;
    /// - sums of the same kernel become one sum over all points.
    ///
    /// A weight is added or multiplied in f64, and rounded to f32 once. A scorer of factor 0 is left out, unless all are.
    ///
    /// # Errors
    /// When there is none, when they score other numbers of features, when they are of kinds that no single scorer adds up
    /// (a net and trees, a tanh net and a linear one, kernels of another gamma), and when weights become infinite.
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
            return Err(Error::Config(format!("factor {factor} of a scorer: expected a number")));
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
        // The shape of their sum says that they are of one kind.
        let sum = if !nets.is_empty() {
            Scorer::Net(nets::sum(&nets)?)
        } else if !forests.is_empty() {
            Scorer::Trees(Arc::new(sum_of_forests(&forests)?))
        } else {
            Scorer::Kernel(sum_of_kernels(&kernels)?)
        };
        if !sum.is_finite() {
            return Err(Error::Record("a weight times its factor is beyond the largest number of 32 bits".into()));
        }
        Ok(sum)
    }
}

/// All trees, with leaves multiplied.
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

/// All points, with weights multiplied.
fn sum_of_kernels(kernels: &[(&KernelRanker, f64)]) -> Result<KernelRanker> {
    let Some((first, _)) = kernels.first() else {
        return Err(Error::Config("a sum of no kernels".into()));
    };
    let (mut points, mut offsets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (ranker, factor) in kernels {
        if ranker.kernel() != first.kernel() {
            return Err(Error::Mismatch(format!(
                "sums of {} and of {} do not add up to one: train all with the same kernel, as in \
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
