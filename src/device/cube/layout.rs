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

use super::{Buffer, Cube};
use burn_cubecl::cubecl::{self, prelude::*};
use std::ops::Range;

/// The queries of a data set, as ranges of its documents.
#[derive(Debug)]
pub(crate) struct DeviceQueries {
    on_device: Buffer,
    offsets: Vec<usize>,
}

impl DeviceQueries {
    pub fn new(cube: &Cube, offsets: &[usize]) -> Self {
        let small = offsets.iter().map(|&offset| offset as i32).collect();
        DeviceQueries { on_device: cube.ints(small), offsets: offsets.to_vec() }
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }
}

/// The documents of an epoch, in the order in which it visits their queries.
#[derive(Debug)]
pub(crate) struct Layout {
    buffer: Buffer,
    /// Where each query starts.
    starts: Vec<usize>,
    /// The first row of each query in the data.
    rows: Vec<usize>,
}

impl Layout {
    /// Of an epoch that visits these queries in this order: two numbers per query go to the device.
    pub fn new(cube: &Cube, data: &DeviceQueries, queries: &[usize]) -> Self {
        let mut starts = Vec::with_capacity(queries.len() + 1);
        let mut next = 0;
        starts.push(next);
        for &query in queries {
            next += data.offsets[query + 1] - data.offsets[query];
            starts.push(next);
        }
        let small = |numbers: &[usize]| cube.ints(numbers.iter().map(|&number| number as i32).collect());
        let (device_starts, ids) = (small(&starts), small(queries));
        let buffer = cube.new_ints(2 * next + 2 * queries.len() + 1);
        let (count, size) = cube.units(queries.len() + 1);
        // SAFETY: unit k writes the documents of the k-th query alone, all of them within the layout.
        unsafe {
            lay_out::launch_unchecked(
                cube.client(),
                count,
                size,
                device_starts.into_buffer_arg(),
                ids.into_buffer_arg(),
                data.on_device.clone().into_buffer_arg(),
                buffer.clone().into_buffer_arg(),
                next as u32,
                queries.len() as u32,
            );
        }
        Layout { buffer, starts, rows: queries.iter().map(|&query| data.offsets[query]).collect() }
    }

    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.rows.len()
    }

    /// The number of documents of some queries.
    pub fn n_documents(&self, queries: Range<usize>) -> usize {
        self.starts[queries.end] - self.starts[queries.start]
    }

    /// The documents of the longest of some queries.
    pub fn longest(&self, queries: Range<usize>) -> usize {
        queries.map(|query| self.starts[query + 1] - self.starts[query]).max().unwrap_or(0)
    }

    /// What a kernel is told of some queries.
    pub fn place(&self, queries: Range<usize>) -> PlaceLaunch {
        PlaceLaunch::new(
            self.starts[queries.start] as u32,
            queries.start as u32,
            self.n_documents(queries.clone()) as u32,
            queries.len() as u32,
            self.n_documents(0..self.n_queries()) as u32,
            self.n_queries() as u32,
        )
    }

    /// The rows of some queries in the data, where they lie together and in order.
    pub fn rows_together(&self, queries: Range<usize>) -> Option<Range<usize>> {
        let first = *self.rows.get(queries.start)?;
        let start = self.starts[queries.start];
        let together = queries.clone().all(|query| {
            self.starts[query] == self.starts[query + 1] || self.rows[query] == first + self.starts[query] - start
        });
        (together && self.starts[queries.start] < self.starts[queries.start + 1])
            .then(|| first..first + self.n_documents(queries))
    }
}

/// Which documents of an epoch a kernel is to look at: those of one batch, which lie together.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
pub(crate) struct Place {
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
pub(crate) fn row_of(layout: &[i32], place: &Place, i: u32) -> u32 {
    layout[(place.base + i) as usize] as u32
}

/// The number within the batch of the query of its `i`-th document.
#[cube]
pub(crate) fn query_of(layout: &[i32], place: &Place, i: u32) -> u32 {
    layout[(place.all_documents + place.base + i) as usize] as u32 - place.first
}

/// Where the batch's `k`-th query starts, and the one before it ends.
#[cube]
pub(crate) fn start_of(layout: &[i32], place: &Place, k: u32) -> u32 {
    layout[(2u32 * place.all_documents + place.first + k) as usize] as u32 - place.base
}

/// The number in the data of the batch's `k`-th query.
#[cube]
pub(crate) fn id_of(layout: &[i32], place: &Place, k: u32) -> u32 {
    layout[(2u32 * place.all_documents + place.all_queries + 1u32 + place.first + k) as usize] as u32
}

/// Unit `k` writes the documents of the `k`-th query.
#[cube(launch_unchecked)]
fn lay_out(starts: &[i32], ids: &[i32], offsets: &[i32], layout: &mut [i32], documents: u32, queries: u32) {
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
