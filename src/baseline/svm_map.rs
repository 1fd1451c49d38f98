//! SVM-map: a margin between the best ranking of a query and each other one, as wide as average precision loses.
//!
//! Y. Yue, T. Finley, F. Radlinski, T. Joachims: A Support Vector Method for Optimizing Average Precision (SIGIR 2007).
//! Minimised is `|w|^2 / 2 + C / n sum over queries of max over rankings of (1 - AP - w . (best - ranking))`, where a ranking
//! stands for the mean over its pairs of relevant and other documents of `x_i - x_j`, if i is ahead, or else `x_j - x_i`; n
//! counts the queries that have both. The worst ranking of each query is found as in section 3.2 ([`super::worst_ranking`]);
//! a [cutting plane](super::cutting_plane) for all queries at once is added until none is violated by more than epsilon, as in T.
//! Joachims, T. Finley, C.-N. Yu: Cutting-Plane Training of Structural SVMs (2009), which ends in the same weights.
//!
//! C is chosen on validation queries: without `c`, each epoch is one C of a grid, from the lowest up.

use super::algebra::{scores, sum};
use super::cutting_plane::{Plane, Planes};
use super::worst_ranking::Worst;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::memory;
use crate::metric::{Metric, MetricKind};
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "svm-map",
    help: "SVM-map: a margin to rankings of lower average precision",
    optimises: Some("a bound on lost average precision, and the length of the weights"),
    parameters: &[
        Parameter::number("c", 0.0, 0.0..=1e6, "what a loss of 1 costs; 0 takes one of a grid per epoch"),
        Parameter::number("epsilon", 0.001, 1e-6..=1.0, "the violation that is small enough"),
    ],
    epochs: GRID,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// The values of C that are tried, two for each power of ten.
const GRID: usize = 11;
const LOWEST: f64 = 0.01;

/// Planes after which a C is left as it is; some hundred are usual, and features that are not scaled may ask for many more.
const MOST_PLANES: usize = 1000;

const NOT_FINITE: &str = "svm-map: scores are no longer finite: scale the features with `scale`";

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SvmMap {
    /// 0 for the grid.
    c: f64,
    epsilon: f64,
    /// Labels of at least this are relevant.
    threshold: f32,
    planes: Planes,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let threshold = threshold(&*start.metric);
    if !start.train.queries().any(|query| has_both(query.labels, threshold)) {
        return Err(Error::Data(format!(
            "svm-map: no training query has documents with labels of at least {threshold} and others, so that there is \
             nothing to learn"
        )));
    }
    let planes = Planes::new(start.train.n_features());
    let state = SvmMap { c: start.number("c"), epsilon: start.number("epsilon"), threshold, planes };
    Rounds::start(start, state)
}

/// From which label on average precision counts a document as relevant.
fn threshold(metric: &dyn Metric) -> f32 {
    match metric.kind() {
        MetricKind::Ap { threshold, .. } => threshold,
        _ => 1.0,
    }
}

fn has_both(labels: &[f32], threshold: f32) -> bool {
    labels.iter().any(|&label| label >= threshold) && labels.iter().any(|&label| label < threshold)
}

impl Baseline for SvmMap {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let c = if self.c > 0.0 { self.c } else { LOWEST * 10f64.powf((round.number - 1) as f64 / 2.0) };
        self.planes.raise(c);
        self.planes.solve(0.01 * self.epsilon, round.stop)?;
        // In this round, the round before, and the best one.
        let plane_bytes = memory::bytes_of::<f64>(3 * round.train.n_features() as u64);
        let mut left = MOST_PLANES;
        let value = loop {
            round.stop.check()?;
            let plane = self.plane(round.train, round.stop)?;
            let violation = plane.height(&self.planes.weights);
            if !violation.is_finite() {
                return Err(Error::Training(NOT_FINITE.into()));
            }
            if violation <= self.planes.slack() + self.epsilon || left == 0 {
                break self.planes.value(violation.max(0.0));
            }
            memory::ask(plane_bytes, "one more cutting plane", "give a larger epsilon, or use fewer features")?;
            left -= 1;
            self.planes.add(plane);
            self.planes.solve(0.01 * self.epsilon, round.stop)?;
        };
        self.planes.forget();
        Ok(RoundEnd { loss: value, converged: self.c > 0.0 || round.number >= GRID })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.planes.weights, device)
    }
}

impl SvmMap {
    /// The mean over queries of what their worst rankings ask for.
    fn plane(&self, data: &Dataset, stop: &Stop) -> Result<Plane> {
        let scores = scores(data, &self.planes.weights);
        let worst = |query: usize| {
            let query = data.query(query);
            let both = has_both(query.labels, self.threshold);
            both.then(|| Worst::of(&scores[query.rows.clone()], query.labels, self.threshold, stop)).transpose()
        };
        let found: Vec<Option<Worst>> = (0..data.n_queries()).into_par_iter().map(worst).collect::<Result<_>>()?;
        let queries = found.iter().flatten().count() as f64;
        let mut times = vec![0.0; data.n_documents()];
        let mut lost = 0.0;
        for (worst, offset) in
            found.iter().zip(data.offsets()).filter_map(|(worst, offset)| Some((worst.as_ref()?, offset)))
        {
            lost += worst.lost / queries;
            times[*offset..].iter_mut().zip(&worst.differences).for_each(|(times, share)| *times = share / queries);
        }
        Ok(Plane { slope: sum(data, &times), lost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;

    /// Rankings of 30 queries, not all of which can be right.
    fn data() -> Dataset {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32;
        let features: Vec<f32> = (0..30 * 6 * 4).map(random).collect();
        let label = |(i, row): (usize, &[f32])| f32::from(u8::from(row[0] + row[1] + random(i + 3000) > 1.7));
        let labels = features.chunks(4).enumerate().map(label).collect();
        Dataset::new(4, features, labels, (0..30).map(|i| (i.to_string(), 6)).collect()).unwrap()
    }

    #[test]
    fn planes_reach_the_minimum() {
        let (data, metric, stop) = (data(), metric::parse("map").unwrap(), Stop::new());
        let (c, epsilon) = (5.0, 1e-4);
        let mut system = SvmMap { c, epsilon, threshold: 1.0, planes: Planes::new(4) };
        let round = Round { train: &data, metric: &*metric, number: 1, seed: 1, stop: &stop };
        let end = system.round(&round).unwrap();
        // What is minimised, at any weights.
        let value = |weights: &[f64]| {
            let mut other = system.clone();
            other.planes.weights = weights.to_vec();
            let square: f64 = weights.iter().map(|weight| weight * weight).sum();
            0.5 * square + c * other.plane(&data, &stop).unwrap().height(weights).max(0.0)
        };
        let best = value(&system.planes.weights);
        assert!((best - end.loss).abs() < 1e-9, "{best}, not {}", end.loss);
        assert!(best < value(&[0.0; 4]));
        // No point around is lower by more than the promise, which is C times epsilon.
        for place in 0..4 {
            for move_by in [-0.3, -0.03, 0.03, 0.3] {
                let mut weights = system.planes.weights.clone();
                weights[place] += move_by;
                assert!(value(&weights) > best - 1.1 * c * epsilon);
            }
        }
        assert!(best - system.planes.bound() <= 1.1 * c * epsilon, "{best} above {}", system.planes.bound());
    }

    #[test]
    fn each_c_of_the_grid_reaches_what_it_reaches_alone() {
        let (data, metric, stop) = (data(), metric::parse("map").unwrap(), Stop::new());
        let round = |number: usize| Round { train: &data, metric: &*metric, number, seed: 1, stop: &stop };
        let start = |c: f64| SvmMap { c, epsilon: 1e-5, threshold: 1.0, planes: Planes::new(4) };
        let mut grid = start(0.0);
        for number in 1..=GRID {
            let c = LOWEST * 10f64.powf((number - 1) as f64 / 2.0);
            let (end, alone) = (grid.round(&round(number)).unwrap(), start(c).round(&round(1)).unwrap());
            assert!((end.loss - alone.loss).abs() < 2.2e-5 * c, "C {c}: {}, not {}", end.loss, alone.loss);
            assert_eq!((end.converged, alone.converged), (number == GRID, true));
        }
    }

    #[test]
    fn more_planes_leave_less_below_them() {
        let (data, stop) = (data(), Stop::new());
        let mut system = SvmMap { c: 5.0, epsilon: 1e-4, threshold: 1.0, planes: Planes::new(4) };
        system.planes.raise(5.0);
        let mut bound = f64::NEG_INFINITY;
        for _ in 0..20 {
            let plane = system.plane(&data, &stop).unwrap();
            system.planes.add(plane);
            system.planes.solve(1e-8, &stop).unwrap();
            assert!(system.planes.bound() >= bound - 1e-7, "{} after {bound}", system.planes.bound());
            bound = system.planes.bound();
        }
        assert!(bound > 0.0);
    }
}
