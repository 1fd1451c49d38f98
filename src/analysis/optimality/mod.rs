//! Monte-Carlo test of whether a model is at a local optimum of a metric, with a confidence bound.

mod bound;
mod certificate;
mod direction;
mod each_weight;
mod forward;
mod movable;
mod options;
mod sweep;

pub use bound::{directions_needed, miss_probability, share_not_refuted};
pub use certificate::{Certificate, Envelope, Move, StepReport};
pub use each_weight::{EachWeight, WeightPeak, each_weight};
pub use options::{COARSE_STEPS, CertifyOptions, FINE_STEPS};

use crate::data::Dataset;
use crate::error::Result;
use crate::memory;
use crate::metric::Metric;
use crate::model::Ranker;
use burn::tensor::Device;
use certificate::ROUNDING;
use direction::{norm, on_sphere};
use movable::MovableNet;
use rayon::prelude::*;
use sweep::Sweep;

/// Number of directions per pass if the search stops at the first improvement.
const CAUTIOUS: usize = 16;

/// Moves all weights of a ranker along random directions and evaluates the metric on data that is scaled as the ranker expects.
///
/// `progress` is called with the completed fraction of the work. All computation runs on the host, whatever the ranker's device,
/// with the arithmetic of host scoring.
/// done on the host, in the arithmetic of scoring there.
///
/// ```
/// use burnrank::analysis::optimality::{CertifyOptions, certify};
/// use burnrank::{Dataset, RankerConfig, device};
/// use burnrank::metric::parse;
/// // The label is the first feature: a net that uses only this feature is optimal, one that uses the second is not.
/// let features = vec![0.0, 0.3, 1.0, 0.1, 2.0, -0.2, 3.0, 0.5];
/// let data = Dataset::new(2, features, vec![0.0, 1.0, 2.0, 3.0], vec![("q".into(), 4)])?;
/// let device = device::open("auto")?;
/// let options = CertifyOptions { steps: vec![vec![0.1, 0.5]], ..CertifyOptions::default() };
/// let certify_weights = |weights: [f32; 2]| {
///     let ranker = RankerConfig::linear(2).from_weights(&[weights.to_vec()], &device)?;
///     certify(&ranker, &data, &*parse("ndcg")?, &device, &options, &mut |_| ())
/// };
/// let optimal = certify_weights([1.0, 0.0])?;
/// assert!(optimal.holds() && optimal.directions == 459 && optimal.value == 1.0);
/// assert!(!certify_weights([0.1, -0.5])?.holds());
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// If the options are invalid, the number of features differs from the ranker's, the metric rejects the labels, or reading the
/// weights from the device fails.
pub fn certify(
    ranker: &Ranker,
    data: &Dataset,
    metric: &dyn Metric,
    _device: &Device,
    options: &CertifyOptions,
    progress: &mut dyn FnMut(f64),
) -> Result<Certificate> {
    let planned_directions = options.check()?;
    certify_net(&MovableNet::of(ranker)?, planned_directions, data, metric, options, progress)
}

/// Negative control: runs the same test with random weights of the same norm as the ranker's.
///
/// Random weights are not a local optimum, so a test that does not detect this is not conclusive for other weights.
///
/// # Errors
/// The errors of [`certify`].
pub fn certify_control(
    ranker: &Ranker,
    data: &Dataset,
    metric: &dyn Metric,
    _device: &Device,
    options: &CertifyOptions,
    progress: &mut dyn FnMut(f64),
) -> Result<Certificate> {
    let planned_directions = options.check()?;
    let mut net = MovableNet::of(ranker)?;
    let length = norm(net.weights.iter().map(|&w| f64::from(w))) as f32;
    // A random stream that no direction uses.
    net.weights = on_sphere(net.weights.len(), options.seed, u64::MAX).iter().map(|x| x * length).collect();
    certify_net(&net, planned_directions, data, metric, options, progress)
}

fn certify_net(
    net: &MovableNet,
    planned_directions: usize,
    data: &Dataset,
    metric: &dyn Metric,
    options: &CertifyOptions,
    progress: &mut dyn FnMut(f64),
) -> Result<Certificate> {
    let sweep = Sweep::new(net, data, metric, options.conventions)?;
    let length = norm(net.weights.iter().map(|&w| f64::from(w)));
    let mut certificate = Certificate {
        metric: metric.name(),
        cost: metric.is_cost(),
        conventions: options.conventions.to_string(),
        queries: data.n_queries(),
        documents: data.n_documents(),
        weights: net.weights.len(),
        length,
        relative: options.relative,
        value: sweep.value,
        epsilon: options.epsilon,
        delta: options.delta,
        planned_directions,
        directions: 0,
        seed: options.seed,
        reports: Vec::new(),
    };
    let steps = options.distances(length)?;
    let block = if options.stop_at_first { CAUTIOUS.min(sweep.block()) } else { sweep.block() };
    // Directions are stored twice: as drawn, and in the order in which scoring uses them.
    let each = 2 * memory::bytes_of::<f32>(net.weights.len() as u64);
    memory::ask(2 * each, "certifying a model of this size", "use a smaller model")?;
    let block = block.min(usize::try_from(memory::left() / 2 / each.max(1)).unwrap_or(block)).max(1);
    let mut values: Vec<f64> = Vec::new();
    let what = format!("{planned_directions} directions of {} steps", steps.len());
    memory::reserve(&mut values, planned_directions.saturating_mul(steps.len()), &what, "give fewer `directions`")?;
    while certificate.directions < planned_directions {
        let last = (certificate.directions + block).min(planned_directions);
        let draw = |index: usize| on_sphere(net.weights.len(), options.seed, index as u64);
        let directions: Vec<Vec<f32>> = (certificate.directions..last).into_par_iter().map(draw).collect();
        let (start, width) = (certificate.directions as f64, directions.len() as f64);
        let block_values = sweep
            .along(&directions, &steps, &mut |share| progress((start + share * width) / planned_directions as f64))?;
        let improves = |&value: &f64| certificate.improvement(value) > ROUNDING;
        let first = block_values.iter().position(improves).filter(|_| options.stop_at_first);
        let keep = first.map_or(block_values.len(), |at| (at / steps.len() + 1) * steps.len());
        values.extend_from_slice(&block_values[..keep]);
        certificate.directions += keep / steps.len();
        if first.is_some() {
            break;
        }
    }
    let mut start = 0;
    for set in &options.steps {
        let range = start..start + set.len();
        start = range.end;
        let values: Vec<f64> = values.chunks_exact(steps.len()).flat_map(|line| line[range.clone()].to_vec()).collect();
        certificate.reports.push(StepReport::new(&certificate, &steps[range], &values, options.curves));
    }
    Ok(certificate)
}

#[cfg(test)]
mod tests;
