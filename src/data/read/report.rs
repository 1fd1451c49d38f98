//! The result of reading a file.

use super::group::{self, Before, Earlier};
use super::options::ReadOptions;
use super::parsed::Parsed;
use super::reader::Origin;
use crate::data::dataset::Dataset;
use crate::data::source::{Compression, whole_file};
use crate::error::{Error, ParseError, Result};
use std::ops::Range;

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadReport {
    /// The documents.
    pub data: Dataset,
    /// Lines of the documents in the file.
    pub rows: Rows,
    /// Lines skipped because of [`ReadOptions::lenient`].
    pub skipped: Skipped,
    /// Size of the text in bytes, after decompression.
    pub bytes: u64,
    /// Compression of the file.
    pub compression: Option<Compression>,
    /// Highest label and the first line that has it, or line 0 if no label is above 0.
    pub highest_label: (f32, usize),
}

/// The lines of the documents of a data set in their file, in the order of the documents.
///
/// Document lines are counted from 0, including bad lines, but not blank lines and comments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rows {
    /// Ranges of document lines.
    pub ranges: Vec<Range<usize>>,
    /// Total number of document lines, including skipped ones.
    pub total: usize,
}

impl Rows {
    /// Expands one value per document to one value per document line. Skipped lines get `missing`.
    ///
    /// ```
    /// let options = burnrank::ReadOptions { lenient: true, ..Default::default() };
    /// let report = burnrank::data::read_bytes("f", b"1 qid:1\nbad\n0 qid:1\n", &options)?;
    /// assert_eq!(report.rows.expand(&["a", "b"], "-"), ["a", "-", "b"]);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub fn expand<V: Copy>(&self, values: &[V], missing: V) -> Vec<V> {
        let mut expanded = vec![missing; self.total];
        for (row, &value) in self.ranges.iter().cloned().flatten().zip(values) {
            expanded[row] = value;
        }
        expanded
    }
}

/// Bad lines that were skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Number of skipped lines.
    pub lines: usize,
    /// Errors of the first [`Skipped::SHOWN`] skipped lines.
    pub first: Vec<ParseError>,
}

impl Skipped {
    /// Maximum number of errors that are kept.
    pub const SHOWN: usize = 5;

    /// Records an error that follows those already recorded, up to the maximum. A query that reappears is recorded once, however
    /// the text is split into pieces.
    pub(super) fn record(&mut self, error: ParseError) {
        let same = |earlier: &ParseError| {
            error.problem == REAPPEARS
                && (&earlier.problem, &earlier.text, &earlier.remedy) == (&error.problem, &error.text, &error.remedy)
        };
        if self.first.len() < Self::SHOWN && !self.first.iter().any(same) {
            self.first.push(error);
        }
    }
}

/// Problem of a query whose documents are not contiguous.
pub(super) const REAPPEARS: &str = "query id reappears";

/// Progress of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadProgress {
    /// Number of bytes of text processed.
    pub done: u64,
    /// Total number of bytes of text; `None` during decompression or when reading standard input.
    pub total: Option<u64>,
}

/// Builds the result of reading a whole file. `expected` describes its contents in the error for an empty file.
pub(in crate::data) fn report(
    origin: Origin<'_>,
    mut parsed: Parsed,
    counts: Option<&[usize]>,
    options: &ReadOptions,
    expected: &str,
) -> Result<ReadReport> {
    let name = origin.name;
    let mut reappearing = Skipped::default();
    let before = Before { earlier: &Earlier::new(), open: None };
    let queries = match counts {
        Some(counts) => group::by_counts(name, &parsed.outcomes, parsed.labels.len(), counts)?,
        None => group::by_options(origin, &parsed.outcomes, options, before, &mut reappearing)?,
    };
    let skipped = group::skipped_lines(&mut parsed.outcomes, reappearing);
    if queries.is_empty() {
        return Err(no_documents(name, &skipped, expected));
    }
    let highest = parsed.outcomes.iter().map(|outcome| outcome.highest);
    let highest_label = highest.fold((0.0, 0), |best, next| if next.0 > best.0 { next } else { best });
    let sparse = parsed.min_listed() < parsed.width;
    let rows = Rows { ranges: group::row_ranges(&queries), total: parsed.labels.len() };
    let data = parsed.dataset(name, queries)?.declared_sparse(sparse);
    Ok(ReadReport { data, rows, skipped, bytes: 0, compression: None, highest_label })
}

#[cold]
pub(super) fn no_documents(name: &str, skipped: &Skipped, expected: &str) -> Error {
    match skipped.first.first() {
        None => whole_file(name, "the file is empty", expected),
        Some(first) => {
            let remedy = format!("all {} were skipped; the first: {first}", skipped.lines);
            whole_file(name, "the file has no valid lines", &remedy)
        }
    }
}
