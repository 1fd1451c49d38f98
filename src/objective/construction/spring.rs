//! Pairs that pull like RankNet's, each with its own strength.

use super::Ranked;
use super::field::logistic;
use crate::metric::MetricKind;

/// Adds `strength(gain, mean gain) * sigma / (1 + exp(sigma (s_i - s_j)))` up for the better document of each pair of different
/// labels, and down for the other; a pair's gain is |change of the measure when it swaps|.
pub(super) fn pull(query: &Ranked, sigma: f64, strength: impl Fn(f64, f64) -> f64, forces: &mut [f64]) {
    let swaps = query.metric.swaps(&query.labels);
    let n = query.labels.len();
    // Labels that a binary measure does not tell apart make no pair.
    let level = |label: f32| match query.metric.kind() {
        MetricKind::Ap { threshold, .. } | MetricKind::Rr { threshold, .. } => f32::from(u8::from(label >= threshold)),
        _ => label,
    };
    let mut pairs = Vec::new();
    for above in 0..n {
        for below in above + 1..n {
            let (own, other) = (level(query.labels[above]), level(query.labels[below]));
            if own != other {
                let (better, worse) = if own > other { (above, below) } else { (below, above) };
                pairs.push((better, worse, swaps.delta(above, below).abs()));
            }
        }
    }
    let mean = pairs.iter().map(|pair| pair.2).sum::<f64>() / pairs.len().max(1) as f64;
    for (better, worse, gain) in pairs {
        let slope = sigma * logistic(sigma * (query.scores[worse] - query.scores[better]));
        let force = strength(gain, mean) * slope;
        forces[better] += force;
        forces[worse] -= force;
    }
}
