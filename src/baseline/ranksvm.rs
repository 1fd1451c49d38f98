//! RankSVM: the widest margin between the documents of a query that should be apart.
//!
//! R. Herbrich, T. Graepel, K. Obermayer: Large Margin Rank Boundaries for Ordinal Regression (2000); T. Joachims: Optimizing
//! Search Engines using Clickthrough Data (KDD 2002). Minimised is
//!
//! `|w|^2 / 2 + C sum over pairs of max(0, 1 - w . (x_i - x_j))^2`
//!
//! over all pairs of a query in which i has the higher label, with the squared loss of O. Chapelle, S. S. Keerthi: Efficient
//! Algorithms for Ranking with SVMs (2010), and exactly, by Newton's method. The sum is over all pairs of all queries, as
//! scikit-learn's `LinearSVC(C, loss="squared_hinge", fit_intercept=False)` has it on the differences; svm_rank takes plain
//! losses and divides its C by the number of queries.
//!
//! C was chosen on validation queries for LETOR's results: without `c`, each epoch is one C of a grid, from the lowest up.

use super::algebra::{dot, scores, solve, step, sum};
use super::margins::Margins;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "ranksvm",
    help: "RankSVM: the widest margin between documents of a query",
    optimises: Some("squared hinge losses of pairs, and the length of the weights"),
    parameters: &[Parameter::number("c", 0.0, 0.0..=1e6, "what a loss of 1 costs; 0 takes one of a grid per epoch")],
    epochs: GRID,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// The values of C that are tried, two for each power of ten.
const GRID: usize = 13;
const LOWEST: f64 = 1e-6;

/// The gradient, as part of that at zero weights, at which the minimum is reached.
const TOLERANCE: f64 = 1e-7;
/// Newton steps; some ten are usual.
const MOST_STEPS: usize = 200;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RankSvm {
    /// 0 for the grid.
    c: f64,
    weights: Vec<f64>,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    if !Margins::new(start.train, &Stop::new()).has_pairs() {
        let message = "ranksvm: no training query has documents of different labels, so that there is nothing to learn";
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

/// What is minimised.
struct SvmObjective<'a> {
    data: &'a Dataset,
    margins: Margins<'a>,
    c: f64,
}

impl SvmObjective<'_> {
    /// Moves the weights to the minimum, and returns the value there.
    fn minimise(&self, weights: &mut [f64]) -> Result<f64> {
        let nothing = vec![0.0; self.data.n_documents()];
        let start = sum(self.data, &self.gradients(&nothing)?.0);
        let enough = TOLERANCE * dot(&start, &start).sqrt();
        let mut now = scores(self.data, weights);
        for _ in 0..MOST_STEPS {
            let mut gradient = sum(self.data, &self.gradients(&now)?.0);
            step(&mut gradient, 1.0, weights);
            let length = dot(&gradient, &gradient).sqrt();
            if !length.is_finite() {
                let message = "ranksvm: scores are no longer finite: scale the features with `scale`";
                return Err(Error::Training(message.into()));
            }
            if length <= enough {
                break;
            }
            let down: Vec<f64> = gradient.iter().map(|slope| -slope).collect();
            let order = self.margins.order(&now)?;
            let direction = solve(&down, 0.01, |direction| self.curvature(&now, &order, direction))?;
            let moved = scores(self.data, &direction);
            let along = self.along(weights, &direction, &now, &moved)?;
            if along == 0.0 {
                break;
            }
            step(weights, along, &direction);
            now = scores(self.data, weights);
        }
        Ok(0.5 * dot(weights, weights) + self.gradients(&now)?.1)
    }

    /// The derivatives of the losses by the scores, and the losses.
    fn gradients(&self, scores: &[f64]) -> Result<(Vec<f64>, f64)> {
        let sums = self.margins.sums(scores, &self.margins.order(scores)?, scores)?;
        let mut losses = 0.0;
        let slope = |(sums, &score): (_, &f64)| {
            let super::margins::PairSums { better, of_worse, worse, of_better } = sums;
            let as_better: f64 = better * (1.0 - score) + of_worse;
            let slope = worse * (1.0 + score) - of_better - as_better;
            // A pair's loss is its margin's lack, times 1 less the scores' difference.
            losses += as_better + score * slope;
            2.0 * self.c * slope
        };
        let slopes = sums.into_iter().zip(scores).map(slope).collect();
        Ok((slopes, self.c * losses))
    }

    /// The second derivatives at the scores `now`, whose order is given, times a direction.
    fn curvature(&self, now: &[f64], order: &[u32], direction: &[f64]) -> Result<Vec<f64>> {
        let moved = scores(self.data, direction);
        let sums = self.margins.sums(now, order, &moved)?;
        let bend = sums
            .iter()
            .zip(&moved)
            .map(|(sums, moved)| 2.0 * self.c * ((sums.better + sums.worse) * moved - sums.of_worse - sums.of_better));
        let mut product = sum(self.data, &bend.collect::<Vec<f64>>());
        step(&mut product, 1.0, direction);
        Ok(product)
    }

    /// How far the value falls along a direction: the slope along it rises all the way, and is looked for at 0.
    fn along(&self, weights: &[f64], direction: &[f64], now: &[f64], moved: &[f64]) -> Result<f64> {
        let (straight, square) = (dot(weights, direction), dot(direction, direction));
        let slope = |t: f64| -> Result<f64> {
            let scores: Vec<f64> = now.iter().zip(moved).map(|(now, moved)| now + t * moved).collect();
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
            // Where a line through both is 0, and now and then the middle, in case that moves one end only.
            let line = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
            let next = if round % 3 == 2 { 0.5 * (low.0 + high.0) } else { line };
            let found = (next, slope(next)?);
            if found.1.abs() <= 1e-3 * -first {
                return Ok(next);
            }
            if found.1 < 0.0 { low = found } else { high = found }
        }
        Ok(low.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 queries of 9 documents of 4 features, labels of 0 to 3.
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

    /// What is minimised, pair by pair.
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
    fn weights_are_those_of_scikit_learn() {
        // scikit-learn 1.9.1: LinearSVC(C=C/2, loss="squared_hinge", fit_intercept=False, dual=False, tol=1e-12) on the 221
        // differences of pairs as one class and their opposites as the other, which counts each pair twice.
        let (data, stop) = (data(), Stop::new());
        let mut weights = vec![0.0; 4];
        for (c, expected) in [
            (0.001, [0.15999449, 0.00023135, -0.07507378, 0.05215087]),
            (0.1, [1.73970826, 0.25269196, -0.35753462, -0.15433152]),
            (10.0, [4.86903437, 1.94915956, -0.56357013, -0.86030435]),
        ] {
            // On from the last ones, and from nothing.
            let found = problem(&data, &stop, c).minimise(&mut weights).unwrap();
            let mut anew = vec![0.0; 4];
            problem(&data, &stop, c).minimise(&mut anew).unwrap();
            for weights in [&weights, &anew] {
                let near = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-5;
                assert!(weights.iter().zip(&expected).all(near), "C {c}: {weights:?}, not {expected:?}");
            }
            assert!((found - value(&data, &weights, c)).abs() < 1e-9 * found);
        }
    }

    #[test]
    fn slopes_are_those_of_the_value() {
        let (data, stop, c) = (data(), Stop::new(), 0.3);
        let problem = problem(&data, &stop, c);
        let weights = [0.7, -0.4, 1.5, 0.2];
        let now = scores(&data, &weights);
        let (slopes, losses) = problem.gradients(&now).unwrap();
        assert!((0.5 * dot(&weights, &weights) + losses - value(&data, &weights, c)).abs() < 1e-9);
        let mut gradient = sum(&data, &slopes);
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

    #[test]
    fn nothing_to_learn_is_an_error() {
        let data = Dataset::new(1, vec![0.0; 3], vec![0.0, 1.0, 1.0], vec![("a".into(), 1), ("b".into(), 2)]).unwrap();
        assert!(!Margins::new(&data, &Stop::new()).has_pairs());
    }
}
