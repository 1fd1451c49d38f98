//! PRank on the features and all products of two features.
//!
//! K. Crammer, Y. Singer: Pranking with Ranking (NIPS 2001) with a quadratic kernel, computed as in the RankNet paper (2005,
//! section 6.2): "taking the features, and every quadratic combination, as a new feature set". Everything else is as in
//! [`prank`](super::prank). The model is a polynomial, stored as a sum of squares.

use super::prank::{LabelBounds, pass};
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::memory;
use crate::model::{Architecture, KernelKind, KernelRanker, Scorer};
use crate::setting::{Kinds, ModelKind};
use crate::train::Learner;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "prank-quadratic",
    help: "PRank on features and their products",
    optimises: super::prank::KIND.optimises,
    parameters: &[],
    epochs: 100,
    patience: 20,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Kernel { points: 0 },
    kinds: Kinds::BASELINES,
    is_pointwise: true,
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct QuadraticPrank {
    polynomial: Quadratic,
    thresholds: LabelBounds,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let thresholds = LabelBounds::new(start.train, KIND.name)?;
    let features = start.train.n_features() as u64;
    let products = features.saturating_mul(features.saturating_add(3)) / 2;
    // The states before and after a round and of the best round, the scorer of each, and a checkpoint as text.
    let bytes = memory::bytes_of::<f64>(products).saturating_mul(12);
    memory::ask(bytes, &format!("{}: {products} products of features", KIND.name), "use fewer features")?;
    Rounds::start(start, QuadraticPrank { polynomial: Quadratic::zero(start.train.n_features()), thresholds })
}

impl Baseline for QuadraticPrank {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let width = round.train.n_features();
        pass(round, |document| {
            let row = &round.train.features()[document * width..(document + 1) * width];
            let score = self.polynomial.value(row);
            let (steps, error) = self.thresholds.learn(score, round.train.labels()[document]);
            self.polynomial.add(row, steps);
            error
        })
    }

    fn scorer(&self, _: &Dataset, _: &Device) -> Result<Scorer> {
        self.polynomial.ranker().map(Scorer::Kernel)
    }
}

/// A polynomial of degree 2 without a constant: `sum over i of x_i (a_i + sum over j >= i of b_ij x_j)`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Quadratic {
    features: usize,
    /// For each feature `a_i`, then its `b_ij`.
    terms: Vec<f64>,
}

impl Quadratic {
    fn zero(features: usize) -> Self {
        Quadratic { features, terms: vec![0.0; features * (features + 3) / 2] }
    }

    /// Each feature with its terms.
    fn rows(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let mut rest = self.terms.as_slice();
        (0..self.features).map(move |feature| {
            let (row, after) = rest.split_at(self.features - feature + 1);
            rest = after;
            (feature, row)
        })
    }

    fn value(&self, x: &[f32]) -> f64 {
        let row = |(feature, terms): (usize, &[f64])| {
            let products = terms[1..].iter().zip(&x[feature..]).map(|(term, &value)| term * f64::from(value));
            f64::from(x[feature]) * (terms[0] + products.sum::<f64>())
        };
        self.rows().map(row).sum()
    }

    /// Adds the features and products of a document, multiplied by `times`.
    fn add(&mut self, x: &[f32], times: f64) {
        if times == 0.0 {
            return;
        }
        let mut terms = self.terms.iter_mut();
        for (feature, &value) in x.iter().enumerate() {
            let factor = times * f64::from(value);
            let others = std::iter::once(&1.0f32).chain(&x[feature..]);
            others.zip(&mut terms).for_each(|(&other, term)| *term += factor * f64::from(other));
        }
    }

    /// The polynomial as a sum of squares: `x_i y = ((s x_i + y / s)^2 - (s x_i - y / s)^2) / 4` for each feature, where `y` is its
    /// factor and `s` gives both the same size.
    fn ranker(&self) -> Result<KernelRanker> {
        let (mut points, mut offsets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (feature, terms) in self.rows() {
            let size = terms.iter().fold(0.0, |size: f64, term| size.max(term.abs())).sqrt();
            if size == 0.0 {
                continue;
            }
            for sign in [1.0, -1.0] {
                let start = points.len();
                points.resize(start + self.features, 0.0);
                let others = points[start + feature..].iter_mut().zip(&terms[1..]);
                others.for_each(|(point, term)| *point = (sign * term / size) as f32);
                points[start + feature] = (size + sign * terms[1] / size) as f32;
                offsets.push((sign * terms[0] / size) as f32);
                weights.push((sign * 0.25) as f32);
            }
        }
        let ranker = KernelRanker::new(self.features, KernelKind::Polynomial { degree: 2 }, points, offsets, weights);
        ranker.map_err(|error| Error::Training(format!("{}: {error}: scale the features with `scale`", KIND.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_matches_its_formula() {
        let mut polynomial = Quadratic::zero(2);
        polynomial.add(&[2.0, 3.0], 1.0);
        // x, x^2, x y, y, y^2.
        assert_eq!(polynomial.terms, [2.0, 4.0, 6.0, 3.0, 9.0]);
        polynomial.add(&[1.0, -1.0], -2.0);
        assert_eq!(polynomial.terms, [0.0, 2.0, 8.0, 5.0, 7.0]);
        let (x, y) = (0.5, 2.0);
        assert_eq!(polynomial.value(&[x as f32, y as f32]), 2.0 * x * x + 8.0 * x * y + 5.0 * y + 7.0 * y * y);
    }

    #[test]
    fn the_sum_of_squares_equals_the_polynomial() {
        let random = |i: u64| ((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32 - 0.5;
        let row = |i: u64| (0..7).map(|j| 2.0 * random(7 * i + j)).collect::<Vec<f32>>();
        let mut polynomial = Quadratic::zero(7);
        assert_eq!(polynomial.ranker().unwrap().weights().len(), 0);
        (0..50).for_each(|i| polynomial.add(&row(i), f64::from(random(1000 + i)).signum()));
        let ranker = polynomial.ranker().unwrap();
        assert_eq!(ranker.weights().len(), 14);
        for i in 100..200 {
            let (score, exact) = (ranker.score_rows(&row(i), 7).unwrap()[0], polynomial.value(&row(i)));
            assert!((f64::from(score) - exact).abs() < 1e-5 * (1.0 + exact.abs()), "{score}, expected {exact}");
        }
    }
}
