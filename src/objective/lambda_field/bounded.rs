//! DiscreteBounded: lambdas towards each document's ideal rank.

use super::Ranked;
use crate::numeric::order::compare;

/// Adds lambdas of at most 1: the gain of moving one document to its ideal rank while the others close up.
pub(super) fn to_ideal(query: &Ranked, lambdas: &mut [f64]) {
    let n = query.labels.len();
    let mut ideal: Vec<usize> = (0..n).collect();
    // A stable sort keeps the order of equal labels, so that none of them moves past another.
    ideal.sort_by(|&a, &b| compare(query.labels[b].into(), query.labels[a].into()));
    let current = query.metric.value(&query.labels);
    let mut moved = Vec::with_capacity(n);
    for (ideal_rank, &rank) in ideal.iter().enumerate().filter(|(ideal_rank, rank)| ideal_rank != *rank) {
        if query.stop.asked() {
            return;
        }
        moved.clear();
        moved.extend_from_slice(&query.labels);
        if ideal_rank < rank {
            moved[ideal_rank..=rank].rotate_right(1);
        } else {
            moved[rank..=ideal_rank].rotate_left(1);
        }
        let gain = (query.sign * (query.metric.value(&moved) - current)).clamp(0.0, 1.0);
        let lambda = if ideal_rank < rank { gain } else { -gain };
        lambdas[rank] += lambda;
        let passed = if ideal_rank < rank { ideal_rank..rank } else { rank + 1..ideal_rank + 1 };
        let share = lambda / passed.len() as f64;
        passed.for_each(|other| lambdas[other] -= share);
    }
}
