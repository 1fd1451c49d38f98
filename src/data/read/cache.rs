//! Reader for caches, whose features stay in the file.

use super::group::Before;
use super::options::ReadOptions;
use super::reader::{Origin, Piece, Progress, Reader};
use super::report::{ReadReport, Rows, Skipped};
use crate::data::cache;
use crate::data::source::display_name;
use crate::error::{Error, Result};
use std::path::Path;

/// An open cache.
struct CacheReader {
    name: String,
    report: ReadReport,
    /// Index of the next query.
    next: usize,
}

/// Opens a cache and verifies everything but its features and document ids.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let name = display_name(path);
    let (file, data) = cache::open(path, options.stale_cache)?;
    let header = file.header();
    if header.first_index != options.first_index {
        let remedy = if header.first_index == 0 { "add `first_index` 0" } else { "remove `first_index` 0" };
        let first = header.first_index;
        return Err(Error::Mismatch(format!("{name}: feature indices of this cache start at {first}: {remedy}")));
    }
    if header.sparse && options.sparse_missing && !header.sparse_missing {
        return Err(Error::Mismatch(format!(
            "{name}: features that its source leaves out are 0 in this cache: build it with `sparse_missing`"
        )));
    }
    let data = if header.sparse { data } else { data.declared_sparse_missing(options.sparse_missing) };
    let data = match options.width {
        Some(width) if width < data.n_features() => {
            let features = data.n_features();
            return Err(Error::Mismatch(format!("{name}: {features} features, more than the specified {width}")));
        }
        Some(width) => data.with_width(width),
        None => data,
    };
    let documents = data.n_documents();
    let report = ReadReport {
        rows: Rows { ranges: std::iter::once(0..documents).collect(), total: documents },
        data,
        skipped: Skipped::default(),
        bytes: header.file_bytes,
        compression: None,
        highest_label: (header.highest_label, header.highest_line as usize),
    };
    Ok(Box::new(CacheReader { name, report, next: 0 }))
}

impl Reader for CacheReader {
    fn origin(&self) -> Origin<'_> {
        Origin { name: &self.name, unit: "row" }
    }

    fn expected(&self) -> &'static str {
        "expected the documents of at least one query"
    }

    /// Counts features and labels as `f32`.
    fn bytes(&self) -> u64 {
        let data = &self.report.data;
        4 * data.offsets()[self.next] as u64 * (data.n_features() as u64 + 1)
    }

    fn next(&mut self, bytes: usize, _: Before<'_>, progress: &dyn Fn(u64)) -> Result<Piece> {
        let (data, start) = (&self.report.data, self.next);
        let offsets = data.offsets();
        let limit = offsets[start].saturating_add(bytes / (4 * data.n_features()).max(1));
        let end = offsets.partition_point(|&offset| offset <= limit).saturating_sub(1);
        let end = end.max(start + 1).min(data.n_queries());
        self.next = end;
        progress(self.bytes());
        let rows = offsets[start]..offsets[end];
        let (highest_label, last) = (self.report.highest_label, end == data.n_queries());
        let data = data.select(&(start..end).collect::<Vec<_>>());
        Ok(Piece::Queries { data, rows, highest_label, last })
    }

    fn whole(self: Box<Self>, _: &ReadOptions, _: Progress<'_>) -> Result<ReadReport> {
        Ok(self.report)
    }
}
