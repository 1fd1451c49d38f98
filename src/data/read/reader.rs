//! The trait of input formats.

use super::group::{Before, Earlier, counts};
use super::options::ReadOptions;
use super::parsed::Parsed;
use super::report::{ReadProgress, ReadReport, Rows, Skipped, report};
use crate::data::dataset::Dataset;
use crate::data::source::Compression;
use crate::error::Result;
use std::ops::Range;

/// A file of an input format, opened: read piece by piece, or all at once.
pub(in crate::data) trait Reader: Send {
    /// The file, for messages.
    fn origin(&self) -> Origin<'_>;

    /// What the file should hold, for messages about files that are empty.
    fn expected(&self) -> &'static str;

    /// The names of the features, where the file has them.
    fn feature_names(&self) -> Option<Vec<String>> {
        None
    }

    /// The next piece of about so many bytes; the rest of the file where that is the largest number. Calls `tell` with
    /// [`Reader::bytes`].
    fn next(&mut self, bytes: usize, before: Before<'_>, tell: &dyn Fn(u64)) -> Result<Piece>;

    /// The bytes read so far, after decompression.
    fn bytes(&self) -> u64;

    /// All of them, where that is known before.
    fn total_bytes(&self) -> Option<u64> {
        None
    }

    /// How the file is compressed.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// All documents. Formats that have a faster way than piece by piece replace this.
    fn whole(mut self: Box<Self>, options: &ReadOptions, progress: Progress<'_>) -> Result<ReadReport> {
        let counts = counts(options)?;
        let total = self.total_bytes();
        let before = Before { earlier: &Earlier::new(), open: None };
        let piece = self.next(usize::MAX, before, &|done| progress(ReadProgress { done, total }))?;
        let mut found = match piece {
            Piece::Documents { parsed, .. } => {
                report(self.origin(), parsed, counts.as_deref(), options, self.expected())?
            }
            Piece::Queries { data, rows, highest_label, .. } => {
                let rows = Rows { total: rows.end, ranges: std::iter::once(rows).collect() };
                ReadReport { data, rows, skipped: Skipped::default(), bytes: 0, compression: None, highest_label }
            }
        };
        if let Some(names) = self.feature_names() {
            found.data = found.data.with_feature_names(names)?;
        }
        Ok(ReadReport { bytes: self.bytes(), compression: self.compression(), ..found })
    }
}

/// Called with how far reading has come, from any thread.
pub(in crate::data) type Progress<'a> = &'a (dyn Fn(ReadProgress) + Sync);

/// A part of a file.
pub(in crate::data) enum Piece {
    /// Documents whose queries are still to be put together, and whether no more follow.
    Documents { parsed: Parsed, last: bool },
    /// Whole queries, the rows of the file that their documents are, the highest label of the file with its line, and whether no more
    /// queries follow.
    Queries { data: Dataset, rows: Range<usize>, highest_label: (f32, usize), last: bool },
}

/// A file as messages call it, and what its documents stand on.
#[derive(Debug, Clone, Copy)]
pub(in crate::data) struct Origin<'a> {
    pub name: &'a str,
    /// "line", or "row" where the file has no lines.
    pub unit: &'static str,
}

impl<'a> Origin<'a> {
    /// A file of lines.
    pub(super) fn text(name: &'a str) -> Self {
        Origin { name, unit: "line" }
    }
}
