//! Lambdas like RankNet's, with a strength for each pair.

use super::Ranked;
use crate::numeric::sigmoid;

/// For each pair of different labels, adds `strength(gain, mean gain) * sigma / (1 + exp(sigma (s_i - s_j)))` to the
/// document with the higher label and subtracts it from the other. A pair's gain is |change of the metric when it
/// swaps|. Labels of a binary metric are relevant or not, as in the paper (section 6): pairs within one of these
/// classes have equal labels and no lambda.
pub(super) fn pull(query: &Ranked, sigma: f64, strength: impl Fn(f64, f64) -> f64, lambdas: &mut [f64]) {
    let swaps = query.metric.swaps(&query.labels);
    let n = query.labels.len();
    let threshold = query.metric.threshold();
    let level = |label: f32| threshold.map_or(label, |threshold| f32::from(u8::from(label >= threshold)));
    // Two passes, because storing the gains of all pairs of a long list would take too much memory.
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
        let derivative = sigma * sigmoid(sigma * (query.scores[worse] - query.scores[better]));
        let lambda = strength(gain, mean) * derivative;
        lambdas[better] += lambda;
        lambdas[worse] -= lambda;
    });
}
