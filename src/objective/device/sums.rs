//! Results of a batch that are kept until the end of the epoch: its scores, and the sums of each query.

use crate::device::cube::layout::{Place, row_of, start_of};
use burn_cubecl::cubecl::{self, prelude::*};

/// Unit `i` copies the score of a batch's `i`-th document to its row.
#[cube(launch_unchecked)]
pub(super) fn keep_scores(scores: &[f32], layout: &[i32], epoch_scores: &mut [f32], place: Place) {
    let i = ABSOLUTE_POS as u32;
    if i < place.documents {
        epoch_scores[row_of(layout, &place, i) as usize] = scores[i as usize];
    }
}

/// Unit `k` adds up loss, pairs and saturated pairs of the batch's `k`-th query, two numbers each: the loss and its
/// rounding error, and counts modulo one million and in millions.
#[cube(launch_unchecked)]
pub(super) fn add_up(layout: &[i32], document_sums: &[f32], sums: &mut [f32], place: Place) {
    let k = ABSOLUTE_POS as u32;
    if k >= place.queries {
        terminate!();
    }
    let n = place.documents;
    let start = start_of(layout, &place, k);
    let end = start_of(layout, &place, k + 1u32);
    let mut loss = 0.0f32;
    let mut rest = 0.0f32;
    let mut pairs = 0u32;
    let mut more_pairs = 0u32;
    let mut saturated = 0u32;
    let mut more_saturated = 0u32;
    for p in start..end {
        let term = document_sums[p as usize] - rest;
        let next = loss + term;
        rest = (next - loss) - term;
        loss = next;
        pairs += u32::cast_from(document_sums[(n + p) as usize]);
        more_pairs += pairs / 1_000_000u32;
        pairs %= 1_000_000u32;
        saturated += u32::cast_from(document_sums[(2u32 * n + p) as usize]);
        more_saturated += saturated / 1_000_000u32;
        saturated %= 1_000_000u32;
    }
    let to = (6u32 * (place.first + k)) as usize;
    sums[to] = loss;
    sums[to + 1] = -rest;
    sums[to + 2] = f32::cast_from(pairs);
    sums[to + 3] = f32::cast_from(more_pairs);
    sums[to + 4] = f32::cast_from(saturated);
    sums[to + 5] = f32::cast_from(more_saturated);
}
