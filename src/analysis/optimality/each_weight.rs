//! Tests whether each weight, moved alone, is at its best value.

use super::CertifyOptions;
use super::certificate::ROUNDING;
use super::direction::norm;
use super::movable::MovableNet;
use super::options::check_steps;
use super::sweep::Sweep;
use crate::data::Dataset;
use crate::error::Result;
use crate::metric::Metric;
use crate::model::Ranker;
use burn::tensor::Device;
use serde::Serialize;

/// Result of the per-weight check of section 7.1 of the 2009 paper: one weight at a time is moved in both directions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EachWeight {
    /// Name of the metric.
    pub metric: String,
    /// Whether lower values are better.
    pub cost: bool,
    /// Metric value at the model's weights.
    pub value: f64,
    /// Distances by which each weight was moved up and down.
    pub steps: Vec<f64>,
    /// Number of weights whose learned value is the best one.
    pub best_as_learned: usize,
    /// All weights, in the order of the net.
    pub weights: Vec<WeightPeak>,
}

/// One weight and its best move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeightPeak {
    /// Name, such as "feature 7 to unit 2".
    pub name: String,
    /// Learned value.
    pub weight: f64,
    /// The move that improves the metric most; 0 if the learned value is the best.
    pub step: f64,
    /// Improvement of the metric by that move.
    pub rise: f64,
    /// Smallest loss over all moves if none improves the metric: how distinct the optimum is.
    pub margin: f64,
}

impl EachWeight {
    /// Returns whether every learned weight is at its best value.
    pub fn holds(&self) -> bool {
        self.best_as_learned == self.weights.len()
    }
}

/// Moves each weight alone by plus and minus every step of every set of the options and evaluates the metric.
///
/// # Errors
/// The errors of [`certify`](super::certify).
pub fn each_weight(
    ranker: &Ranker,
    data: &Dataset,
    metric: &dyn Metric,
    _device: &Device,
    options: &CertifyOptions,
    progress: &mut dyn FnMut(f64),
) -> Result<EachWeight> {
    let net = MovableNet::of(ranker)?;
    check_steps(&options.steps.concat())?;
    let steps = options.distances(norm(net.weights.iter().map(|&w| f64::from(w))))?;
    let moves: Vec<f64> = steps.iter().map(|step| -step).chain(steps.iter().copied()).collect();
    let sweep = Sweep::new(&net, data, metric, options.conventions)?;
    let (cost, count) = (metric.is_cost(), net.weights.len());
    let values = sweep.alone(0..count, &moves, progress)?;
    let peak = |(index, line): (usize, &[f64])| {
        let improvement = |value: f64| if cost { sweep.value - value } else { value - sweep.value };
        let rises = line.iter().zip(&moves).map(|(&value, &step)| (improvement(value), step));
        let (rise, step) = rises.fold((f64::NEG_INFINITY, 0.0), |best, next| if next.0 > best.0 { next } else { best });
        let up = rise > ROUNDING;
        WeightPeak {
            name: net.name(index),
            weight: net.weights[index].into(),
            step: if up { step } else { 0.0 },
            rise: if up { rise } else { 0.0 },
            margin: if up { 0.0 } else { -rise.min(0.0) },
        }
    };
    let weights: Vec<WeightPeak> = values.chunks_exact(moves.len()).enumerate().map(peak).collect();
    Ok(EachWeight {
        metric: metric.name(),
        cost,
        value: sweep.value,
        steps,
        best_as_learned: weights.iter().filter(|weight| weight.step == 0.0).count(),
        weights,
    })
}
