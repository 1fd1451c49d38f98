//! Parquet: row group by row group, some rows of all columns at a time.

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

/// About the size of a page, of which each column keeps one.
const PAGE: u64 = 1 << 20;

/// Bytes of ids that are read at once, about.
const IDS: u64 = 1 << 24;

/// Opens a table.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    table::open(path, ParquetRows::open(path)?, options)
}

/// The rows of a Parquet file.
struct ParquetRows {
    name: String,
    reader: SerializedFileReader<Shared>,
    /// The same file, which must not change meanwhile.
    file: Arc<File>,
    stamp: Option<Stamp>,
    size: u64,
    /// The columns that are read: features first, in their order, then the others of the layout.
    leaves: Vec<Leaf>,
    /// The next row group, and those of the one at hand: a reader for each leaf, and the rows that are left.
    group: usize,
    readers: Vec<ColumnReader>,
    left: usize,
    /// Rows that are read at once, at most: long ids are read a few at a time.
    most: usize,
    /// Rows that were read.
    done: usize,
}

impl ParquetRows {
    /// Opens a file and reads what stands at its end: the names and types of its columns.
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
        Ok(ParquetRows { name, reader, file, stamp, size, leaves, group: 0, readers, left: 0, most: 0, done: 0 })
    }

    /// Refuses columns that are compressed in a way that is not read.
    fn check_compression(&self) -> Result<()> {
        for group in self.reader.metadata().row_groups() {
            for column in self.leaves.iter().filter_map(|leaf| group.columns().get(leaf.place)) {
                let found = match column.compression() {
                    Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::ZSTD(_) => {
                        continue;
                    }
                    Compression::BROTLI(_) => "Brotli",
                    Compression::LZ4 | Compression::LZ4_RAW => "LZ4",
                    Compression::LZO => "LZO",
                };
                let name = printable(&column.column_path().string());
                let problem = format!("column '{name}' is compressed with {found}, which is not supported");
                let remedy = "write the file with Snappy, gzip, Zstandard or no compression, as in pandas' \
                              df.to_parquet(path, compression='zstd')";
                return Err(whole_file(&self.name, &problem, remedy));
            }
        }
        Ok(())
    }

    fn next_group(&mut self) -> Result<()> {
        let metadata = self.reader.metadata().row_group(self.group);
        let pages = self.leaves.iter().map(|leaf| metadata.columns().get(leaf.place));
        let bytes = pages.flatten().map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(0).min(PAGE));
        memory::ask(bytes.sum(), &format!("a page of each column of {}", self.name), "keep fewer columns")?;
        let ids = self.leaves.iter().filter(|leaf| leaf.is_id).filter_map(|leaf| metadata.columns().get(leaf.place));
        let ids: u64 = ids.map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(0)).sum();
        let each = ids / u64::try_from(metadata.num_rows()).unwrap_or(0).max(1);
        self.most = usize::try_from(IDS / each.max(1)).unwrap_or(usize::MAX).max(1);
        memory::ask(each.min(ids), &format!("the ids of {}", self.name), "shorten the ids")?;
        let rows = usize::try_from(metadata.num_rows());
        self.left = rows.map_err(|_| damaged(&self.name, "a row group of fewer than 0 rows"))?;
        let (reader, leaves, group) = (&self.reader, &self.leaves, self.group);
        self.readers = guarded(&self.name, || {
            let group = reader.get_row_group(group)?;
            leaves.iter().map(|leaf| group.get_column_reader(leaf.place)).collect()
        })?;
        self.group += 1;
        Ok(())
    }
}

impl Records for ParquetRows {
    fn origin(&self) -> Origin<'_> {
        Origin { name: &self.name, unit: "row" }
    }

    /// Those of columns inside others have dots in them.
    fn headers(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().string()).collect()
    }

    /// Refuses columns of types that do not fit.
    fn choose(&mut self, layout: &Layout) -> Result<()> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let features = layout.features.iter().map(|&place| (Role::Feature, place));
        let leaf = |(role, place)| Leaf::of(&self.name, place, role, &schema.column(place));
        self.leaves = features.chain(layout.others.iter().copied()).map(leaf).collect::<Result<_>>()?;
        self.check_compression()
    }

    fn read(&mut self, most: usize, sink: &mut Sink<'_>) -> Result<bool> {
        while self.left == 0 {
            if self.group == self.reader.metadata().num_row_groups() {
                return Ok(false);
            }
            self.next_group()?;
        }
        let rows = most.min(self.left).min(self.most);
        let name = &self.name;
        let leaves = self.leaves.par_iter_mut().zip(&mut self.readers);
        let cells: Vec<Cells> =
            leaves.map(|(leaf, reader)| guarded(name, || leaf.read(reader, rows))).collect::<Result<_>>()?;
        self.left -= rows;
        let first = self.done + 1;
        self.done += rows;
        take_in(&cells, rows, first, sink)?;
        Ok(true)
    }

    /// The part of the file that the rows read so far are.
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

/// Adds rows whose columns are `cells`; `first` is the number of the first of them.
fn take_in(cells: &[Cells], rows: usize, first: usize, sink: &mut Sink<'_>) -> Result<()> {
    let (layout, null, start) = (sink.layout, sink.null(), sink.rows());
    let width = layout.features.len();
    let (features, others) = cells.split_at(width);
    let matrix = sink.blank(rows);
    // By row and column: what is wrong with the row's first bad cell.
    let mut bad: Vec<(usize, usize, BadCell)> = Vec::new();
    for (column, cells) in features.iter().enumerate() {
        let Cells::Numbers(values) = cells else { continue };
        for (row, &value) in values.iter().enumerate() {
            match cell::feature(null, cell::stored(value)) {
                Ok(value) => matrix[row * width + column] = value,
                Err(problem) => bad.push((row, column, problem)),
            }
        }
    }
    bad.sort_by_key(|&(row, column, _)| (row, column));
    let mut bad = bad.into_iter().peekable();
    let other = |role: Role| layout.others.iter().position(|(own, _)| *own == role).map(|place| &others[place]);
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
            // A document may have no id.
            match id_of(document, row) {
                Err(bad) if bad != BadCell::Missing => Err((bad, Role::Document)),
                document => Ok(Fields { label, query, document: document.ok().flatten() }),
            }
        };
        match (fields(), feature) {
            (Ok(fields), None) => sink.good(start + row, line, fields)?,
            (Ok(_), Some((problem, column, role))) => sink.bad(problem, line, column, role)?,
            (Err((problem, role)), _) => sink.bad(problem, line, layout.place(role).unwrap_or(0), role)?,
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

/// Runs what may meet damaged bytes, in words of ours.
fn guarded<T>(name: &str, work: impl FnOnce() -> std::result::Result<T, ParquetError>) -> Result<T> {
    // What reads the format may panic on bytes that no writer would write.
    let done = catch_unwind(AssertUnwindSafe(work));
    let done = done.unwrap_or_else(|_| Err(ParquetError::General("bytes that make no sense".into())));
    done.map_err(|error| match error {
        ParquetError::NYI(message) => {
            let remedy = format!("write it compressed with snappy, gzip or zstd, and with usual encodings ({message})");
            whole_file(name, "a Parquet file of a kind that is not read here", &remedy)
        }
        error => damaged(name, &error.to_string()),
    })
}

fn damaged(name: &str, what: &str) -> Error {
    whole_file(name, "damaged, cut short or not a Parquet file", &format!("write or copy it again ({what})"))
}
