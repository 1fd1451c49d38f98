//! Coordinate ascent: direct search for the weights with the best metric, one weight at a time.
//!
//! Metzler and Croft, "Linear feature-based models for information retrieval", Information Retrieval 10, 2007; the papers call it
//! grid or coordinate search. One epoch is one pass over all weights in random order. Each weight tries steps of ± 0.001 · 2^j,
//! j = 0, 1, ..., and zero, and takes the value with the best mean of the metric if that is better than the current one. All weights
//! are then divided by the sum of their absolute values, which changes no ranking. A pass that gains at most the tolerance ends a
//! start. The first start is from equal weights, the others from random ones. Defaults: 5 starts, 25 steps to each side, tolerance
//! 0.001.

use super::algebra::scores;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::Result;
use crate::metric::{Conventions, IncrementalEvaluator, LabelledQuery, Metric};
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "coordinate-ascent",
    help: "coordinate ascent: search for the best weights, one at a time",
    optimises: Some("the chosen metric on the training queries, one weight at a time"),
    parameters: &[
        Parameter::number("restarts", 5.0, 1.0..=1e6, "number of starts, the first from equal weights"),
        Parameter::number("steps", 25.0, 1.0..=60.0, "number of steps to each side of a weight"),
        Parameter::number("tolerance", 0.001, 0.0..=1.0, "a pass that gains at most this ends a start"),
    ],
    epochs: 200,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// The smallest step; each further one is twice as large.
const FIRST_STEP: f64 = 0.001;

/// Number of queries per task.
const QUERIES_AT_ONCE: usize = 16;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct CoordinateAscent {
    weights: Vec<f64>,
    starts_left: usize,
    steps: usize,
    tolerance: f64,
    /// Whether the next pass starts from new weights.
    begins: bool,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let features = start.train.n_features();
    let state = CoordinateAscent {
        weights: vec![1.0 / features.max(1) as f64; features],
        starts_left: start.number("restarts") as usize,
        steps: start.number("steps") as usize,
        tolerance: start.number("tolerance"),
        begins: false,
    };
    Rounds::start(start, state)
}

impl Baseline for CoordinateAscent {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let mut random = ChaCha8Rng::seed_from_u64(round.seed);
        random.set_stream(round.number as u64);
        if self.begins {
            self.weights.iter_mut().for_each(|weight| *weight = random.random_range(0.0..1.0));
            normalise(&mut self.weights);
        }
        let mut search = Search::new(round)?;
        search.start_from(&self.weights);
        let before = search.values(0, &[0.0])?[0];
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.shuffle(&mut random);
        let mut current = before;
        for feature in order {
            let steps = candidates(self.weights[feature], self.steps);
            let values = search.values(feature, &steps)?;
            let Some(best) = best_of(&values, current, search.sign) else { continue };
            // All weights 0 give no ranking.
            let mut weights = self.weights.clone();
            weights[feature] += steps[best];
            if normalise(&mut weights) {
                current = values[best];
                self.weights = weights;
                search.start_from(&self.weights);
            }
        }
        self.begins = search.sign * (current - before) <= self.tolerance;
        self.starts_left -= usize::from(self.begins).min(self.starts_left);
        Ok(RoundEnd { loss: f64::NAN, converged: self.starts_left == 0 })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

/// The steps for a weight in ascending order: those to each side, and the one to zero.
fn candidates(weight: f64, each_side: usize) -> Vec<f64> {
    let size = |power: usize| FIRST_STEP * 2f64.powi(power as i32);
    let down = (0..each_side).rev().map(|power| -size(power));
    let mut steps: Vec<f64> = down.chain((0..each_side).map(size)).chain([-weight]).collect();
    steps.sort_by(f64::total_cmp);
    steps
}

/// Index of the best value if it is better than the current one; ties go to the first.
fn best_of(values: &[f64], current: f64, sign: f64) -> Option<usize> {
    let mut best = None;
    let mut best_value = sign * current;
    for (at, &value) in values.iter().enumerate() {
        if sign * value > best_value {
            (best, best_value) = (Some(at), sign * value);
        }
    }
    best
}

/// Divides weights by the sum of their absolute values; returns false if that is 0 or infinite.
fn normalise(weights: &mut [f64]) -> bool {
    let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
    let possible = sum > 0.0 && sum.is_finite();
    if possible {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
    possible
}

/// Evaluates the training queries along lines in weight space.
struct Search<'a> {
    data: &'a Dataset,
    metric: &'a dyn Metric,
    /// -1 for a cost.
    sign: f64,
    stop: &'a Stop,
    /// Queries with relevant documents, with their first row.
    queries: Vec<(usize, LabelledQuery<'a>)>,
    /// Scores of all documents at the current weights.
    scores: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(round: &Round<'a>) -> Result<Self> {
        let (data, metric) = (round.train, round.metric);
        let mut queries = Vec::new();
        for query in data.queries().filter(|query| !metric.is_empty(query.labels)) {
            round.stop.check()?;
            queries.push((query.rows.start, LabelledQuery::new(metric, query.labels, &Conventions::default())));
        }
        let sign = if metric.is_cost() { -1.0 } else { 1.0 };
        Ok(Search { data, metric, sign, stop: round.stop, queries, scores: Vec::new() })
    }

    fn start_from(&mut self, weights: &[f64]) {
        self.scores = scores(self.data, weights);
    }

    /// Returns the mean of the metric if the weight of `feature` moves by each of `steps`, in ascending order.
    fn values(&self, feature: usize, steps: &[f64]) -> Result<Vec<f64>> {
        let sums: Vec<Vec<f64>> = self
            .queries
            .par_chunks(QUERIES_AT_ONCE)
            .map(|queries| self.sums(queries, feature, steps))
            .collect::<Result<_>>()?;
        // The chunks, and so the order of summation, do not depend on the number of threads.
        let count = self.queries.len().max(1) as f64;
        Ok((0..steps.len()).map(|at| sums.iter().map(|sums| sums[at]).sum::<f64>() / count).collect())
    }

    fn sums(&self, queries: &[(usize, LabelledQuery<'_>)], feature: usize, steps: &[f64]) -> Result<Vec<f64>> {
        let width = self.data.n_features();
        let mut evaluator = IncrementalEvaluator::new(self.metric, Conventions::default());
        let (mut order, mut moved) = (Vec::new(), Vec::new());
        let mut sums = vec![0.0; steps.len()];
        for (first, query) in queries {
            let rows = *first..first + query.documents();
            order.clear();
            order.extend(0..rows.len() as u32);
            evaluator.start(&order);
            for (sum, step) in sums.iter_mut().zip(steps) {
                self.stop.check()?;
                moved.clear();
                moved.extend(rows.clone().map(|row| {
                    let value = f64::from(self.data.features()[row * width + feature]);
                    (self.scores[row] + step * value) as f32
                }));
                *sum += evaluator.value(query, &moved);
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{self, Empty, Summary, evaluate};

    fn noisy(seed: u64, queries: usize) -> Dataset {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let documents = 8;
        let labels: Vec<f32> = (0..queries * documents).map(|_| random.random_range(0..3u8).into()).collect();
        let mut features = Vec::new();
        for label in &labels {
            let mut noise = || random.random_range(-1.0f32..1.0);
            features.extend([label * 0.4 + noise(), noise(), noise() - label * 0.3]);
        }
        let queries = (0..queries).map(|query| (query.to_string(), documents)).collect();
        Dataset::new(3, features, labels, queries).unwrap()
    }

    fn fresh() -> CoordinateAscent {
        CoordinateAscent { weights: vec![1.0 / 3.0; 3], starts_left: 2, steps: 25, tolerance: 0.001, begins: false }
    }

    fn mean(data: &Dataset, metric: &dyn Metric, weights: &[f64]) -> f64 {
        let rows = data.features().chunks_exact(3);
        let score = |row: &[f32]| row.iter().zip(weights).map(|(&x, w)| f64::from(x) * w).sum::<f64>() as f32;
        let scores: Vec<f32> = rows.map(score).collect();
        let conventions = Conventions { empty: Empty::Skip, ..Conventions::default() };
        Summary::of(&evaluate(metric, &scores, data.labels(), data.offsets(), &conventions).unwrap()).mean
    }

    #[test]
    fn values_along_a_line_equal_those_of_its_points() {
        let data = noisy(3, 40);
        for name in ["ndcg@3", "map", "arp", "err"] {
            let (metric, stop) = (metric::parse(name).unwrap(), Stop::new());
            let mut search =
                Search::new(&Round { train: &data, metric: &*metric, number: 1, seed: 1, stop: &stop }).unwrap();
            let weights = [0.2, -0.5, 0.3];
            search.start_from(&weights);
            let steps = candidates(weights[2], 25);
            assert_eq!(steps.len(), 51);
            assert!(steps.is_sorted() && steps.contains(&-0.3));
            let values = search.values(2, &steps).unwrap();
            for (step, value) in steps.iter().zip(&values) {
                let expected = mean(&data, &*metric, &[0.2, -0.5, 0.3 + step]);
                assert!((value - expected).abs() < 1e-6, "{name} {step}: {value}, expected {expected}");
            }
        }
    }

    #[test]
    fn the_steps_gain_most_of_what_a_dense_grid_gains() {
        let data = noisy(4, 40);
        let (metric, stop) = (metric::parse("ndcg@3").unwrap(), Stop::new());
        let mut search =
            Search::new(&Round { train: &data, metric: &*metric, number: 1, seed: 1, stop: &stop }).unwrap();
        let weights = [0.3, 0.4, 0.3];
        search.start_from(&weights);
        let reached = search.values(1, &candidates(0.4, 25)).unwrap().into_iter().fold(0.0, f64::max);
        let grid: Vec<f64> = (-4000..4000).map(|at| at as f64 / 1000.0).collect();
        let best = search.values(1, &grid).unwrap().into_iter().fold(0.0, f64::max);
        let before = search.values(1, &[0.0]).unwrap()[0];
        assert!(best > before && reached - before > 0.5 * (best - before), "{before} {reached} {best}");
    }

    #[test]
    fn the_metric_never_gets_worse_within_a_start() {
        for (name, sign) in [("ndcg@3", 1.0), ("map", 1.0), ("arp", -1.0)] {
            let data = noisy(5, 30);
            let (metric, stop) = (metric::parse(name).unwrap(), Stop::new());
            let mut system = fresh();
            let mut before = mean(&data, &*metric, &system.weights);
            let first = before;
            for number in 1.. {
                let (began, starts) = (system.begins, system.starts_left);
                let end =
                    system.round(&Round { train: &data, metric: &*metric, number, seed: 1, stop: &stop }).unwrap();
                assert!((system.weights.iter().map(|weight| weight.abs()).sum::<f64>() - 1.0).abs() < 1e-12);
                let value = mean(&data, &*metric, &system.weights);
                assert!(began || sign * (value - before) > -1e-6, "{name}, pass {number}: {value} after {before}");
                assert_eq!(system.begins, system.starts_left < starts);
                before = value;
                if end.converged {
                    break;
                }
            }
            assert!(sign * (before - first) > 0.01, "{name}: {before} from {first}");
        }
    }

    #[test]
    fn one_pass_by_hand() {
        // The first feature ranks in reverse, so its weight must change sign; the second is constant.
        let data = Dataset::new(2, vec![0.0, 1.0, 1.0, 1.0], vec![1.0, 0.0], vec![("a".into(), 2)]).unwrap();
        let (metric, stop) = (metric::parse("mrr").unwrap(), Stop::new());
        let round = Round { train: &data, metric: &*metric, number: 1, seed: 1, stop: &stop };
        let mut system = CoordinateAscent { weights: vec![0.5; 2], ..fresh() };
        system.round(&round).unwrap();
        assert!(system.weights[0] < 0.0, "{:?}", system.weights);
        assert!(!system.begins, "a gain of 1/2 continues the start");
        let before = system.weights.clone();
        system.round(&round).unwrap();
        assert_eq!((system.weights, system.begins, system.starts_left), (before, true, 1), "no gain ends the start");
    }
}
