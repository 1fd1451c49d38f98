//! Parquet: read row group by row group, a number of rows of all columns at a time.

mod column;
mod shared;

use super::columns::{Fields, Role};
use super::options::ReadOptions;
use super::reader::{Origin, Reader};
use super::table::cell::{self, BadCell};
use super::table::{self, Layout, Records, Sink};
use crate::data::source::{Stamp, display_name, whole_file};
use crate::error::{Error, Result, printable};
use crate::memory;
use ::parquet::basic::Compression;
use ::parquet::column::reader::ColumnReader;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use column::{Cells, Leaf};
use rayon::prelude::*;
use shared::Shared;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Approximate size of a page in bytes; one page per column is in memory.
const PAGE: u64 = 1 << 20;

/// Approximate number of bytes of ids read at a time.
const IDS: u64 = 1 << 24;

/// Opens a table.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    table::open(path, ParquetRows::open(path)?, options)
}

/// The rows of a Parquet file.
struct ParquetRows {
    name: String,
    reader: SerializedFileReader<Shared>,
    /// The same file, to detect changes.
    file: Arc<File>,
    stamp: Option<Stamp>,
    size: u64,
    /// Columns to read: the features of the layout, then its other columns.
    leaves: Vec<Leaf>,
    /// Index of the next row group.
    next_group: usize,
    /// A reader for each leaf of the present row group.
    readers: Vec<ColumnReader>,
    /// Number of rows left in the present row group.
    remaining: usize,
    /// Maximum number of rows read at a time, which bounds the memory for long ids.
    max_rows: usize,
    /// Number of rows read so far.
    done: usize,
}

impl ParquetRows {
    /// Opens a file and reads the names and types of its columns.
    fn open(path: &Path) -> Result<Self> {
        let fail = |error| Error::io(path, "read", error);
        let name = display_name(path);
        let file = Arc::new(File::open(path).map_err(fail)?);
        let stamp = Stamp::of(&file).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        if stamp.is_some() && size == 0 {
            return Err(whole_file(&name, "the file is empty", table::EXPECTED));
        }
        let reader = guarded(&name, || SerializedFileReader::new(Shared::new(file.clone(), size)))?;
        let (leaves, readers) = (Vec::new(), Vec::new());
        let (next_group, remaining, max_rows, done) = (0, 0, 0, 0);
        Ok(ParquetRows { name, reader, file, stamp, size, leaves, next_group, readers, remaining, max_rows, done })
    }

    /// Fails if a column has an unsupported compression.
    fn check_compression(&self) -> Result<()> {
        for group in self.reader.metadata().row_groups() {
            for column in self.leaves.iter().filter_map(|leaf| group.columns().get(leaf.column)) {
                let codec = match column.compression() {
                    Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::ZSTD(_) => {
                        continue;
                    }
                    Compression::BROTLI(_) => "Brotli",
                    Compression::LZ4 | Compression::LZ4_RAW => "LZ4",
                    Compression::LZO => "LZO",
                };
                let name = printable(&column.column_path().string());
                let problem = format!("column '{name}' is compressed with {codec}, which is not supported");
                let remedy = "write the file with Snappy, gzip, Zstandard or no compression, for example with pandas' \
                              df.to_parquet(path, compression='zstd')";
                return Err(whole_file(&self.name, &problem, remedy));
            }
        }
        Ok(())
    }

    fn open_group(&mut self) -> Result<()> {
        let metadata = self.reader.metadata().row_group(self.next_group);
        let pages = self.leaves.iter().map(|leaf| metadata.columns().get(leaf.column));
        let bytes = pages.flatten().map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(0).min(PAGE));
        memory::ask(bytes.sum(), &format!("a page of each column of {}", self.name), "keep fewer columns")?;
        let ids = self.leaves.iter().filter(|leaf| leaf.is_id).filter_map(|leaf| metadata.columns().get(leaf.column));
        let ids: u64 = ids.map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(0)).sum();
        let each = ids / u64::try_from(metadata.num_rows()).unwrap_or(0).max(1);
        self.max_rows = usize::try_from(IDS / each.max(1)).unwrap_or(usize::MAX).max(1);
        memory::ask(each.min(ids), &format!("the ids of {}", self.name), "shorten the ids")?;
        let rows = usize::try_from(metadata.num_rows());
        self.remaining = rows.map_err(|_| damaged(&self.name, "a row group has a negative number of rows"))?;
        let (reader, leaves, group) = (&self.reader, &self.leaves, self.next_group);
        self.readers = guarded(&self.name, || {
            let group = reader.get_row_group(group)?;
            leaves.iter().map(|leaf| group.get_column_reader(leaf.column)).collect()
        })?;
        self.next_group += 1;
        Ok(())
    }
}

impl Records for ParquetRows {
    fn origin(&self) -> Origin<'_> {
        Origin { name: &self.name, unit: "row" }
    }

    /// Names of nested columns contain dots.
    fn headers(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().string()).collect()
    }

    /// Fails if a column has an unsupported type or compression.
    fn choose(&mut self, layout: &Layout) -> Result<()> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let features = layout.features.iter().map(|&column| (Role::Feature, column));
        let leaf = |(role, column)| Leaf::of(&self.name, column, role, &schema.column(column));
        self.leaves = features.chain(layout.others.iter().copied()).map(leaf).collect::<Result<_>>()?;
        self.check_compression()
    }

    fn read(&mut self, max_rows: usize, sink: &mut Sink<'_>) -> Result<bool> {
        while self.remaining == 0 {
            if self.next_group == self.reader.metadata().num_row_groups() {
                return Ok(false);
            }
            self.open_group()?;
        }
        let rows = max_rows.min(self.remaining).min(self.max_rows);
        let name = &self.name;
        let leaves = self.leaves.par_iter_mut().zip(&mut self.readers);
        let cells: Vec<Cells> =
            leaves.map(|(leaf, reader)| guarded(name, || leaf.read(reader, rows))).collect::<Result<_>>()?;
        self.remaining -= rows;
        let first = self.done + 1;
        self.done += rows;
        add_rows(&cells, rows, first, sink)?;
        Ok(true)
    }

    /// Estimated from the fraction of rows read so far.
    fn bytes(&self) -> u64 {
        (self.size as f64 * (self.done as f64 / self.total_rows().unwrap_or(0).max(1) as f64)) as u64
    }

    fn total_rows(&self) -> Option<usize> {
        let groups = self.reader.metadata().row_groups().iter();
        Some(groups.map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).fold(0, usize::saturating_add))
    }

    fn check(&self) -> Result<()> {
        self.stamp.as_ref().map_or(Ok(()), |stamp| stamp.check(&self.file, &self.name))
    }
}

/// Adds rows whose columns are `cells`, numbered from `first`.
fn add_rows(cells: &[Cells], rows: usize, first: usize, sink: &mut Sink<'_>) -> Result<()> {
    let (layout, missing, start) = (sink.layout, sink.missing(), sink.rows());
    let width = layout.features.len();
    let (features, others) = cells.split_at(width);
    let matrix = sink.add_zeros(rows);
    // Row, column and problem of bad feature cells.
    let mut bad: Vec<(usize, usize, BadCell)> = Vec::new();
    for (column, cells) in features.iter().enumerate() {
        let Cells::Numbers(values) = cells else { continue };
        for (row, &value) in values.iter().enumerate() {
            match cell::feature(missing, cell::stored(value)) {
                Ok(value) => matrix[row * width + column] = value,
                Err(problem) => bad.push((row, column, problem)),
            }
        }
    }
    bad.sort_by_key(|&(row, column, _)| (row, column));
    let mut bad = bad.into_iter().peekable();
    let other = |role: Role| layout.others.iter().position(|(own, _)| *own == role).map(|index| &others[index]);
    let [label, query, document] = [Role::Label, Role::Query, Role::Document].map(other);
    for row in 0..rows {
        let line = first + row;
        let mut feature = None;
        while let Some((_, column, problem)) = bad.next_if(|(bad, ..)| *bad == row) {
            feature.get_or_insert((problem, layout.features[column], Role::Feature));
        }
        let fields = || {
            let label = label_of(label, row).map_err(|bad| (bad, Role::Label))?;
            let query = id_of(query, row).map_err(|bad| (bad, Role::Query))?.unwrap_or_default();
            // Document ids are optional.
            match id_of(document, row) {
                Err(bad) if bad != BadCell::Missing => Err((bad, Role::Document)),
                document => Ok(Fields { label, query, document: document.ok().flatten() }),
            }
        };
        match (fields(), feature) {
            (Ok(fields), None) => sink.add_fields(start + row, line, fields)?,
            (Ok(_), Some((problem, column, role))) => sink.reject_cell(problem, line, column, role)?,
            (Err((problem, role)), _) => {
                sink.reject_cell(problem, line, layout.column(role).unwrap_or(0), role)?;
            }
        }
    }
    Ok(())
}

fn label_of(cells: Option<&Cells>, row: usize) -> std::result::Result<f32, BadCell> {
    match cells {
        Some(Cells::Numbers(values)) => cell::label(cell::stored(values[row])),
        _ => Ok(0.0),
    }
}

fn id_of(cells: Option<&Cells>, row: usize) -> std::result::Result<Option<&[u8]>, BadCell> {
    match cells {
        Some(Cells::Ids(ids)) => match &ids[row] {
            Some(id) => cell::id(id.bytes()).map(Some),
            None => Err(BadCell::Missing),
        },
        _ => Ok(None),
    }
}

/// Runs work that may fail on damaged bytes, and converts its errors.
fn guarded<T>(name: &str, work: impl FnOnce() -> std::result::Result<T, ParquetError>) -> Result<T> {
    // The Parquet reader may panic on damaged files.
    let result = catch_unwind(AssertUnwindSafe(work));
    let result = result.unwrap_or_else(|_| Err(ParquetError::General("invalid bytes".into())));
    result.map_err(|error| match error {
        ParquetError::NYI(message) => {
            let remedy = format!("use Snappy, gzip or Zstandard compression and common encodings ({message})");
            whole_file(name, "this kind of Parquet file is not supported", &remedy)
        }
        error => damaged(name, &error.to_string()),
    })
}

fn damaged(name: &str, what: &str) -> Error {
    whole_file(name, "damaged, truncated or not a Parquet file", &format!("write or copy it again ({what})"))
}
