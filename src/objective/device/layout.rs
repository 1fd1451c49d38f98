//! Where the documents of an epoch are: written on the device from the order of its queries.
//!
//! One buffer of whole numbers, for `n` documents of `m` queries in the order of the epoch:
//!
//! | from | numbers | what |
//! |---|---|---|
//! | 0 | n | the row of each document in the data |
//! | n | n | the place of its query in the epoch |
//! | 2n | m + 1 | where each query starts |
//! | 2n + m + 1 | m | its number in the data |

use burn_cubecl::cubecl::{self, prelude::*};

/// Which documents of an epoch a kernel is to look at: those of one batch, which lie together.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
pub(super) struct Place {
    /// Documents of the epoch before the batch.
    pub base: u32,
    /// Queries of the epoch before the batch.
    pub first: u32,
    /// Documents of the batch.
    pub documents: u32,
    /// Queries of the batch.
    pub queries: u32,
    /// Documents of the epoch.
    pub all_documents: u32,
    /// Queries of the epoch.
    pub all_queries: u32,
}

/// The row in the data of the batch's `i`-th document.
#[cube]
pub(super) fn row_of(layout: &[i32], place: &Place, i: u32) -> u32 {
    layout[(place.base + i) as usize] as u32
}

/// The number within the batch of the query of its `i`-th document.
#[cube]
pub(super) fn query_of(layout: &[i32], place: &Place, i: u32) -> u32 {
    layout[(place.all_documents + place.base + i) as usize] as u32 - place.first
}

/// Where the batch's `k`-th query starts, and the one before it ends.
#[cube]
pub(super) fn start_of(layout: &[i32], place: &Place, k: u32) -> u32 {
    layout[(2u32 * place.all_documents + place.first + k) as usize] as u32 - place.base
}

/// The number in the data of the batch's `k`-th query.
#[cube]
pub(super) fn id_of(layout: &[i32], place: &Place, k: u32) -> u32 {
    layout[(2u32 * place.all_documents + place.all_queries + 1u32 + place.first + k) as usize] as u32
}

/// Unit `k` writes the documents of the `k`-th query.
#[cube(launch_unchecked)]
pub(super) fn lay_out(
    starts: &[i32],
    ids: &[i32],
    offsets: &[i32],
    layout: &mut [i32],
    documents: u32,
    queries: u32,
) {
    let k = ABSOLUTE_POS as u32;
    if k > queries {
        terminate!();
    }
    let start = starts[k as usize];
    layout[(2u32 * documents + k) as usize] = start;
    if k < queries {
        let id = ids[k as usize];
        layout[(2u32 * documents + queries + 1u32 + k) as usize] = id;
        let shift = offsets[id as usize] - start;
        for place in start..starts[(k + 1u32) as usize] {
            layout[place as usize] = place + shift;
            layout[place as usize + documents as usize] = k as i32;
        }
    }
}
