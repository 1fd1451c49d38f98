//! Documents as a format has them, before their queries are put together.

use super::columns::Fields;
use super::group::{self, Query};
use crate::data::dataset::Dataset;
use crate::error::{ParseError, Result};
use std::ops::Range;

/// The numbers of a text or a table, and what else is known of its lines.
#[derive(Debug, Default)]
pub(in crate::data) struct Parsed {
    pub width: usize,
    pub features: Vec<f32>,
    pub labels: Vec<f32>,
    pub outcomes: Vec<ParsedBlock>,
}

impl Parsed {
    /// The smallest number of features that a document states.
    pub(super) fn fewest(&self) -> usize {
        self.outcomes.iter().filter_map(|outcome| outcome.fewest).min().unwrap_or(usize::MAX)
    }

    pub(super) fn dataset(self, name: &str, queries: Vec<Query>) -> Result<Dataset> {
        group::dataset(name, self.width, self.features, self.labels, queries, &self.outcomes)
    }
}

/// Neighbouring documents of one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// Where the query's id lies in the block's names.
    pub id: Range<usize>,
    /// The rows of the documents.
    pub rows: Range<usize>,
    /// The first document's line.
    pub line: usize,
    /// Where the id starts in that line, from 0.
    pub column: usize,
}

/// A document's id: its row, and where it lies in the block's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identifier {
    pub row: usize,
    pub name: Range<usize>,
}

/// What was found in one block, apart from features and labels.
#[derive(Debug, Default)]
pub(super) struct ParsedBlock {
    /// The ids of queries and documents, one behind the other.
    pub names: Vec<u8>,
    /// In the order of the text. Rows of bad lines belong to none.
    pub runs: Vec<Run>,
    /// Of the documents that have one, in the order of the text.
    pub identifiers: Vec<Identifier>,
    /// The largest number of features of a document, and its line.
    pub widest: (usize, usize),
    /// The smallest number of features that a document states.
    pub fewest: Option<usize>,
    /// The highest label and its line.
    pub highest: (f32, usize),
    /// What ended the block early.
    pub error: Option<Box<ParseError>>,
    /// The number of lines that were left out.
    pub skipped: usize,
    /// What is wrong with the first of them.
    pub first_skipped: Vec<ParseError>,
}

impl ParsedBlock {
    /// Notes how many features the document on `line` has, and how many of them it states.
    pub(super) fn measure(&mut self, width: usize, stated: usize, line: usize) {
        if width > self.widest.0 {
            self.widest = (width, line);
        }
        self.fewest = Some(self.fewest.map_or(stated, |fewest| fewest.min(stated)));
    }

    /// Adds a document by its row and its line; `column` is where its query's id stands.
    pub(super) fn add_document(&mut self, row: usize, line: usize, column: usize, fields: Fields<'_>) {
        let Fields { label, query, document } = fields;
        if label > self.highest.0 {
            self.highest = (label, line);
        }
        if let Some(name) = document {
            let name = self.keep(name);
            self.identifiers.push(Identifier { row, name });
        }
        match self.runs.last_mut() {
            Some(run) if run.rows.end == row && &self.names[run.id.clone()] == query => run.rows.end += 1,
            _ => {
                let id = self.keep(query);
                self.runs.push(Run { id, rows: row..row + 1, line, column });
            }
        }
    }

    /// Adds a name, and tells where.
    fn keep(&mut self, name: &[u8]) -> Range<usize> {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        start..self.names.len()
    }

    /// A name that was kept. All were checked when their lines were parsed.
    pub(super) fn name(&self, place: &Range<usize>) -> &str {
        std::str::from_utf8(&self.names[place.clone()]).unwrap_or_default()
    }

    /// Gives back what growing took too much.
    pub(super) fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.runs.shrink_to_fit();
        self.identifiers.shrink_to_fit();
    }
}
