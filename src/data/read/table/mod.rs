//! Tables: a row is a document, a column its label, the id of its query, its own id, or a feature. A format of tables gives its
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

/// What a table holds.
pub(super) const EXPECTED: &str =
    "expected a row per document, with columns for its label, the id of its query and its features";

/// Cells that are taken in at once, at most: about as many as a processor keeps near.
const AT_ONCE: usize = 1 << 18;

/// The rows of a table.
pub(super) trait Records: Send {
    /// The file, for messages.
    fn origin(&self) -> Origin<'_>;

    /// The names of the columns.
    fn headers(&self) -> Vec<String>;

    /// Says what the columns are, before any row is read.
    fn choose(&mut self, _: &Layout) -> Result<()> {
        Ok(())
    }

    /// Adds up to `most` rows; `false` at the end.
    fn read(&mut self, most: usize, sink: &mut Sink<'_>) -> Result<bool>;

    /// The bytes read so far, after decompression.
    fn bytes(&self) -> u64;

    /// The number of all rows, where the file says it.
    fn total_rows(&self) -> Option<usize> {
        None
    }

    /// How the file is compressed.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// Fails when the file was changed since it was opened, where reading does not tell that itself.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A table whose columns are known.
struct Table<R> {
    records: R,
    layout: Layout,
    options: ReadOptions,
    /// The size of the file, unless it is compressed.
    size: Option<u64>,
}

/// The documents of a table.
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
        return Err(Error::Mismatch(format!("{name}: {features} columns are features, not {width}")));
    }
    let size = std::fs::metadata(path).ok().map(|metadata| metadata.len());
    let size = size.filter(|_| records.compression().is_none());
    Ok(Box::new(Table { records, layout, options: options.clone(), size }))
}

/// Rows that are taken in at once.
fn at_once(layout: &Layout) -> usize {
    (AT_ONCE / layout.features.len().max(1)).clamp(16, 1 << 14)
}

/// Adds up to `most` rows; `false` at the end.
fn read(records: &mut impl Records, most: usize, sink: &mut Sink<'_>) -> Result<bool> {
    let what = format!("the queries of {}", sink.origin.name);
    memory::ask(memory::bytes_of::<(Run, Identifier)>(most as u64), &what, "split the file")?;
    records.read(most, sink)
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

    fn next(&mut self, bytes: usize, before: Before<'_>, tell: &dyn Fn(u64)) -> Result<Piece> {
        let rows = (bytes / size_of::<f32>() / self.layout.features.len().max(1)).max(1);
        let Origin { name, unit } = self.records.origin();
        let name = name.to_owned();
        let mut sink = Sink::new(Origin { name: &name, unit }, &self.layout, &self.options, before);
        if let Some(total) = self.records.total_rows() {
            sink.reserve(total.min(rows), true)?;
        }
        let mut more = true;
        while more && sink.rows() < rows {
            let most = at_once(&self.layout).min(rows - sink.rows());
            sink.reserve(most, false)?;
            more = match read(&mut self.records, most, &mut sink) {
                Ok(more) => more,
                // Whatever else seems wrong with a file that changes, the change comes first.
                Err(error) => return self.records.check().and(Err(error)),
            };
            tell(self.records.bytes());
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
