//! Collecting the documents of a table row by row.

use super::cell::{BadCell, Place};
use super::header::Layout;
use crate::data::read::columns::{Fields, Role};
use crate::data::read::group::{self, Before};
use crate::data::read::options::ReadOptions;
use crate::data::read::parsed::{Parsed, ParsedBlock};
use crate::data::read::reader::Origin;
use crate::data::read::report::Skipped;
use crate::error::{ParseError, Result};
use crate::memory;

/// Collects documents. In strict mode the first bad row is an error; in lenient mode bad rows are counted and skipped.
pub(in crate::data::read) struct Sink<'a> {
    pub origin: Origin<'a>,
    pub layout: &'a Layout,
    options: &'a ReadOptions,
    before: Before<'a>,
    pub parsed: Parsed,
    block: ParsedBlock,
}

impl<'a> Sink<'a> {
    pub(super) fn new(origin: Origin<'a>, layout: &'a Layout, options: &'a ReadOptions, before: Before<'a>) -> Self {
        let (width, sparse_missing) = (layout.features.len(), options.sparse_missing);
        let parsed = Parsed { width, sparse_missing, ..Parsed::default() };
        Sink { origin, layout, options, before, parsed, block: ParsedBlock::default() }
    }

    /// Returns the number of rows so far, including bad ones.
    pub(in crate::data::read) fn rows(&self) -> usize {
        self.parsed.labels.len()
    }

    /// Reserves memory for `more` documents; `exact` if no others will follow.
    pub(super) fn reserve(&mut self, more: usize, exact: bool) -> Result<()> {
        let (rows, width) = (self.rows(), self.parsed.width);
        let free = self.parsed.features.capacity() - self.parsed.features.len();
        if free >= more.saturating_mul(width) {
            return Ok(());
        }
        // Reserves more than requested, because moving all documents each time would take longer than reading them.
        let more = if exact { more } else { more.max(rows / 2) };
        let what = format!("{} documents of {width} features from {}", rows.saturating_add(more), self.origin.name);
        let remedy = "split the file, or keep fewer features";
        memory::reserve(&mut self.parsed.features, more.saturating_mul(width), &what, remedy)?;
        memory::reserve(&mut self.parsed.labels, more, &what, remedy)
    }

    /// Adds rows of zeros and returns their cells, to be filled.
    pub(in crate::data::read) fn add_zeros(&mut self, rows: usize) -> &mut [f32] {
        let start = self.parsed.features.len();
        self.parsed.features.resize(start + rows * self.parsed.width, 0.0);
        let labels = self.parsed.labels.len();
        self.parsed.labels.resize(labels + rows, 0.0);
        &mut self.parsed.features[start..]
    }

    /// Returns the value of missing features.
    pub(in crate::data::read) fn missing(&self) -> f32 {
        self.options.null.unwrap_or(f32::NAN)
    }

    /// Sets the fields other than features of a row that was added, and its line.
    pub(in crate::data::read) fn add_fields(&mut self, row: usize, line: usize, fields: Fields<'_>) -> Result<()> {
        let names = &mut self.block.names;
        let more = fields.query.len() + fields.document.map_or(0, <[u8]>::len);
        if names.capacity() - names.len() < more {
            let what = format!("the query and document ids of {}", self.origin.name);
            memory::reserve(names, more.max(names.len() / 2), &what, "shorten the ids, or split the file")?;
        }
        self.parsed.labels[row] = fields.label;
        self.block.record_width(self.parsed.width, self.parsed.width, line);
        self.block.add_document(row, line, 0, fields);
        Ok(())
    }

    /// Rejects a row with a bad cell.
    pub(in crate::data::read) fn reject_cell(
        &mut self,
        bad: BadCell,
        line: usize,
        column: usize,
        role: Role,
    ) -> Result<()> {
        let Origin { name: file, unit } = self.origin;
        let error = bad.at(Place { file, line, unit, column: &self.layout.headers[column], role });
        self.reject(error)
    }

    /// Rejects a row: returns the error in strict mode, counts it in lenient mode.
    pub(in crate::data::read) fn reject(&mut self, error: ParseError) -> Result<()> {
        if self.options.lenient {
            self.block.skipped += 1;
            if self.block.first_skipped.len() < Skipped::SHOWN {
                self.block.first_skipped.push(error);
            }
            return Ok(());
        }
        // A query may reappear on an earlier row than the bad one.
        self.close();
        group::by_options(self.origin, &self.parsed.outcomes, self.options, self.before, &mut Skipped::default())?;
        Err(Box::new(error).into())
    }

    /// Ends a block of rows.
    fn close(&mut self) {
        self.block.shrink();
        self.parsed.outcomes.push(std::mem::take(&mut self.block));
    }

    /// Returns all documents.
    pub(super) fn finish(mut self) -> Parsed {
        self.close();
        self.parsed
    }
}
