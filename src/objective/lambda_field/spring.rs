//! Pairs that pull like RankNet's, each with its own strength.

use super::Ranked;
use crate::numeric::sigmoid;

/// Adds `strength(gain, mean gain) * sigma / (1 + exp(sigma (s_i - s_j)))` up for the better document of each pair of different
/// labels, and down for the other; a pair's gain is |change of the measure when it swaps|. The labels of a binary metric are
/// relevant or not, as in the paper (section 6): a pair within one of these classes has equal labels, and no lambda.
pub(super) fn pull(query: &Ranked, sigma: f64, strength: impl Fn(f64, f64) -> f64, forces: &mut [f64]) {
    let swaps = query.metric.swaps(&query.labels);
    let n = query.labels.len();
    let threshold = query.metric.threshold();
    let level = |label: f32| threshold.map_or(label, |threshold| f32::from(u8::from(label >= threshold)));
    // Gone through twice rather than remembered: a long list has more pairs than memory.
    let each_pair = |pair: &mut dyn FnMut(usize, usize, f64)| {
        for above in (0..n).take_while(|_| !query.stop.asked()) {
            for below in above + 1..n {
                let (own, other) = (level(query.labels[above]), level(query.labels[below]));
                if own != other {
                    let (better, worse) = if own > other { (above, below) } else { (below, above) };
                    pair(better, worse, swaps.delta(above, below).abs());
                }
            }
        }
    };
    let (mut sum, mut count) = (0.0, 0usize);
    each_pair(&mut |_, _, gain| (sum, count) = (sum + gain, count + 1));
    let mean = sum / count.max(1) as f64;
    each_pair(&mut |better, worse, gain| {
        let slope = sigma * sigmoid(sigma * (query.scores[worse] - query.scores[better]));
        let force = strength(gain, mean) * slope;
        forces[better] += force;
        forces[worse] -= force;
    });
}
