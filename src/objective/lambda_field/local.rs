//! Gradients of the measure between neighbours of the ranking.

use super::Ranked;

/// LocalGradient: neighbours, (change by their swap) / (score difference + margin).
pub(super) fn neighbours(query: &Ranked, margin: f64, forces: &mut [f64]) {
    let swaps = query.metric.swaps(&query.labels);
    for above in 0..query.labels.len().saturating_sub(1) {
        let below = above + 1;
        let gain = query.sign * swaps.delta(above, below);
        let force = gain / (query.scores[above] - query.scores[below] + margin);
        forces[below] += force;
        forces[above] -= force;
    }
}

/// LocalCost: each document, (change when it goes up one place - change when it goes down one) / (score difference of its
/// neighbours + margin). At an end of the list the missing neighbour changes nothing and lies where the document is.
pub(super) fn between(query: &Ranked, margin: f64, forces: &mut [f64]) {
    let swaps = query.metric.swaps(&query.labels);
    let n = query.labels.len();
    for own in 0..n {
        let (above, below) = (own.checked_sub(1), (own + 1 < n).then_some(own + 1));
        let change =
            |other: Option<usize>| other.map_or(0.0, |other| query.sign * swaps.delta(own.min(other), own.max(other)));
        let score = |place: Option<usize>| query.scores[place.unwrap_or(own)];
        let force = (change(above) - change(below)) / (score(above) - score(below) + margin);
        forces[own] += force;
        let carriers: Vec<usize> = above.into_iter().chain(below).collect();
        for &other in &carriers {
            forces[other] -= force / carriers.len() as f64;
        }
        // A list of one has nobody to push against, and nothing to gain.
        if carriers.is_empty() {
            forces[own] = 0.0;
        }
    }
}
