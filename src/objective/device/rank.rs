//! Ranks by counting: `rank_i = #{j: s_j > s_i, or s_j = s_i and j < i}`, within a query.

use crate::device::cube::layout::{Place, id_of, query_of, row_of, start_of};
use burn_cubecl::cubecl::{self, prelude::*};

/// What stands for a score: NaN is the lowest, infinities are cut.
#[cube]
pub(super) fn safe(score: f32) -> f32 {
    let bits = u32::reinterpret(score);
    let is_nan = (bits & 0x7fff_ffffu32) > 0x7f80_0000u32;
    let cut = clamp(score, -1e30f32, 1e30f32);
    select(is_nan, -1e30f32, cut)
}

/// Unit `i` finds the rank of a batch's `i`-th document and writes it there: score, class and value by rank.
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
    #[comptime] sorts: bool,
) {
    let i = ABSOLUTE_POS as u32;
    let n = place.documents;
    if i >= n {
        terminate!();
    }
    let row = row_of(layout, &place, i);
    let k = query_of(layout, &place, i);
    let start = start_of(layout, &place, k);
    let end = start_of(layout, &place, k + 1u32);
    let own = safe(scores[i as usize]);
    let mut at = i;
    if comptime!(sorts) {
        at = start;
        for j in start..end {
            let other = safe(scores[j as usize]);
            if other > own || (other == own && j < i) {
                at += 1u32;
            }
        }
    }
    ranked[at as usize] = own;
    ranked[(n + at) as usize] = fixed[row as usize];
    ranked[(2u32 * n + at) as usize] = fixed[(rows + row) as usize];
    order[at as usize] = i as i32;
    if i == start {
        let id = id_of(layout, &place, k);
        batch_tops[k as usize] = tops[id as usize];
    }
}
