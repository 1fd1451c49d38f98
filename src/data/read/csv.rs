//! CSV and TSV: a header, then one row per document, with the usual quoting rules.

use super::columns::{Fields, Role};
use super::options::ReadOptions;
use super::reader::{Origin, Reader};
use super::table::cell::{self, BadCell};
use super::table::{self, Records, Sink};
use crate::data::source::{Compression, MAX_LINE, Stream, long_line, whole_file, without_mark};
use crate::error::{Error, ParseError, Result};
use std::io::Read;
use std::path::Path;

/// Opens a CSV file; the delimiter is detected from the header.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    table::open(path, CsvRows::open(path, None)?, options)
}

/// Opens a TSV file.
pub(super) fn open_tabs(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    table::open(path, CsvRows::open(path, Some(b'\t'))?, options)
}

/// The rows of a CSV or TSV file.
struct CsvRows {
    reader: ::csv::Reader<Feed>,
    record: ::csv::ByteRecord,
    headers: Vec<String>,
}

impl CsvRows {
    /// Opens a file and reads its header. If `delimiter` is `None`, it is detected from the header.
    fn open(path: &Path, delimiter: Option<u8>) -> Result<Self> {
        let mut feed = Feed::new(Stream::open(path)?);
        feed.fill()?;
        let delimiter = delimiter.unwrap_or_else(|| feed.delimiter());
        let name = feed.stream.name.clone();
        let mut reader = ::csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 16)
            .from_reader(feed);
        let mut record = ::csv::ByteRecord::new();
        if !next(&mut reader, &mut record)? {
            return Err(whole_file(&name, "the file is empty", table::EXPECTED));
        }
        let header = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).map(|text| text.trim().to_owned());
            text.map_err(|_| whole_file(&name, "invalid UTF-8 in the header", "save the file as UTF-8"))
        };
        let headers = record.iter().map(header).collect::<Result<Vec<_>>>()?;
        Ok(CsvRows { reader, record, headers })
    }

    #[cold]
    fn unequal_length(&self, file: &str, line: usize) -> ParseError {
        let problem = format!("the row has {} columns, but the header has {}", self.record.len(), self.headers.len());
        let remedy = "give every row one cell per column; put text that contains a delimiter in double quotes, and check for \
                      unclosed quotes";
        ParseError { file: file.to_owned(), line, column: 0, text: String::new(), problem, remedy: remedy.to_owned() }
    }
}

impl Records for CsvRows {
    fn origin(&self) -> Origin<'_> {
        Origin::text(&self.reader.get_ref().stream.name)
    }

    fn headers(&self) -> Vec<String> {
        self.headers.clone()
    }

    fn read(&mut self, max_rows: usize, sink: &mut Sink<'_>) -> Result<bool> {
        for _ in 0..max_rows {
            if !next(&mut self.reader, &mut self.record)? {
                return Ok(false);
            }
            let record = &self.record;
            // The reader is past the last line of the row. The record's start position may be before blank lines.
            let inside = memchr::memchr_iter(b'\n', record.as_slice()).count() as u64;
            let before = record.position().map_or(1, ::csv::Position::line);
            let line = self.reader.position().line().saturating_sub(1 + inside).max(before) as usize;
            let row = sink.rows();
            sink.add_zeros(1);
            if record.len() != self.headers.len() {
                sink.reject(self.unequal_length(sink.origin.name, line))?;
                continue;
            }
            match row_of(record, row, sink) {
                Ok(fields) => sink.add_fields(row, line, fields)?,
                Err((bad, column, role)) => sink.reject_cell(bad, line, column, role)?,
            }
        }
        Ok(true)
    }

    fn bytes(&self) -> u64 {
        self.reader.get_ref().bytes
    }

    fn compression(&self) -> Option<Compression> {
        self.reader.get_ref().stream.compression()
    }
}

/// Reads the features of one row. Returns its other fields, or the bad cell with its column and role.
fn row_of<'r>(
    record: &'r ::csv::ByteRecord,
    row: usize,
    sink: &mut Sink<'_>,
) -> std::result::Result<Fields<'r>, (BadCell, usize, Role)> {
    let (layout, missing) = (sink.layout, sink.missing());
    let cell = |column: usize| record.get(column).unwrap_or_default();
    let label = match layout.column(Role::Label) {
        Some(column) => cell::label(cell::number(cell(column))).map_err(|bad| (bad, column, Role::Label))?,
        None => 0.0,
    };
    let id = |role: Role| match layout.column(role) {
        // Document ids are optional.
        Some(column) if role == Role::Document && cell(column).trim_ascii().is_empty() => Ok(None),
        Some(column) => cell::id(cell(column)).map(Some).map_err(|bad| (bad, column, role)),
        None => Ok(None),
    };
    let (query, document) = (id(Role::Query)?.unwrap_or_default(), id(Role::Document)?);
    let width = layout.features.len();
    let cells = &mut sink.parsed.features[row * width..];
    for (to, &column) in cells.iter_mut().zip(&layout.features) {
        *to = cell::feature(missing, cell::number(cell(column))).map_err(|bad| (bad, column, Role::Feature))?;
    }
    Ok(Fields { label, query, document })
}

/// Reads one record. Returns false at the end of the file.
fn next(reader: &mut ::csv::Reader<Feed>, record: &mut ::csv::ByteRecord) -> Result<bool> {
    reader.get_mut().record_bytes = 0;
    reader.read_byte_record(record).map_err(|error| match error.into_kind() {
        // The only errors of a flexible reader of bytes are those of the feed.
        ::csv::ErrorKind::Io(error) => match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::Data(format!("{}: {error}", reader.get_ref().stream.name)),
        },
        other => Error::Data(format!("{}: {other:?}", reader.get_ref().stream.name)),
    })
}

/// Text for the CSV reader: decompressed, without byte order mark, with `\n` at the end of every line.
struct Feed {
    stream: Stream,
    /// Buffer for text as read from the file.
    raw: Vec<u8>,
    /// Text with normalized line ends; the part before `at` has been consumed.
    text: Vec<u8>,
    at: usize,
    /// Whether the last byte read was `\r`, so that a following `\n` does not end another line.
    after_return: bool,
    ended: bool,
    bytes: u64,
    /// Bytes consumed since the start of the present record.
    record_bytes: usize,
}

impl Feed {
    fn new(stream: Stream) -> Self {
        let (raw, text) = (Vec::new(), Vec::new());
        Feed { stream, raw, text, at: 0, after_return: false, ended: false, bytes: 0, record_bytes: 0 }
    }

    /// Reads the next part of the file.
    fn fill(&mut self) -> Result<()> {
        const STEP: usize = 1 << 18;
        self.raw.clear();
        let read = self.stream.fill(&mut self.raw, STEP)?;
        let raw = std::mem::take(&mut self.raw);
        let mut rest = if self.bytes == 0 { without_mark(&raw) } else { &raw };
        self.bytes += read as u64;
        self.ended = read < STEP;
        self.text.clear();
        self.at = 0;
        while let Some(end) = memchr::memchr(b'\r', rest) {
            self.push(&rest[..end]);
            self.text.push(b'\n');
            self.after_return = true;
            rest = &rest[end + 1..];
        }
        self.push(rest);
        self.raw = raw;
        // Ends the last line; the CSV reader ignores blank lines.
        if self.ended && self.text.last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
        Ok(())
    }

    /// Appends text without carriage returns.
    fn push(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let skip = usize::from(self.after_return && text[0] == b'\n');
        self.after_return = false;
        self.text.extend_from_slice(&text[skip..]);
    }

    /// Detects the delimiter of the first line: comma, semicolon or tab, whichever of them occurs first in this list.
    fn delimiter(&self) -> u8 {
        let line = &self.text[..memchr::memchr(b'\n', &self.text).unwrap_or(self.text.len())];
        [b',', b';', b'\t'].into_iter().find(|byte| line.contains(byte)).unwrap_or(b',')
    }
}

impl Read for Feed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.text.len() {
            if self.ended {
                return Ok(0);
            }
            self.fill().map_err(std::io::Error::other)?;
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        self.record_bytes += count;
        if self.record_bytes > MAX_LINE {
            return Err(std::io::Error::other(long_line(&self.stream.name)));
        }
        Ok(count)
    }
}
