//! Every document towards its ideal place.

use super::Ranked;
use crate::numeric::order::compare;

/// DiscreteBounded: the gain of moving one document to its ideal place, others closing up, at most 1.
pub(super) fn to_ideal(query: &Ranked, forces: &mut [f64]) {
    let n = query.labels.len();
    let mut ideal: Vec<usize> = (0..n).collect();
    // Stable: documents of equal label keep their order, so that none of them is moved past another in vain.
    ideal.sort_by(|&a, &b| compare(query.labels[b].into(), query.labels[a].into()));
    let now = query.metric.value(&query.labels);
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
        let gain = (query.sign * (query.metric.value(&moved) - now)).clamp(0.0, 1.0);
        let force = if place < own { gain } else { -gain };
        forces[own] += force;
        let passed = if place < own { place..own } else { own + 1..place + 1 };
        let share = force / passed.len() as f64;
        passed.for_each(|other| forces[other] -= share);
    }
}
