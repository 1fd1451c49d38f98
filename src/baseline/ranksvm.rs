//! RankSVM: maximum margin between the documents of a query with different labels.
//!
//! R. Herbrich, T. Graepel, K. Obermayer: Large Margin Rank Boundaries for Ordinal Regression (2000); T. Joachims: Optimizing
//! Search Engines using Clickthrough Data (KDD 2002). The objective is
//!
//! `|w|^2 / 2 + C sum over pairs of max(0, 1 - w . (x_i - x_j))^2`
//!
//! over all pairs of a query in which i has the higher label. It has the squared loss of O. Chapelle, S. S. Keerthi: Efficient
//! Algorithms for Ranking with SVMs (2010), and is minimised exactly, by Newton's method. The sum is over all pairs of all queries,
//! as in scikit-learn's `LinearSVC(C, loss="squared_hinge", fit_intercept=False)` on the differences; svm_rank has plain losses and
//! divides its C by the number of queries.
//!
//! For LETOR's results C was selected on validation queries: without `c`, each epoch tries one C of a grid, in ascending order.

use super::algebra::{dot, scores, solve, step, sum};
use super::margins::Margins;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::train::Learner;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "ranksvm",
    help: "RankSVM: maximum margin between the documents of a query",
    optimises: Some("squared hinge losses of pairs and the norm of the weights"),
    parameters: &[Parameter::number("c", 0.0, 0.0..=1e6, "cost of a loss of 1; 0 tries one value of a grid per epoch")],
    epochs: GRID,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// Number of values of C in the grid, two per power of ten.
const GRID: usize = 13;
const LOWEST: f64 = 1e-6;

/// Norm of the gradient at the minimum, relative to that at zero weights.
const TOLERANCE: f64 = 1e-7;
/// Maximum number of Newton steps; about ten are typical.
const MAX_STEPS: usize = 200;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RankSvm {
    /// 0 for the grid.
    c: f64,
    weights: Vec<f64>,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    if !start.train.has_pairs() {
        let message = "ranksvm: no training query has documents with different labels, so there is nothing to learn";
        return Err(Error::Data(message.into()));
    }
    Rounds::start(start, RankSvm { c: start.number("c"), weights: vec![0.0; start.train.n_features()] })
}

impl Baseline for RankSvm {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let c = if self.c > 0.0 { self.c } else { LOWEST * 10f64.powf((round.number - 1) as f64 / 2.0) };
        let problem = SvmObjective { data: round.train, margins: Margins::new(round.train, round.stop), c };
        let loss = problem.minimise(&mut self.weights)?;
        let converged = self.c > 0.0 || round.number >= GRID;
        Ok(RoundEnd { loss: loss / round.train.n_queries() as f64, converged })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

/// The objective.
struct SvmObjective<'a> {
    data: &'a Dataset,
    margins: Margins<'a>,
    c: f64,
}

impl SvmObjective<'_> {
    /// Moves the weights to the minimum and returns the value there.
    fn minimise(&self, weights: &mut [f64]) -> Result<f64> {
        let zeros = vec![0.0; self.data.n_documents()];
        let start = sum(self.data, &self.gradients(&zeros)?.0);
        let target = TOLERANCE * dot(&start, &start).sqrt();
        let mut current = scores(self.data, weights);
        for _ in 0..MAX_STEPS {
            let mut gradient = sum(self.data, &self.gradients(&current)?.0);
            step(&mut gradient, 1.0, weights);
            let length = dot(&gradient, &gradient).sqrt();
            if !length.is_finite() {
                let message = "ranksvm: scores are not finite: scale the features with `scale`";
                return Err(Error::Training(message.into()));
            }
            if length <= target {
                break;
            }
            let down: Vec<f64> = gradient.iter().map(|x| -x).collect();
            let order = self.margins.order(&current)?;
            let direction = solve(&down, 0.01, |direction| self.hessian_times(&current, &order, direction))?;
            let moved = scores(self.data, &direction);
            let along = self.along(weights, &direction, &current, &moved)?;
            if along == 0.0 {
                break;
            }
            step(weights, along, &direction);
            current = scores(self.data, weights);
        }
        Ok(0.5 * dot(weights, weights) + self.gradients(&current)?.1)
    }

    /// The gradient of the losses with respect to the scores, and the losses.
    fn gradients(&self, scores: &[f64]) -> Result<(Vec<f64>, f64)> {
        let sums = self.margins.sums(scores, &self.margins.order(scores)?, scores)?;
        let mut losses = 0.0;
        let slope = |(sums, &score): (_, &f64)| {
            let super::margins::PairSums { better, of_worse, worse, of_better } = sums;
            let as_better: f64 = better * (1.0 - score) + of_worse;
            let slope = worse * (1.0 + score) - of_better - as_better;
            // The loss of a pair is (1 - difference of scores) squared, split over its documents.
            losses += as_better + score * slope;
            2.0 * self.c * slope
        };
        let gradient = sums.into_iter().zip(scores).map(slope).collect();
        Ok((gradient, self.c * losses))
    }

    /// The Hessian at the scores `current` with the given order, multiplied by a direction.
    fn hessian_times(&self, current: &[f64], order: &[u32], direction: &[f64]) -> Result<Vec<f64>> {
        let moved = scores(self.data, direction);
        let sums = self.margins.sums(current, order, &moved)?;
        let product = sums
            .iter()
            .zip(&moved)
            .map(|(sums, moved)| 2.0 * self.c * ((sums.better + sums.worse) * moved - sums.of_worse - sums.of_better));
        let mut product = sum(self.data, &product.collect::<Vec<f64>>());
        step(&mut product, 1.0, direction);
        Ok(product)
    }

    /// The length of a step along a descent direction: the slope along it increases, and its zero is located.
    fn along(&self, weights: &[f64], direction: &[f64], current: &[f64], moved: &[f64]) -> Result<f64> {
        let (straight, square) = (dot(weights, direction), dot(direction, direction));
        let slope = |t: f64| -> Result<f64> {
            let scores: Vec<f64> = current.iter().zip(moved).map(|(current, moved)| current + t * moved).collect();
            Ok(straight + t * square + dot(&self.gradients(&scores)?.0, moved))
        };
        let first = slope(0.0)?;
        if first >= 0.0 {
            return Ok(0.0);
        }
        let (mut low, mut high) = ((0.0, first), (1.0, slope(1.0)?));
        while high.1 < 0.0 && high.0 < 1e9 {
            low = high;
            high = (2.0 * high.0, slope(2.0 * high.0)?);
        }
        for round in 0..60 {
            if high.1.abs() <= 1e-3 * -first {
                return Ok(high.0);
            }
            // The secant, and every third time the midpoint in case the secant moves only one end.
            let line = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
            let next = if round % 3 == 2 { 0.5 * (low.0 + high.0) } else { line };
            let trial = (next, slope(next)?);
            if trial.1.abs() <= 1e-3 * -first {
                return Ok(next);
            }
            if trial.1 < 0.0 { low = trial } else { high = trial }
        }
        Ok(low.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::Stop;

    /// 12 queries of 9 documents with 4 features and labels from 0 to 3.
    fn data() -> Dataset {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 24) as f64;
        let features: Vec<f32> = (0..12 * 9 * 4).map(|i| random(i) as f32).collect();
        let label = |d: usize| (2.0 * random(4 * d) + random(4 * d + 1) + random(d + 5000)).floor().min(3.0) as f32;
        let labels = (0..12 * 9).map(label).collect();
        Dataset::new(4, features, labels, (0..12).map(|i| (i.to_string(), 9)).collect()).unwrap()
    }

    fn problem<'a>(data: &'a Dataset, stop: &'a Stop, c: f64) -> SvmObjective<'a> {
        SvmObjective { data, margins: Margins::new(data, stop), c }
    }

    /// The objective, pair by pair.
    fn value(data: &Dataset, weights: &[f64], c: f64) -> f64 {
        let scores = scores(data, weights);
        let mut losses = 0.0;
        for query in data.queries() {
            for (i, j) in query.rows.clone().flat_map(|i| query.rows.clone().map(move |j| (i, j))) {
                if data.labels()[i] > data.labels()[j] {
                    losses += (1.0 - scores[i] + scores[j]).max(0.0).powi(2);
                }
            }
        }
        0.5 * dot(weights, weights) + c * losses
    }

    #[test]
    fn weights_match_scikit_learn() {
        // scikit-learn 1.9.1: LinearSVC(C=C/2, loss="squared_hinge", fit_intercept=False, dual=False, tol=1e-12) on the 221
        // differences of pairs as one class and their negatives as the other, which counts each pair twice.
        let (data, stop) = (data(), Stop::new());
        let mut weights = vec![0.0; 4];
        for (c, expected) in [
            (0.001, [0.15999449, 0.00023135, -0.07507378, 0.05215087]),
            (0.1, [1.73970826, 0.25269196, -0.35753462, -0.15433152]),
            (10.0, [4.86903437, 1.94915956, -0.56357013, -0.86030435]),
        ] {
            // From the previous weights, and from zero.
            let loss = problem(&data, &stop, c).minimise(&mut weights).unwrap();
            let mut from_zero = vec![0.0; 4];
            problem(&data, &stop, c).minimise(&mut from_zero).unwrap();
            for weights in [&weights, &from_zero] {
                let near = |(weight, expected): (&f64, &f64)| (weight - expected).abs() < 1e-5;
                assert!(weights.iter().zip(&expected).all(near), "C {c}: {weights:?}, expected {expected:?}");
            }
            assert!((loss - value(&data, &weights, c)).abs() < 1e-9 * loss);
        }
    }

    #[test]
    fn the_gradient_matches_finite_differences() {
        let (data, stop, c) = (data(), Stop::new(), 0.3);
        let problem = problem(&data, &stop, c);
        let weights = [0.7, -0.4, 1.5, 0.2];
        let current = scores(&data, &weights);
        let (score_gradient, losses) = problem.gradients(&current).unwrap();
        assert!((0.5 * dot(&weights, &weights) + losses - value(&data, &weights, c)).abs() < 1e-9);
        let mut gradient = sum(&data, &score_gradient);
        step(&mut gradient, 1.0, &weights);
        for place in 0..4 {
            let at = |by: f64| {
                let mut moved = weights;
                moved[place] += by;
                value(&data, &moved, c)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((gradient[place] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{place}");
        }
    }
}
