//! SVM-map: a margin between the best ranking of a query and every other one, as large as its loss of average precision.
//!
//! Y. Yue, T. Finley, F. Radlinski, T. Joachims: A Support Vector Method for Optimizing Average Precision (SIGIR 2007). The objective
//! is `|w|^2 / 2 + C / n sum over queries of max over rankings of (1 - AP - w . (best - ranking))`, where a ranking stands for the
//! mean over its pairs of relevant and irrelevant documents of `x_i - x_j`, if i is ahead, or else `x_j - x_i`; n is the number of
//! queries with both. The most violated ranking of each query is found as in section 3.2 ([`super::worst_ranking`]). One
//! [cutting plane](super::cutting_plane) for all queries is added until none is violated by more than epsilon, as in T. Joachims,
//! T. Finley, C.-N. Yu: Cutting-Plane Training of Structural SVMs (2009), with the same solution.
//!
//! C is selected on validation queries: without `c`, each epoch tries one C of a grid, in ascending order.

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
    help: "SVM-map: maximum margin for average precision",
    optimises: Some("a bound on lost average precision and the norm of the weights"),
    parameters: &[
        Parameter::number("c", 0.0, 0.0..=1e6, "cost of a loss of 1; 0 tries one value of a grid per epoch"),
        Parameter::number("epsilon", 0.001, 1e-6..=1.0, "tolerance for violated constraints"),
    ],
    epochs: GRID,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// Number of values of C in the grid, two per power of ten.
const GRID: usize = 11;
const LOWEST: f64 = 0.01;

/// Maximum number of planes per C. Some hundred are typical; features that are not scaled may need many more.
const MAX_PLANES: usize = 1000;

const NOT_FINITE: &str = "svm-map: scores are not finite: scale the features with `scale`";

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SvmMap {
    /// 0 for the grid.
    c: f64,
    epsilon: f64,
    /// Minimum label of a relevant document.
    threshold: f32,
    planes: Planes,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let threshold = threshold(&*start.metric);
    if !start.train.queries().any(|query| has_both(query.labels, threshold)) {
        return Err(Error::Data(format!(
            "svm-map: no training query has labels both below and at least {threshold}, so there is nothing to learn"
        )));
    }
    let planes = Planes::new(start.train.n_features());
    let state = SvmMap { c: start.number("c"), epsilon: start.number("epsilon"), threshold, planes };
    Rounds::start(start, state)
}

/// Minimum label of a relevant document in average precision.
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
        // In the current state, the previous one and the best one.
        let plane_bytes = memory::bytes_of::<f64>(3 * round.train.n_features() as u64);
        let mut remaining = MAX_PLANES;
        let value = loop {
            round.stop.check()?;
            let plane = self.plane(round.train, round.stop)?;
            let violation = plane.height(&self.planes.weights);
            if !violation.is_finite() {
                return Err(Error::Training(NOT_FINITE.into()));
            }
            if violation <= self.planes.slack() + self.epsilon || remaining == 0 {
                break self.planes.value(violation.max(0.0));
            }
            memory::ask(plane_bytes, "one more cutting plane", "use a larger epsilon or fewer features")?;
            remaining -= 1;
            self.planes.add(plane);
            self.planes.solve(0.01 * self.epsilon, round.stop)?;
        };
        self.planes.prune();
        Ok(RoundEnd { loss: value, converged: self.c > 0.0 || round.number >= GRID })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.planes.weights, device)
    }
}

impl SvmMap {
    /// The mean over queries of the constraints from their most violated rankings.
    fn plane(&self, data: &Dataset, stop: &Stop) -> Result<Plane> {
        let scores = scores(data, &self.planes.weights);
        let worst = |query: usize| {
            let query = data.query(query);
            let both = has_both(query.labels, self.threshold);
            both.then(|| Worst::of(&scores[query.rows.clone()], query.labels, self.threshold, stop)).transpose()
        };
        let rankings: Vec<Option<Worst>> = (0..data.n_queries()).into_par_iter().map(worst).collect::<Result<_>>()?;
        let queries = rankings.iter().flatten().count() as f64;
        let mut times = vec![0.0; data.n_documents()];
        let mut lost = 0.0;
        for (worst, offset) in
            rankings.iter().zip(data.offsets()).filter_map(|(worst, offset)| Some((worst.as_ref()?, offset)))
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

    /// 30 queries that cannot all be ranked perfectly.
    fn data() -> Dataset {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32;
        let features: Vec<f32> = (0..30 * 6 * 4).map(random).collect();
        let label = |(i, row): (usize, &[f32])| f32::from(u8::from(row[0] + row[1] + random(i + 3000) > 1.7));
        let labels = features.chunks(4).enumerate().map(label).collect();
        Dataset::new(4, features, labels, (0..30).map(|i| (i.to_string(), 6)).collect()).unwrap()
    }

    #[test]
    fn cutting_planes_reach_the_minimum() {
        let (data, metric, stop) = (data(), metric::parse("map").unwrap(), Stop::new());
        let (c, epsilon) = (5.0, 1e-4);
        let mut system = SvmMap { c, epsilon, threshold: 1.0, planes: Planes::new(4) };
        let round = Round { train: &data, metric: &*metric, number: 1, seed: 1, stop: &stop };
        let end = system.round(&round).unwrap();
        // The objective at any weights.
        let value = |weights: &[f64]| {
            let mut other = system.clone();
            other.planes.weights = weights.to_vec();
            let square: f64 = weights.iter().map(|weight| weight * weight).sum();
            0.5 * square + c * other.plane(&data, &stop).unwrap().height(weights).max(0.0)
        };
        let best = value(&system.planes.weights);
        assert!((best - end.loss).abs() < 1e-9, "{best}, expected {}", end.loss);
        assert!(best < value(&[0.0; 4]));
        // No neighbouring point is lower by more than the tolerance, C times epsilon.
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
    fn each_c_of_the_grid_reaches_its_minimum() {
        let (data, metric, stop) = (data(), metric::parse("map").unwrap(), Stop::new());
        let round = |number: usize| Round { train: &data, metric: &*metric, number, seed: 1, stop: &stop };
        let start = |c: f64| SvmMap { c, epsilon: 1e-5, threshold: 1.0, planes: Planes::new(4) };
        let mut grid = start(0.0);
        for number in 1..=GRID {
            let c = LOWEST * 10f64.powf((number - 1) as f64 / 2.0);
            let (end, alone) = (grid.round(&round(number)).unwrap(), start(c).round(&round(1)).unwrap());
            assert!((end.loss - alone.loss).abs() < 2.2e-5 * c, "C {c}: {}, expected {}", end.loss, alone.loss);
            assert_eq!((end.converged, alone.converged), (number == GRID, true));
        }
    }

    #[test]
    fn more_planes_raise_the_bound() {
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
