//! Tables: each row is a document, each column its label, query id, document id or a feature. A table format implements
//! [`Records`]; everything else is shared.

pub(super) mod cell;
mod header;
mod sink;

pub(super) use header::{Layout, role_keys};
pub(super) use sink::Sink;

use super::group::Before;
use super::options::ReadOptions;
use super::parsed::{Identifier, Run};
use super::reader::{Origin, Piece, Reader};
use crate::data::source::Compression;
use crate::error::{Error, Result};
use crate::memory;
use std::path::Path;

/// Expected contents, for messages.
pub(super) const EXPECTED: &str = "expected one row per document, with columns for label, query id and features";

/// Maximum number of cells read at a time: about as many as fit into the cache of a processor.
const MAX_CELLS: usize = 1 << 18;

/// The rows of a table.
pub(super) trait Records: Send {
    /// Describes the file in messages.
    fn origin(&self) -> Origin<'_>;

    /// Returns the column names.
    fn headers(&self) -> Vec<String>;

    /// Sets the roles of the columns, before any row is read.
    fn choose(&mut self, _: &Layout) -> Result<()> {
        Ok(())
    }

    /// Adds up to `max_rows` rows to the sink. Returns false at the end of the file.
    fn read(&mut self, max_rows: usize, sink: &mut Sink<'_>) -> Result<bool>;

    /// Returns the number of bytes read so far, after decompression.
    fn bytes(&self) -> u64;

    /// Returns the total number of rows, if the file states it.
    fn total_rows(&self) -> Option<usize> {
        None
    }

    /// Returns the compression of the file.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// Fails if the file has changed since it was opened, unless reading detects this itself.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// An open table.
struct Table<R> {
    records: R,
    layout: Layout,
    options: ReadOptions,
    /// Size of the file in bytes, unless it is compressed.
    size: Option<u64>,
}

/// Opens a table.
pub(super) fn open<R: Records + 'static>(
    path: &Path,
    mut records: R,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>> {
    let layout = Layout::of(records.origin().name, records.headers(), options)?;
    records.choose(&layout)?;
    let features = layout.features.len();
    if let Some(width) = options.width.filter(|&width| width != features) {
        let name = records.origin().name;
        return Err(Error::Mismatch(format!("{name}: expected {width} feature columns, but there are {features}")));
    }
    let size = std::fs::metadata(path).ok().map(|metadata| metadata.len());
    let size = size.filter(|_| records.compression().is_none());
    Ok(Box::new(Table { records, layout, options: options.clone(), size }))
}

/// Adds up to `max_rows` rows after checking the memory limit. Returns false at the end of the file.
fn read(records: &mut impl Records, max_rows: usize, sink: &mut Sink<'_>) -> Result<bool> {
    let what = format!("the queries of {}", sink.origin.name);
    memory::ask(memory::bytes_of::<(Run, Identifier)>(max_rows as u64), &what, "split the file")?;
    records.read(max_rows, sink)
}

impl<R: Records> Reader for Table<R> {
    fn origin(&self) -> Origin<'_> {
        self.records.origin()
    }

    fn expected(&self) -> &'static str {
        EXPECTED
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        Some(self.layout.feature_names())
    }

    fn next(&mut self, bytes: usize, before: Before<'_>, progress: &dyn Fn(u64)) -> Result<Piece> {
        let rows = (bytes / size_of::<f32>() / self.layout.features.len().max(1)).max(1);
        let Origin { name, unit } = self.records.origin();
        let name = name.to_owned();
        let mut sink = Sink::new(Origin { name: &name, unit }, &self.layout, &self.options, before);
        if let Some(total) = self.records.total_rows() {
            sink.reserve(total.min(rows), true)?;
        }
        let at_once = (MAX_CELLS / self.layout.features.len().max(1)).clamp(16, 1 << 14);
        let mut more = true;
        while more && sink.rows() < rows {
            let max_rows = at_once.min(rows - sink.rows());
            sink.reserve(max_rows, false)?;
            more = match read(&mut self.records, max_rows, &mut sink) {
                Ok(more) => more,
                // If the file changed, reports that instead of errors caused by the change.
                Err(error) => return self.records.check().and(Err(error)),
            };
            progress(self.records.bytes());
        }
        if !more {
            self.records.check()?;
        }
        Ok(Piece::Documents { parsed: sink.finish(), last: !more })
    }

    fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    fn total_bytes(&self) -> Option<u64> {
        self.size
    }

    fn compression(&self) -> Option<Compression> {
        self.records.compression()
    }
}
