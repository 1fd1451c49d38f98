//! What reading gave.

use super::group::{self, Before, Earlier};
use super::options::ReadOptions;
use super::parsed::Parsed;
use super::reader::Origin;
use crate::data::dataset::Dataset;
use crate::data::source::{Compression, whole_file};
use crate::error::{Error, ParseError, Result};
use std::ops::Range;

/// What reading gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadReport {
    /// The documents.
    pub data: Dataset,
    /// Which lines of the file the documents are.
    pub rows: Rows,
    /// What [`ReadOptions::lenient`] left out.
    pub skipped: Skipped,
    /// The size of the text, after decompression.
    pub bytes: u64,
    /// How the file is compressed.
    pub compression: Option<Compression>,
    /// The highest label and the first line that has it; line 0 when no label is above 0.
    pub highest_label: (f32, usize),
}

/// Which of a file's document lines the documents of a data set are, in their order.
///
/// Document lines are counted from 0, good or bad; blank lines and comments do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rows {
    /// The lines, as ranges.
    pub ranges: Vec<Range<usize>>,
    /// The number of all document lines, those that were left out too.
    pub total: usize,
}

impl Rows {
    /// One of `values` for each document line, given one for each document, and `missing` for lines that were left out.
    ///
    /// ```
    /// let report = burnrank::data::read_bytes("f", b"1 qid:1\nbad\n0 qid:1\n", &burnrank::ReadOptions { lenient: true, ..Default::default() })?;
    /// assert_eq!(report.rows.spread(&["a", "b"], "-"), ["a", "-", "b"]);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub fn spread<V: Copy>(&self, values: &[V], missing: V) -> Vec<V> {
        let mut spread = vec![missing; self.total];
        for (row, &value) in self.ranges.iter().cloned().flatten().zip(values) {
            spread[row] = value;
        }
        spread
    }
}

/// The bad lines that were left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// How many.
    pub lines: usize,
    /// What is wrong with the first ones, at most [`Skipped::SHOWN`].
    pub first: Vec<ParseError>,
}

impl Skipped {
    /// The number of errors that are kept.
    pub const SHOWN: usize = 5;

    /// Keeps an error that comes behind those that are kept already, as long as there is room. That a query comes back is told
    /// once per query, wherever the text is cut.
    pub(super) fn tell(&mut self, error: ParseError) {
        let same = |told: &ParseError| {
            error.problem == RETURNS
                && (&told.problem, &told.text, &told.remedy) == (&error.problem, &error.text, &error.remedy)
        };
        if self.first.len() < Self::SHOWN && !self.first.iter().any(same) {
            self.first.push(error);
        }
    }
}

/// What is wrong with a query whose documents are not together.
pub(super) const RETURNS: &str = "query id comes back";

/// How far reading has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes of text dealt with.
    pub done: u64,
    /// All bytes of text; `None` as long as they are being unpacked or come from standard input.
    pub total: Option<u64>,
}

/// The report on a whole file from what was found in it; `expected` says what it should have held.
pub(in crate::data) fn report(
    origin: Origin<'_>,
    mut parsed: Parsed,
    counts: Option<&[usize]>,
    options: &ReadOptions,
    expected: &str,
) -> Result<ReadReport> {
    let name = origin.name;
    let mut left_out = Skipped::default();
    let before = Before { earlier: &Earlier::new(), open: None };
    let queries = match counts {
        Some(counts) => group::by_counts(name, &parsed.outcomes, parsed.labels.len(), counts)?,
        None => group::by_options(origin, &parsed.outcomes, options, before, &mut left_out)?,
    };
    let skipped = group::skipped_lines(&mut parsed.outcomes, left_out);
    if queries.is_empty() {
        return Err(no_documents(name, &skipped, expected));
    }
    let highest = parsed.outcomes.iter().map(|outcome| outcome.highest);
    let highest_label = highest.fold((0.0, 0), |best, next| if next.0 > best.0 { next } else { best });
    let sparse = parsed.fewest() < parsed.width;
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
            whole_file(name, "no good line in the file", &remedy)
        }
    }
}
