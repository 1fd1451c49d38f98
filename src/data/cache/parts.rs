//! A cache in parts of a few queries, for those who read files part by part.

use super::open::read;
use crate::data::dataset::Dataset;
use crate::data::letor::ReadOptions;
use crate::error::Result;
use std::ops::Range;
use std::path::Path;

/// The queries of a cache, a few at a time.
pub(crate) struct CacheParts {
    data: Dataset,
    /// The next query.
    next: usize,
    /// The highest label and the first line of the text that has it.
    pub highest_label: (f32, usize),
}

impl CacheParts {
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let report = read(path, options)?;
        Ok(CacheParts { data: report.data, next: 0, highest_label: report.highest_label })
    }

    pub fn n_features(&self) -> usize {
        self.data.n_features()
    }

    pub fn is_sparse(&self) -> bool {
        self.data.is_sparse()
    }

    /// The bytes of the features and labels so far, as f32.
    pub fn bytes(&self) -> u64 {
        4 * self.data.offsets()[self.next] as u64 * (self.data.n_features() as u64 + 1)
    }

    /// The next queries, of about so many bytes, and which documents of the file theirs are.
    pub fn next(&mut self, bytes: usize) -> Option<(Dataset, Range<usize>)> {
        let (offsets, start) = (self.data.offsets(), self.next);
        if start == self.data.n_queries() {
            return None;
        }
        let most = offsets[start] + bytes / (4 * self.data.n_features()).max(1);
        let end = offsets.partition_point(|&offset| offset <= most) - 1;
        let end = end.clamp(start + 1, self.data.n_queries());
        self.next = end;
        Some((self.data.select(&(start..end).collect::<Vec<_>>()), offsets[start]..offsets[end]))
    }
}
