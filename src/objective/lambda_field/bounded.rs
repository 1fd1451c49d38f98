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
    for (place, &own) in ideal.iter().enumerate().filter(|(place, own)| place != *own) {
        if query.stop.asked() {
            return;
        }
        moved.clear();
        moved.extend_from_slice(&query.labels);
        if place < own {
            moved[place..=own].rotate_right(1);
        } else {
            moved[own..=place].rotate_left(1);
        }
        let gain = (query.sign * (query.metric.value(&moved) - current)).clamp(0.0, 1.0);
        let lambda = if place < own { gain } else { -gain };
        lambdas[own] += lambda;
        let passed = if place < own { place..own } else { own + 1..place + 1 };
        let share = lambda / passed.len() as f64;
        passed.for_each(|other| lambdas[other] -= share);
    }
}
