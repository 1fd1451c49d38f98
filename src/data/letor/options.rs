//! How to read, and what came of it.

use super::super::dataset::Dataset;
use super::super::source::Compression;
use super::super::table::TableOptions;
use crate::error::{Error, ParseError, Result};
use std::ops::Range;
use std::path::PathBuf;

/// The largest number of features that any file may have.
pub const MAX_FEATURES: usize = 1_000_000;

/// How to read a LETOR file or a table. The default is strict, and counts features from 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The index of the first feature: 0 or 1.
    pub first_index: u32,
    /// Skip bad lines and count them, instead of failing on the first.
    pub lenient: bool,
    /// Bring the documents of a query together when it comes back later in the file, instead of failing.
    pub regroup: bool,
    /// The LightGBM side file that replaces `qid:`: one line per query, the number of its documents. Queries are named 1, 2, ...
    pub query_file: Option<PathBuf>,
    /// The number of features; `None` for the largest index of the file. A larger index than stated is an error.
    pub width: Option<usize>,
    /// The number of threads; 0 for those of the running rayon pool. The result does not depend on it.
    pub threads: usize,
    /// The bytes that are parsed as one piece of work. The result does not depend on it.
    pub block_bytes: usize,
    /// Which columns of a table are what.
    pub table: TableOptions,
    /// Take a cache as it is, even where the text that it was made from has changed since.
    pub stale_cache: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            first_index: 1,
            lenient: false,
            regroup: false,
            query_file: None,
            width: None,
            threads: 0,
            block_bytes: 1 << 20,
            table: TableOptions::default(),
            stale_cache: false,
        }
    }
}

impl ReadOptions {
    /// Fails on settings that make no sense, before any work starts.
    pub(super) fn check(&self) -> Result<()> {
        if self.first_index > 1 {
            return Err(Error::Config(format!("the first feature index is 0 or 1, not {}", self.first_index)));
        }
        self.table.check()?;
        match self.width {
            Some(width) if width > MAX_FEATURES => {
                Err(Error::Config(format!("{width} features are too many: the most is {MAX_FEATURES}")))
            }
            _ => Ok(()),
        }
    }
}

/// What reading gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadReport {
    /// The documents.
    pub data: Dataset,
    /// Which lines of the file the documents are.
    pub rows: Rows,
    /// What [`ReadOptions::lenient`] left out.
    pub skipped: Skipped,
    /// The size of the text, after unpacking.
    pub bytes: u64,
    /// How the file was packed.
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
    /// let report = burnrank::read_bytes("f", b"1 qid:1\nbad\n0 qid:1\n", &burnrank::ReadOptions { lenient: true, ..Default::default() })?;
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
