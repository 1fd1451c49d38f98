//! A table from its name to its documents, all at once or piece by piece.

use super::columns::Columns;
use super::csv::CsvRows;
use super::kind::Kind;
use super::parquet::ParquetRows;
use super::sink::Sink;
use crate::data::letor::block::{Identifier, Run};
use crate::data::letor::group::{Before, Earlier, Origin};
use crate::data::letor::options::{ReadOptions, ReadProgress, ReadReport};
use crate::data::letor::pieces::Pieces;
use crate::data::letor::read::{self, Parsed};
use crate::data::source::Compression;
use crate::error::{Error, Result};
use crate::memory;
use std::path::Path;

/// What a table holds.
pub(super) const EXPECTED: &str =
    "expected a row per document, with columns for its label, the id of its query and its features";

/// Cells that are taken in at once, at most: about as many as a processor keeps near.
const AT_ONCE: usize = 1 << 18;

/// A table that was opened; its columns are known.
pub(in crate::data) struct Table {
    name: String,
    unit: &'static str,
    columns: Columns,
    options: ReadOptions,
    rows: Rows,
    /// The size of the file, unless it is packed.
    size: Option<u64>,
}

enum Rows {
    Csv(Box<CsvRows>),
    Parquet(Box<ParquetRows>),
}

impl Rows {
    /// Adds up to `most` rows; `false` at the end.
    fn read(&mut self, most: usize, sink: &mut Sink<'_>) -> Result<bool> {
        let what = format!("the queries of {}", sink.origin.name);
        memory::ask(memory::bytes_of::<(Run, Identifier)>(most as u64), &what, "split the file")?;
        match self {
            Rows::Csv(rows) => rows.read(most, sink),
            Rows::Parquet(rows) => rows.read(most, sink),
        }
    }

    /// The number of rows, where the file says it.
    fn total(&self) -> Option<usize> {
        match self {
            Rows::Csv(_) => None,
            Rows::Parquet(rows) => Some(rows.total()),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Rows::Csv(rows) => rows.bytes(),
            Rows::Parquet(rows) => rows.bytes(),
        }
    }

    fn compression(&self) -> Option<Compression> {
        match self {
            Rows::Csv(rows) => rows.compression(),
            Rows::Parquet(_) => None,
        }
    }

    /// Fails when the file was changed since it was opened. A text tells that itself.
    fn check(&self) -> Result<()> {
        match self {
            Rows::Csv(_) => Ok(()),
            Rows::Parquet(rows) => rows.check(),
        }
    }
}

impl Table {
    /// Opens a table; `None` for files that are none by their names.
    pub(in crate::data) fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        let Some(kind) = Kind::of(path) else {
            return options.table.check_unused(path).map(|()| None);
        };
        let of = |name: &str, headers| Columns::of(name, headers, &options.table, options.query_file.is_some());
        let (name, unit, columns, rows) = if kind == Kind::Parquet {
            let mut rows = ParquetRows::open(path)?;
            let columns = of(rows.name(), rows.headers())?;
            rows.choose(&columns)?;
            (rows.name().to_owned(), "row", columns, Rows::Parquet(Box::new(rows)))
        } else {
            let rows = CsvRows::open(path, (kind == Kind::Tsv).then_some(b'\t'))?;
            (rows.name().to_owned(), "line", of(rows.name(), rows.headers.clone())?, Rows::Csv(Box::new(rows)))
        };
        let features = columns.features.len();
        if let Some(width) = options.width.filter(|&width| width != features) {
            return Err(Error::Mismatch(format!("{name}: {features} columns are features, not {width}")));
        }
        let size = std::fs::metadata(path).ok().map(|metadata| metadata.len());
        let size = size.filter(|_| rows.compression().is_none());
        Ok(Some(Table { name, unit, columns, options: options.clone(), rows, size }))
    }

    /// All documents.
    pub(in crate::data) fn read(self, progress: &(dyn Fn(ReadProgress) + Sync)) -> Result<ReadReport> {
        let Table { name, unit, columns, options, mut rows, size } = self;
        let counts = read::counts(&options)?;
        let origin = Origin { name: &name, unit };
        let earlier = Earlier::new();
        let mut sink = Sink::new(origin, &columns, &options, Before { earlier: &earlier, open: None });
        if let Some(total) = rows.total() {
            sink.reserve(total, true)?;
        }
        let most = at_once(&columns);
        let mut take_in = || {
            loop {
                sink.reserve(most, false)?;
                let more = rows.read(most, &mut sink)?;
                progress(ReadProgress { done: rows.bytes(), total: size });
                if !more {
                    return Ok(());
                }
            }
        };
        let done: Result<()> = take_in();
        // Whatever else seems wrong with a file that changes, the change comes first.
        rows.check()?;
        done?;
        let report = read::report(origin, sink.finish(), counts.as_deref(), &options, EXPECTED)?;
        let data = report.data.with_feature_names(columns.feature_names())?;
        Ok(ReadReport { data, bytes: rows.bytes(), compression: rows.compression(), ..report })
    }
}

/// Rows that are taken in at once.
fn at_once(columns: &Columns) -> usize {
    (AT_ONCE / columns.features.len().max(1)).clamp(16, 1 << 14)
}

impl Pieces for Table {
    fn origin(&self) -> Origin<'_> {
        Origin { name: &self.name, unit: self.unit }
    }

    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        Some(self.columns.feature_names())
    }

    fn next(&mut self, bytes: usize, before: Before<'_>, tell: &dyn Fn(u64)) -> Result<(Parsed, bool)> {
        let rows = (bytes / size_of::<f32>() / self.columns.features.len().max(1)).max(1);
        let origin = Origin { name: &self.name, unit: self.unit };
        let mut sink = Sink::new(origin, &self.columns, &self.options, before);
        let mut more = true;
        while more && sink.rows() < rows {
            let most = at_once(&self.columns).min(rows - sink.rows());
            sink.reserve(most, false)?;
            more = match self.rows.read(most, &mut sink) {
                Ok(more) => more,
                Err(error) => return self.rows.check().and(Err(error)),
            };
            tell(self.rows.bytes());
        }
        if !more {
            self.rows.check()?;
        }
        Ok((sink.finish(), !more))
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes()
    }
}
