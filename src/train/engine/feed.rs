//! Features for a GPU: kept on the device for the whole run if they fit, otherwise copied in large slices in the order of
//! the epoch.
//!
//! The host does not wait for the device between slices: it gathers the next slice while the device computes with the
//! current one.

use crate::data::Dataset;
use crate::device;
use crate::device::cube::{Cube, Layout, ON_A_GPU, Rows};
use crate::train::order::Order;
use burn::tensor::Tensor;
use std::ops::Range;

/// Approximate size of a slice in bytes: large enough that the overhead of a copy is negligible.
const SLICE: u64 = 64 << 20;

/// The features of a data set, on the device or on the host.
pub(super) struct Feed {
    cube: Cube,
    /// `None` if the features stay on the host.
    rows: Option<Rows>,
    /// The number of documents is padded to a multiple of this.
    block: usize,
}

impl Feed {
    /// For queries that are visited in any order.
    pub fn new(cube: &Cube, data: &Dataset) -> Self {
        Self::of(cube, data, 1)
    }

    /// For documents that are scored in blocks of [`ON_A_GPU`], padded with zeros: to whole blocks with `pad_last`,
    /// else so far that every block is a slice that needs no copy, whatever the number of features.
    pub fn in_blocks(cube: &Cube, data: &Dataset, pad_last: bool) -> Self {
        Self::of(cube, data, if pad_last { ON_A_GPU } else { 64 })
    }

    fn of(cube: &Cube, data: &Dataset, block: usize) -> Self {
        let documents = data.n_documents().next_multiple_of(block);
        let rows = fits(cube, documents, data.n_features()).then(|| Rows::new(cube, data, block));
        Feed { rows, block, cube: cube.clone() }
    }

    /// The features of an epoch in the given order, in batches of `batch_queries` queries.
    pub fn start<'a>(&'a self, data: &'a Dataset, order: &'a Order, batch_queries: usize) -> EpochFeed<'a> {
        EpochFeed { feed: self, data, order, batch_queries, slice: None }
    }

    /// All documents, in blocks.
    pub fn blocks<'a>(&'a self, data: &'a Dataset) -> Box<dyn Iterator<Item = Tensor<2>> + 'a> {
        if let Some(rows) = &self.rows {
            return Box::new(rows.blocks(self.cube.block(data.n_features())));
        }
        let width = data.n_features();
        let block = self.cube.block(width);
        Box::new((0..data.n_documents()).step_by(block).map(move |start| {
            let end = data.n_documents().min(start + block);
            let documents = (end - start).next_multiple_of(self.block).min(block);
            let mut values = vec![0.0; documents * width];
            data.copy_rows(start..end, &mut values[..(end - start) * width]);
            self.cube.tensor(values, |_| [documents, width])
        }))
    }
}

/// Whether features of this size fit into the free device memory, together with what is computed from them.
fn fits(cube: &Cube, documents: usize, features: usize) -> bool {
    let Some(limit) = device::memory_limit().or_else(|| cube.memory().map(|all| all / 4 * 3)) else {
        // The device does not report its memory: try.
        return true;
    };
    // Besides features about 20 numbers per document: index, score, gradient, and buffers for ranks and pairs.
    let needed = (4 * features as u64 + 80).saturating_mul(documents as u64);
    needed.saturating_add(cube.used()) <= limit
}

/// The features of one epoch, batch by batch.
pub(super) struct EpochFeed<'a> {
    feed: &'a Feed,
    data: &'a Dataset,
    order: &'a Order,
    /// Number of queries per batch.
    batch_queries: usize,
    slice: Option<Slice>,
}

/// The features of consecutive batches.
struct Slice {
    queries: Range<usize>,
    rows: Rows,
}

impl EpochFeed<'_> {
    /// The features of the next batch, the queries at these places of the order: one tensor, several if one would be
    /// too large, or none if there is no document.
    pub fn batch(&mut self, layout: &Layout, queries: Range<usize>) -> Vec<Tensor<2>> {
        if let Some(rows) = &self.feed.rows {
            return rows.batch(layout, queries);
        }
        if self.slice.as_ref().is_none_or(|slice| slice.queries.end < queries.end) {
            // Drop the previous slice first, so that its memory is freed once the device is done with it.
            self.slice = None;
            self.slice = Some(self.next_slice(layout, queries.start));
        }
        let Some(slice) = &self.slice else { return Vec::new() };
        let from = layout.n_documents(slice.queries.start..queries.start);
        slice.rows.slices(from..from + layout.n_documents(queries))
    }

    /// A slice of as many batches as fit, at least one.
    fn next_slice(&self, layout: &Layout, first: usize) -> Slice {
        let width = self.data.n_features().max(1);
        let bytes = SLICE.min(self.feed.cube.largest_buffer()).min(device::memory_limit().unwrap_or(SLICE * 4) / 4);
        let documents = (bytes / 4) as usize / width;
        let end = |batches: usize| (first + batches * self.batch_queries).min(self.order.len());
        let fitting = (2..).take_while(|&batches| {
            end(batches - 1) < self.order.len() && layout.n_documents(first..end(batches)) <= documents
        });
        let queries = first..end(fitting.last().unwrap_or(1));
        // Prefetch the pages of the next queries of a mapped file.
        self.order.reach(first, self.data);
        let mut values = Vec::with_capacity(layout.n_documents(queries.clone()) * width);
        for &query in &self.order[queries.clone()] {
            self.data.gather(query, &mut values);
        }
        Slice { queries, rows: Rows::of(&self.feed.cube, values, width) }
    }
}
