//! Features for a GPU: on the device for the whole run where they fit, else in large slices in the order of the epoch.
//!
//! The host never waits for the device between slices: while it gathers the next one, the device works on the one before.

use crate::data::Dataset;
use crate::device;
use crate::device::cube::{Cube, Layout, ON_A_GPU, Rows};
use crate::train::order::Order;
use burn::tensor::Tensor;
use std::ops::Range;

/// The bytes of a slice, about: enough that a copy costs little more than its bytes do.
const SLICE: u64 = 64 << 20;

/// Where the features of a data set are.
pub(super) struct Feed {
    cube: Cube,
    /// Nothing where they stay on the host.
    rows: Option<Rows>,
    /// The number of documents is filled up to a multiple of it.
    block: usize,
}

impl Feed {
    /// Of queries that are visited in any order.
    pub fn new(cube: &Cube, data: &Dataset) -> Self {
        Self::of(cube, data, 1)
    }

    /// Of documents that are scored in blocks of [`ON_A_GPU`], the last of them filled up with zeros: wholly, or so far that
    /// every block is a slice that needs no copy, whatever the number of features.
    pub fn in_blocks(cube: &Cube, data: &Dataset, wholly: bool) -> Self {
        Self::of(cube, data, if wholly { ON_A_GPU } else { 64 })
    }

    fn of(cube: &Cube, data: &Dataset, block: usize) -> Self {
        let documents = data.n_documents().next_multiple_of(block);
        let rows = fits(cube, documents, data.n_features()).then(|| Rows::new(cube, data, block));
        Feed { rows, block, cube: cube.clone() }
    }

    /// The features of an epoch that visits these queries in this order.
    pub fn start<'a>(&'a self, data: &'a Dataset, order: &'a Order, step: usize) -> EpochFeed<'a> {
        EpochFeed { feed: self, data, order, step, slice: None }
    }

    /// All documents, in blocks.
    pub fn blocks<'a>(&'a self, data: &'a Dataset) -> Box<dyn Iterator<Item = Tensor<2>> + 'a> {
        if let Some(rows) = &self.rows {
            return Box::new(rows.blocks(self.cube.block(data.n_features())));
        }
        let width = data.n_features();
        let most = self.cube.block(width);
        Box::new((0..data.n_documents()).step_by(most).map(move |start| {
            let end = data.n_documents().min(start + most);
            let documents = (end - start).next_multiple_of(self.block).min(most);
            let mut values = vec![0.0; documents * width];
            data.copy_rows(start..end, &mut values[..(end - start) * width]);
            self.cube.tensor(values, |_| [documents, width])
        }))
    }
}

/// Whether the features of so many documents may stay on the device, beside what is there already and what is computed with
/// them.
fn fits(cube: &Cube, documents: usize, features: usize) -> bool {
    let Some(limit) = device::memory_limit().or_else(|| cube.memory().map(|all| all / 4 * 3)) else {
        // It does not tell, so it is tried.
        return true;
    };
    // Beside the features about 20 numbers per document: its place, score, gradient, and what ranks and pairs take.
    let needed = (4 * features as u64 + 80).saturating_mul(documents as u64);
    needed.saturating_add(cube.used()) <= limit
}

/// The features of one epoch, batch by batch.
pub(super) struct EpochFeed<'a> {
    feed: &'a Feed,
    data: &'a Dataset,
    order: &'a Order,
    /// Queries of a batch.
    step: usize,
    slice: Option<Slice>,
}

/// The features of the queries of some batches, in the order of the epoch.
struct Slice {
    queries: Range<usize>,
    rows: Rows,
}

impl EpochFeed<'_> {
    /// The features of the next batch, which is that of these queries of the epoch: one tensor, or more where one would be
    /// too large, or none where there is no document.
    pub fn batch(&mut self, layout: &Layout, queries: Range<usize>) -> Vec<Tensor<2>> {
        if let Some(rows) = &self.feed.rows {
            return rows.batch(layout, queries);
        }
        if self.slice.as_ref().is_none_or(|slice| slice.queries.end < queries.end) {
            // The one before goes first: its memory is free once the device is done with it.
            self.slice = None;
            self.slice = Some(self.next_slice(layout, queries.start));
        }
        let Some(slice) = &self.slice else { return Vec::new() };
        let from = layout.n_documents(slice.queries.start..queries.start);
        slice.rows.slices(from..from + layout.n_documents(queries))
    }

    /// As many batches as a slice holds, at least one.
    fn next_slice(&self, layout: &Layout, first: usize) -> Slice {
        let width = self.data.n_features().max(1);
        let most = SLICE.min(self.feed.cube.largest_buffer()).min(device::memory_limit().unwrap_or(SLICE * 4) / 4);
        let documents = (most / 4) as usize / width;
        let end = |batches: usize| (first + batches * self.step).min(self.order.len());
        let fitting = (2..).take_while(|&batches| {
            end(batches - 1) < self.order.len() && layout.n_documents(first..end(batches)) <= documents
        });
        let queries = first..end(fitting.last().unwrap_or(1));
        // Of a mapped file: the pages of the queries that follow are read while these are worked on.
        self.order.reach(first, self.data);
        let mut values = Vec::with_capacity(layout.n_documents(queries.clone()) * width);
        for &query in &self.order[queries.clone()] {
            self.data.gather(query, &mut values);
        }
        Slice { queries, rows: Rows::of(&self.feed.cube, values, width) }
    }
}
