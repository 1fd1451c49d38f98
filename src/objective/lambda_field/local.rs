//! LocalGradient and LocalCost: gradients of the metric between adjacent documents.

use super::Ranked;

/// LocalGradient: for adjacent documents, (change when they swap) / (score difference + margin).
pub(super) fn neighbours(query: &Ranked, margin: f64, lambdas: &mut [f64]) {
    let swaps = query.metric.swaps(&query.labels);
    for above in 0..query.labels.len().saturating_sub(1) {
        let below = above + 1;
        let gain = query.sign * swaps.delta(above, below);
        let lambda = gain / (query.scores[above] - query.scores[below] + margin);
        lambdas[below] += lambda;
        lambdas[above] -= lambda;
    }
}

/// LocalCost: for each document, (change when it moves up one rank - change when it moves down one rank) / (score
/// difference of its neighbours + margin). At the ends of the list, the missing neighbour has change 0 and the
/// document's own score.
pub(super) fn between(query: &Ranked, margin: f64, lambdas: &mut [f64]) {
    let swaps = query.metric.swaps(&query.labels);
    let n = query.labels.len();
    for rank in 0..n {
        let (above, below) = (rank.checked_sub(1), (rank + 1 < n).then_some(rank + 1));
        let change = |other: Option<usize>| {
            other.map_or(0.0, |other| query.sign * swaps.delta(rank.min(other), rank.max(other)))
        };
        let score = |place: Option<usize>| query.scores[place.unwrap_or(rank)];
        let lambda = (change(above) - change(below)) / (score(above) - score(below) + margin);
        lambdas[rank] += lambda;
        let carriers: Vec<usize> = above.into_iter().chain(below).collect();
        for &other in &carriers {
            lambdas[other] -= lambda / carriers.len() as f64;
        }
        // A list of one document has no neighbours and nothing to gain.
        if carriers.is_empty() {
            lambdas[rank] = 0.0;
        }
    }
}
