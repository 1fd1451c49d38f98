//! Document indices of an epoch, computed on the device from the order of its queries.
//!
//! One buffer of integers, for `n` documents of `m` queries in the order of the epoch:
//!
//! | from | length | contents |
//! |---|---|---|
//! | 0 | n | row of each document in the data |
//! | n | n | position of its query in the epoch |
//! | 2n | m + 1 | start of each query |
//! | 2n + m + 1 | m | index of each query in the data |

use super::{Buffer, Cube};
use burn_cubecl::cubecl::{self, prelude::*};
use std::ops::Range;

/// The document offsets of the queries of a data set.
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

    /// Number of documents.
    pub fn documents(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }
}

/// The documents of an epoch in the order of its queries.
#[derive(Debug)]
pub(crate) struct Layout {
    buffer: Buffer,
    /// Start of each query in the epoch.
    starts: Vec<usize>,
    /// First row of each query in the data.
    rows: Vec<usize>,
}

impl Layout {
    /// Creates the layout of an epoch from the order of its queries; copies two numbers per query to the device.
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
        // SAFETY: unit k writes only the documents of the k-th query, all of them within the layout.
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

    /// Number of queries.
    pub fn n_queries(&self) -> usize {
        self.rows.len()
    }

    /// Number of documents of some queries.
    pub fn n_documents(&self, queries: Range<usize>) -> usize {
        self.starts[queries.end] - self.starts[queries.start]
    }

    /// Maximum number of documents per query of some queries.
    pub fn longest(&self, queries: Range<usize>) -> usize {
        queries.map(|query| self.starts[query + 1] - self.starts[query]).max().unwrap_or(0)
    }

    /// The kernel argument for some queries.
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

    /// The rows of some queries in the data, if they are contiguous and in order.
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

/// The contiguous part of an epoch that a kernel processes: one batch.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
pub(crate) struct Place {
    /// Number of documents of the epoch before the batch.
    pub base: u32,
    /// Number of queries of the epoch before the batch.
    pub first: u32,
    /// Number of documents in the batch.
    pub documents: u32,
    /// Number of queries in the batch.
    pub queries: u32,
    /// Number of documents in the epoch.
    pub all_documents: u32,
    /// Number of queries in the epoch.
    pub all_queries: u32,
}

/// The row in the data of the batch's `i`-th document.
#[cube]
pub(crate) fn row_of(layout: &[i32], place: &Place, i: u32) -> u32 {
    layout[(place.base + i) as usize] as u32
}

/// The index within the batch of the query of its `i`-th document.
#[cube]
pub(crate) fn query_of(layout: &[i32], place: &Place, i: u32) -> u32 {
    layout[(place.all_documents + place.base + i) as usize] as u32 - place.first
}

/// The start of the batch's `k`-th query, which is the end of the previous one.
#[cube]
pub(crate) fn start_of(layout: &[i32], place: &Place, k: u32) -> u32 {
    layout[(2u32 * place.all_documents + place.first + k) as usize] as u32 - place.base
}

/// The index in the data of the batch's `k`-th query.
#[cube]
pub(crate) fn id_of(layout: &[i32], place: &Place, k: u32) -> u32 {
    layout[(2u32 * place.all_documents + place.all_queries + 1u32 + place.first + k) as usize] as u32
}

/// Device unit `k` writes the documents of the `k`-th query.
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
