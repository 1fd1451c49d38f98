//! RankProp: regression on target ranks that are recomputed after each fit, as close to the current ranking as labels allow.
//!
//! R. Caruana, S. Baluja, T. Mitchell: Using the Future to "Sort Out" the Present: Rankprop and Multitask Learning for Medical
//! Risk Evaluation (NIPS 1996). Per query, documents are ranked by label and, within a label, by their current scores. The targets
//! are these ranks, scaled to 0 to 1. The net is linear, as in the RankNet paper (2005, section 6.2). By default the least squares
//! are solved exactly: both steps then decrease the same squared error, so that training converges. With a `rate` a round is, as in
//! both papers, one epoch of stochastic gradient descent, document by document. Queries with equal labels would only confirm the
//! current ranking and are left out.

use super::algebra::{add, dot, scores, solve, step, sum};
use super::prank::{CHECK_INTERVAL, dot as dot_row, shuffled};
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds, linear};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Architecture, Scorer};
use crate::name::Parameter;
use crate::numeric::order::compare;
use crate::setting::{Kinds, ModelKind};
use crate::train::Learner;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

pub(super) const KIND: ModelKind = ModelKind {
    name: "rankprop",
    help: "RankProp: regression on target ranks recomputed from the current scores",
    optimises: Some("the squared error of ranks from labels and current scores"),
    parameters: &[Parameter::number(
        "rate",
        0.0,
        0.0..=1000.0,
        "learning rate of gradient descent, document by document; 0: exact least squares",
    )],
    epochs: 100,
    patience: 20,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Linear,
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// Relative decrease of the error at which training has converged.
const TOLERANCE: f64 = 1e-6;

/// Relative residual at which the equations of a fit are solved.
const EXACT: f64 = 1e-10;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RankProp {
    weights: Vec<f64>,
    /// Learned by gradient descent only.
    bias: f64,
    /// Learning rate of gradient descent; 0 for exact least squares.
    rate: f64,
    /// Squared error after the last round.
    error: Option<f64>,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    if !start.train.has_pairs() {
        let message = "rankprop: no training query has documents with different labels, so there is nothing to learn";
        return Err(Error::Data(message.into()));
    }
    Rounds::start(start, RankProp::new(start.train.n_features(), start.number("rate")))
}

/// Returns whether there are two different labels.
fn has_pairs(labels: &[f32]) -> bool {
    labels.iter().any(|label| *label != labels[0])
}

impl RankProp {
    fn new(width: usize, rate: f64) -> RankProp {
        RankProp { weights: vec![0.0; width], bias: 0.0, rate, error: None }
    }

    /// Target of each document, by its current score; `None` in queries with equal labels.
    fn all_targets(&self, round: &Round<'_>, current: &[f64]) -> Result<Vec<Option<f64>>> {
        let mut all = vec![None; round.train.n_documents()];
        for query in round.train.queries().filter(|query| has_pairs(query.labels)) {
            round.stop.check()?;
            let mut values = vec![0.0; query.labels.len()];
            targets(query.labels, &current[query.rows.clone()], &mut values);
            all[query.rows].iter_mut().zip(values).for_each(|(target, value)| *target = Some(value));
        }
        Ok(all)
    }

    /// An epoch of stochastic gradient descent on the squared error of the targets.
    fn descend(&mut self, round: &Round<'_>, targets: &[Option<f64>]) -> Result<RoundEnd> {
        let width = round.train.n_features();
        let mut error = 0.0;
        for (place, document) in shuffled(round).into_iter().enumerate() {
            if place % CHECK_INTERVAL == 0 {
                round.stop.check()?;
            }
            let Some(target) = targets[document] else { continue };
            let row = &round.train.features()[document * width..(document + 1) * width];
            let residual = target - self.bias - dot_row(&self.weights, row);
            add(&mut self.weights, row, self.rate * residual);
            self.bias += self.rate * residual;
            error += residual * residual;
        }
        Ok(RoundEnd { loss: error / round.train.n_queries() as f64, converged: false })
    }
}

impl Baseline for RankProp {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let data = round.train;
        let current = scores(data, &self.weights);
        let targets = self.all_targets(round, &current)?;
        if self.rate > 0.0 {
            return self.descend(round, &targets);
        }
        let mut residual: Vec<f64> =
            targets.iter().zip(&current).map(|(target, current)| target.unwrap_or(0.0) - current).collect();
        center(data, &mut residual);
        // In units of each feature's deviation the equations are well conditioned, whatever the scale of the features.
        let units = units(data);
        let in_units =
            |values: &[f64]| -> Vec<f64> { values.iter().zip(&units).map(|(value, unit)| value * unit).collect() };
        let change = solve(&in_units(&sum(data, &residual)), EXACT, |direction| {
            round.stop.check()?;
            let mut moved = scores(data, &in_units(direction));
            center(data, &mut moved);
            Ok(in_units(&sum(data, &moved)))
        })?;
        let mut change = in_units(&change);
        let mut moved = scores(data, &change);
        center(data, &mut moved);
        step(&mut residual, -1.0, &moved);
        step(&mut change, 1.0, &self.weights);
        self.weights = change;
        let error = dot(&residual, &residual);
        let previous = self.error.replace(error);
        let converged = previous.is_some_and(|previous| previous - error <= TOLERANCE * previous);
        Ok(RoundEnd { loss: error / data.n_queries() as f64, converged })
    }

    fn scorer(&self, _: &Dataset, device: &Device) -> Result<Scorer> {
        linear(&self.weights, device)
    }
}

/// Ranks by label and then by score, from 0 for the lowest to 1 for the highest; ties share their mean.
fn targets(labels: &[f32], scores: &[f64], targets: &mut [f64]) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let compare =
        |a: usize, b: usize| compare(labels[a].into(), labels[b].into()).then_with(|| compare(scores[a], scores[b]));
    order.sort_by(|&a, &b| compare(a, b));
    let last = (labels.len() - 1) as f64;
    let mut start = 0;
    for group in order.chunk_by(|&a, &b| compare(a, b).is_eq()) {
        let mean = start as f64 + (group.len() - 1) as f64 / 2.0;
        group.iter().for_each(|&document| targets[document] = mean / last);
        start += group.len();
    }
}

/// Inverse norm of each feature's values around their means within queries; 0 for a constant feature.
fn units(data: &Dataset) -> Vec<f64> {
    let width = data.n_features();
    let mut squares = vec![0.0; width];
    for query in data.queries().filter(|query| has_pairs(query.labels)) {
        let count = query.labels.len() as f64;
        let mut means = vec![0.0; width];
        query.features.chunks_exact(width.max(1)).for_each(|row| add(&mut means, row, count.recip()));
        for row in query.features.chunks_exact(width.max(1)) {
            for ((square, &value), mean) in squares.iter_mut().zip(row).zip(&means) {
                *square += (f64::from(value) - mean).powi(2);
            }
        }
    }
    squares.into_iter().map(|square: f64| if square > 0.0 { square.sqrt().recip() } else { 0.0 }).collect()
}

/// Subtracts the mean of its query from each value, as rankings do not depend on it; 0 for queries with equal labels.
fn center(data: &Dataset, values: &mut [f64]) {
    for query in data.queries() {
        let values = &mut values[query.rows];
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let keep = has_pairs(query.labels);
        values.iter_mut().for_each(|value| *value = if keep { *value - mean } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;
    use crate::stop::Stop;

    #[test]
    fn targets_by_hand() {
        let mut ranks = [0.0; 5];
        targets(&[1.0, 0.0, 1.0, 0.0, 2.0], &[0.3, 9.0, 0.1, -1.0, 0.2], &mut ranks);
        assert_eq!(ranks, [0.75, 0.25, 0.5, 0.0, 1.0]);
        // Before the first round all scores are equal.
        targets(&[1.0, 0.0, 1.0, 0.0, 2.0], &[0.0; 5], &mut ranks);
        assert_eq!(ranks, [2.5 / 4.0, 0.5 / 4.0, 2.5 / 4.0, 0.5 / 4.0, 1.0]);
    }

    #[test]
    fn zeros_of_either_sign_are_equal_scores() {
        let mut ranks = [0.0; 4];
        targets(&[1.0, 0.0, 1.0, -0.0], &[-0.0, 0.0, 0.0, -0.0], &mut ranks);
        assert_eq!(ranks, [2.5 / 3.0, 0.5 / 3.0, 2.5 / 3.0, 0.5 / 3.0]);
    }

    /// The first fit in closed form, from the normal equations of two features whose scales differ by nine orders of magnitude.
    #[test]
    fn the_fit_is_exact_for_any_scale_of_features() {
        let rows = [[1e6f32, 3e-3], [4e6, 1e-3], [9e6, 4e-3], [2e6, 1e-3], [5e6, 5e-3]];
        let labels = vec![0.0, 1.0, 2.0, 1.0, 0.0];
        let data = Dataset::new(2, rows.concat(), labels.clone(), vec![("a".into(), 5)]).unwrap();
        let (metric, stop) = (metric::parse("ndcg").unwrap(), Stop::new());
        let mut system = RankProp::new(2, 0.0);
        system.round(&Round { train: &data, metric: &*metric, number: 1, seed: 1, stop: &stop }).unwrap();
        let mut target = [0.0; 5];
        targets(&labels, &[0.0; 5], &mut target);
        let centred = |values: [f64; 5]| values.map(|value| value - values.iter().sum::<f64>() / 5.0);
        let [a, b] = [0, 1].map(|feature| centred(rows.map(|row| f64::from(row[feature]))));
        let t = centred(target);
        let (aa, ab, bb, at, bt) = (dot(&a, &a), dot(&a, &b), dot(&b, &b), dot(&a, &t), dot(&b, &t));
        let determinant = aa * bb - ab * ab;
        let expected = [(bb * at - ab * bt) / determinant, (aa * bt - ab * at) / determinant];
        for (weight, expected) in system.weights.iter().zip(expected) {
            assert!((weight / expected - 1.0).abs() < 1e-8, "{:?}, expected {expected:?}", system.weights);
        }
    }

    /// With a small learning rate, an epoch takes one step against the gradient of the squared error, up to terms of second order.
    #[test]
    fn an_epoch_of_descent_follows_the_gradient() {
        let (features, labels) = (vec![0.2f32, 0.9, 0.7, 0.1, 0.5, 0.4], vec![0.0, 2.0, 1.0]);
        let queries = vec![("a".into(), 3), ("b".into(), 2)];
        // The documents of the second query have equal labels and no targets.
        let both = [features.clone(), vec![9.0; 4]].concat();
        let data = Dataset::new(2, both, [labels, vec![1.0; 2]].concat(), queries).unwrap();
        let (metric, stop) = (metric::parse("ndcg").unwrap(), Stop::new());
        let rate = 1e-6;
        let mut system = RankProp { weights: vec![0.3, -0.2], bias: 0.1, ..RankProp::new(2, rate) };
        let before = system.clone();
        let end = system.round(&Round { train: &data, metric: &*metric, number: 1, seed: 1, stop: &stop }).unwrap();
        // Labels 0, 2, 1 without ties: ranks 0, 2, 1.
        let rows: Vec<[f64; 2]> = features.chunks(2).map(|row| [f64::from(row[0]), f64::from(row[1])]).collect();
        let residuals: Vec<f64> = rows
            .iter()
            .zip([0.0, 1.0, 0.5])
            .map(|(row, target)| target - (0.3 * row[0] - 0.2 * row[1] + 0.1))
            .collect();
        for feature in 0..2 {
            let descent: f64 = rows.iter().zip(&residuals).map(|(row, residual)| row[feature] * residual).sum();
            let change = (system.weights[feature] - before.weights[feature]) / rate;
            assert!((change - descent).abs() < 1e-5, "{change}, expected {descent}");
        }
        let change = (system.bias - before.bias) / rate;
        assert!((change - residuals.iter().sum::<f64>()).abs() < 1e-5, "{change}");
        let error: f64 = residuals.iter().map(|residual| residual * residual).sum();
        assert!((end.loss - error / 2.0).abs() < 1e-5 && !end.converged);
    }

    #[test]
    fn the_error_decreases_until_convergence() {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32;
        let features: Vec<f32> = (0..40 * 7 * 3).map(random).collect();
        let label = |(i, row): (usize, &[f32])| (2.0 * row[0] + row[1] + 2.0 * random(i + 5000)).floor().min(2.0);
        let labels = features.chunks(3).enumerate().map(label).collect();
        let data = Dataset::new(3, features, labels, (0..40).map(|i| (i.to_string(), 7)).collect()).unwrap();
        let (metric, stop) = (metric::parse("ndcg").unwrap(), Stop::new());
        let mut system = RankProp::new(3, 0.0);
        let mut last = f64::INFINITY;
        for number in 1..100 {
            let round = Round { train: &data, metric: &*metric, number, seed: 1, stop: &stop };
            let end = system.round(&round).unwrap();
            // The first targets include ties with mean ranks; later ones do not.
            assert!(number == 2 || end.loss <= last * (1.0 + 1e-9), "{number}: {} after {last}", end.loss);
            last = end.loss;
            if end.converged {
                assert!(system.weights[0] > system.weights[1] && system.weights[1] > 0.0, "{:?}", system.weights);
                return;
            }
        }
        panic!("no convergence after 100 rounds");
    }
}
