//! Parsed documents, before they are grouped into queries.

use super::columns::Fields;
use super::group::{self, Query};
use crate::data::dataset::Dataset;
use crate::error::{ParseError, Result};
use std::ops::Range;

/// The documents of a text or table.
#[derive(Debug, Default)]
pub(in crate::data) struct Parsed {
    pub width: usize,
    pub features: Vec<f32>,
    pub labels: Vec<f32>,
    pub outcomes: Vec<ParsedBlock>,
    /// See [`Dataset::is_sparse_missing`].
    pub sparse_missing: bool,
    /// Value of features that are not listed.
    pub left_out: f32,
}

impl Parsed {
    /// Returns the minimum number of features listed by a document.
    pub(super) fn min_listed(&self) -> usize {
        self.outcomes.iter().filter_map(|outcome| outcome.min_listed).min().unwrap_or(usize::MAX)
    }

    pub(super) fn dataset(self, name: &str, queries: Vec<Query>) -> Result<Dataset> {
        let (sparse_missing, left_out) = (self.sparse_missing, self.left_out);
        let data = group::dataset(name, self.width, self.features, self.labels, queries, &self.outcomes)?;
        Ok(data.declared_sparse_missing(sparse_missing).with_padding(left_out))
    }
}

/// Adjacent documents of one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// Query id, as a range of [`ParsedBlock::names`].
    pub id: Range<usize>,
    pub rows: Range<usize>,
    /// Line of the first document.
    pub line: usize,
    /// Position of the id in that line, from 0.
    pub column: usize,
}

/// The id of a document, as a range of [`ParsedBlock::names`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identifier {
    pub row: usize,
    pub name: Range<usize>,
}

/// Everything parsed from one block except features and labels.
#[derive(Debug, Default)]
pub(super) struct ParsedBlock {
    /// The concatenated ids of queries and documents.
    pub names: Vec<u8>,
    /// Runs in the order of the text, without the rows of bad lines.
    pub runs: Vec<Run>,
    /// Document ids in the order of the text.
    pub identifiers: Vec<Identifier>,
    /// Maximum width of a document, and its line.
    pub widest: (usize, usize),
    /// Minimum number of features listed by a document.
    pub min_listed: Option<usize>,
    /// Highest label, and its line.
    pub highest: (f32, usize),
    /// The error that ended the block.
    pub error: Option<Box<ParseError>>,
    /// Number of skipped lines.
    pub skipped: usize,
    /// Errors of the first skipped lines.
    pub first_skipped: Vec<ParseError>,
}

impl ParsedBlock {
    /// Records the width of the document on `line` and the number of features that it lists.
    pub(super) fn record_width(&mut self, width: usize, listed: usize, line: usize) {
        if width > self.widest.0 {
            self.widest = (width, line);
        }
        self.min_listed = Some(self.min_listed.map_or(listed, |min| min.min(listed)));
    }

    /// Adds the document in `row`, from `line`, whose query id is at `column`.
    pub(super) fn add_document(&mut self, row: usize, line: usize, column: usize, fields: Fields<'_>) {
        let Fields { label, query, document } = fields;
        if label > self.highest.0 {
            self.highest = (label, line);
        }
        if let Some(name) = document {
            let name = self.add_name(name);
            self.identifiers.push(Identifier { row, name });
        }
        match self.runs.last_mut() {
            Some(run) if run.rows.end == row && &self.names[run.id.clone()] == query => run.rows.end += 1,
            _ => {
                let id = self.add_name(query);
                self.runs.push(Run { id, rows: row..row + 1, line, column });
            }
        }
    }

    /// Appends a name and returns its range.
    fn add_name(&mut self, name: &[u8]) -> Range<usize> {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        start..self.names.len()
    }

    /// Returns a name, which was checked to be UTF-8 when its line was parsed.
    pub(super) fn name(&self, range: &Range<usize>) -> &str {
        std::str::from_utf8(&self.names[range.clone()]).unwrap_or_default()
    }

    /// Releases unused capacity.
    pub(super) fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.runs.shrink_to_fit();
        self.identifiers.shrink_to_fit();
    }
}
