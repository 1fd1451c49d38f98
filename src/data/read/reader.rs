//! The trait of input formats.

use super::group::{Before, Earlier, counts};
use super::options::ReadOptions;
use super::parsed::Parsed;
use super::report::{ReadProgress, ReadReport, Rows, Skipped, report};
use crate::data::dataset::Dataset;
use crate::data::source::Compression;
use crate::error::Result;
use std::ops::Range;

/// An open file of an input format, read piece by piece or as a whole.
pub(in crate::data) trait Reader: Send {
    /// Describes the file in messages.
    fn origin(&self) -> Origin<'_>;

    /// Returns the expected contents, for messages about empty files.
    fn expected(&self) -> &'static str;

    /// Returns the feature names, if the file has them.
    fn feature_names(&self) -> Option<Vec<String>> {
        None
    }

    /// Reads the next piece of about `bytes` bytes, or the rest of the file for `usize::MAX`. Calls `progress` with
    /// [`Reader::bytes`].
    fn next(&mut self, bytes: usize, before: Before<'_>, progress: &dyn Fn(u64)) -> Result<Piece>;

    /// Returns the number of bytes read so far, after decompression.
    fn bytes(&self) -> u64;

    /// Returns the total number of bytes, if it is known in advance.
    fn total_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the compression of the file.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// Reads all documents. Formats with a faster way override this.
    fn whole(mut self: Box<Self>, options: &ReadOptions, progress: Progress<'_>) -> Result<ReadReport> {
        let counts = counts(options)?;
        let total = self.total_bytes();
        let before = Before { earlier: &Earlier::new(), open: None };
        let piece = self.next(usize::MAX, before, &|done| progress(ReadProgress { done, total }))?;
        let mut report = match piece {
            Piece::Documents { parsed, .. } => {
                report(self.origin(), parsed, counts.as_deref(), options, self.expected())?
            }
            Piece::Queries { data, rows, highest_label, .. } => {
                let rows = Rows { total: rows.end, ranges: std::iter::once(rows).collect() };
                ReadReport { data, rows, skipped: Skipped::default(), bytes: 0, compression: None, highest_label }
            }
        };
        if let Some(names) = self.feature_names() {
            report.data = report.data.with_feature_names(names)?;
        }
        Ok(ReadReport { bytes: self.bytes(), compression: self.compression(), ..report })
    }
}

/// Progress callback, called from any thread.
pub(in crate::data) type Progress<'a> = &'a (dyn Fn(ReadProgress) + Sync);

/// A part of a file.
pub(in crate::data) enum Piece {
    /// Documents that are not grouped into queries yet; `last` if no more follow.
    Documents { parsed: Parsed, last: bool },
    /// Whole queries, their rows in the file, and the highest label of the file with its line; `last` if no more follow.
    Queries { data: Dataset, rows: Range<usize>, highest_label: (f32, usize), last: bool },
}

/// The name of a file in messages, and its unit of position.
#[derive(Debug, Clone, Copy)]
pub(in crate::data) struct Origin<'a> {
    pub name: &'a str,
    /// "line", or "row" if the file has no lines.
    pub unit: &'static str,
}

impl<'a> Origin<'a> {
    /// Describes a text file.
    pub(super) fn text(name: &'a str) -> Self {
        Origin { name, unit: "line" }
    }
}
