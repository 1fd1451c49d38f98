//! Ranks within a query, and the documents of a batch in rank order.
//!
//! Short lists are ranked by counting, `rank_i = #{j: s_j > s_i, or s_j = s_i and j < i}`: one launch, O(n) per
//! document. Long lists are sorted by merging: runs of 1, 2, 4, ... documents are merged pairwise, and each document
//! searches its position in the other run, O(log n) per document and pass. Both rank equal scores in document order and
//! need no memory besides the order.

use crate::device::cube::layout::{Place, id_of, query_of, row_of, start_of};
use burn_cubecl::cubecl::{self, prelude::*};

/// How ranks are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ranks {
    /// Not needed: documents stay in their order.
    None,
    /// By counting.
    Counted,
    /// Sorted in advance.
    Sorted,
}

/// Lists of at least this length are sorted.
pub(super) const LONG: usize = 1024;

/// Clamps a score: NaN becomes the lowest score, infinities are cut.
#[cube]
fn safe(score: f32) -> f32 {
    let bits = u32::reinterpret(score);
    let is_nan = (bits & 0x7fff_ffffu32) > 0x7f80_0000u32;
    let cut = clamp(score, -1e30f32, 1e30f32);
    select(is_nan, -1e30f32, cut)
}

/// Unit `u` computes the rank of a batch's `u`-th document, or reads the document of rank `u`, and writes score, class
/// and value to that rank.
#[cube(launch_unchecked)]
pub(super) fn rank(
    scores: &[f32],
    layout: &[i32],
    fixed: &[f32],
    tops: &[i32],
    ranked: &mut [f32],
    order: &mut [i32],
    batch_tops: &mut [i32],
    place: Place,
    rows: u32,
    #[comptime] ranks: Ranks,
) {
    let unit = ABSOLUTE_POS as u32;
    let n = place.documents;
    if unit >= n {
        terminate!();
    }
    let i = if comptime!(ranks == Ranks::Sorted) { order[unit as usize] as u32 } else { unit };
    let row = row_of(layout, &place, i);
    let k = query_of(layout, &place, i);
    let start = start_of(layout, &place, k);
    let score = safe(scores[i as usize]);
    let mut at = unit;
    if comptime!(ranks == Ranks::Counted) {
        let end = start_of(layout, &place, k + 1u32);
        at = start;
        for j in start..end {
            let other = safe(scores[j as usize]);
            if other > score || (other == score && j < i) {
                at += 1u32;
            }
        }
    }
    ranked[at as usize] = score;
    ranked[(n + at) as usize] = fixed[row as usize];
    ranked[(2u32 * n + at) as usize] = fixed[(rows + row) as usize];
    if comptime!(ranks != Ranks::Sorted) {
        order[at as usize] = i as i32;
    }
    if i == start {
        let id = id_of(layout, &place, k);
        batch_tops[k as usize] = tops[id as usize];
    }
}

/// Fills the order with `0, 1, 2, ...` before the first pass.
#[cube(launch_unchecked)]
pub(super) fn count_up(order: &mut [i32], place: Place) {
    if ABSOLUTE_POS < place.documents as usize {
        order[ABSOLUTE_POS] = ABSOLUTE_POS as i32;
    }
}

/// Merges pairs of neighbouring sorted runs of `width` documents into runs of twice the length.
///
/// Unit `u` moves the document at position `u`: its new position in the pair of runs is the number of documents before
/// it in both.
#[cube(launch_unchecked)]
pub(super) fn merge(scores: &[f32], layout: &[i32], from: &[i32], to: &mut [i32], place: Place, width: u32) {
    let unit = ABSOLUTE_POS as u32;
    if unit >= place.documents {
        terminate!();
    }
    let k = query_of(layout, &place, unit);
    let start = start_of(layout, &place, k);
    let end = start_of(layout, &place, k + 1u32);
    let document = from[unit as usize];
    let score = safe(scores[document as usize]);
    let run = (unit - start) / width;
    let is_left = run & 1u32 == 0u32;
    let pair = start + (run / 2u32) * 2u32 * width;
    let first = min(select(is_left, pair + width, pair), end);
    let last = min(first + width, end);
    // Documents of the other run that come first: those with higher scores, and with equal ones if the other run is on
    // the left.
    let mut low = first;
    let mut high = last;
    while low < high {
        let middle = (low + high) / 2u32;
        let other = safe(scores[from[middle as usize] as usize]);
        let before = other > score || (other == score && !is_left);
        if before {
            low = middle + 1u32;
        } else {
            high = middle;
        }
    }
    let position = unit - start - run * width;
    to[(pair + position + low - first) as usize] = document;
}
