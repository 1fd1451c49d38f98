//! Reading a file in chunks of whole queries, with memory that does not grow with the file.

use super::format::InputFormat;
use super::group::{self, Before, Earlier, Query};
use super::letor;
use super::options::ReadOptions;
use super::parsed::Parsed;
use super::reader::{Piece, Reader};
use super::report::{Skipped, no_documents};
use crate::data::dataset::Dataset;
use crate::data::source::Stream;
use crate::error::{Error, Result};
use crate::memory;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// An iterator over a file of any [format](crate::data::INPUT_FORMATS) in chunks of a few megabytes of whole queries.
///
/// Needs memory for one chunk, the longest query, and the ids of all queries. The width of a chunk is the largest feature index
/// in its text; set [`ReadOptions::width`] for chunks of equal width. [`ReadOptions::regroup`] and [`ReadOptions::query_file`]
/// need the whole file and are not supported. Iteration ends after the first error.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.txt");
/// std::fs::write(&path, "2 qid:a 1:0.5\n0 qid:a 1:4\n1 qid:b 1:1\n0 qid:c 1:2\n").unwrap();
/// let chunks = burnrank::data::Chunks::open(&path, &burnrank::ReadOptions::default())?.with_chunk_bytes(40);
/// let sizes = chunks.map(|chunk| Ok(chunk?.n_documents())).collect::<burnrank::Result<Vec<_>>>()?;
/// assert_eq!(sizes, [2, 2]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub struct Chunks {
    reader: Box<dyn Reader>,
    options: ReadOptions,
    chunk_bytes: usize,
    state: State,
    earlier: Earlier,
    open: Option<Open>,
    skipped: Skipped,
    progress: Option<Box<dyn Fn(u64) + Send>>,
    /// Minimum number of features listed by a document.
    min_listed: usize,
    /// Maximum width of a document.
    max_width: usize,
    rows: Vec<Range<usize>>,
    total_rows: usize,
    highest: (f32, usize),
    /// Whether there was a document.
    any: bool,
    /// Whether a chunk is sparse.
    sparse: bool,
}

/// The last query read so far, which may continue.
struct Open {
    id: String,
    /// Line of its first document.
    line: usize,
    parts: Vec<Dataset>,
    rows: Vec<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There may be more documents.
    More,
    /// The last piece of the file has been read.
    Last,
    /// Iteration has ended.
    Done,
}

impl Chunks {
    /// Opens the file at `path`, which may be compressed, or standard input for `-`.
    ///
    /// # Errors
    /// When the file cannot be opened, or an option needs the whole file.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        Self::of(options, || InputFormat::of(path).open(path, options))
    }

    /// Reads LETOR text from any reader. Errors refer to it as `name`.
    ///
    /// # Errors
    /// See [`Chunks::open`].
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static, options: &ReadOptions) -> Result<Self> {
        Self::of(options, || {
            let stream = Stream::of(name.to_owned(), Path::new(name), Box::new(reader))?;
            Ok(letor::of_stream(stream, options))
        })
    }

    fn of(options: &ReadOptions, reader: impl FnOnce() -> Result<Box<dyn Reader>>) -> Result<Self> {
        options.check()?;
        if options.regroup || options.query_file.is_some() {
            let message = "regrouping and query files need the whole file and cannot be used when reading in chunks";
            return Err(Error::Config(message.into()));
        }
        Ok(Chunks {
            reader: reader()?,
            options: options.clone(),
            chunk_bytes: 16 << 20,
            state: State::More,
            earlier: Earlier::new(),
            open: None,
            skipped: Skipped::default(),
            progress: None,
            min_listed: usize::MAX,
            max_width: 0,
            rows: Vec::new(),
            total_rows: 0,
            highest: (0.0, 0),
            any: false,
            sparse: false,
        })
    }

    /// Sets the size of a chunk in bytes of text. Longer queries are not split.
    pub fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes.max(1);
        self
    }

    /// Calls `progress` with [`Chunks::bytes`] whenever text has been read, which may be often between two chunks.
    pub fn with_progress(mut self, progress: impl Fn(u64) + Send + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Returns the lines skipped so far because of [`ReadOptions::lenient`].
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Returns the maximum number of features of a document so far.
    pub fn n_features(&self) -> usize {
        self.max_width
    }

    /// Whether the file read so far is sparse, see [`Dataset::is_sparse`].
    pub fn is_sparse(&self) -> bool {
        self.sparse || self.min_listed < self.max_width
    }

    /// Returns the highest label so far and the first line that has it, or line 0 if no label is above 0.
    pub fn highest_label(&self) -> (f32, usize) {
        self.highest
    }

    /// Returns the number of bytes of text read so far, after decompression.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// Returns the document lines of the last chunk, counted from 0 in the file. Lines in gaps between ranges were skipped.
    pub fn rows(&self) -> &[Range<usize>] {
        &self.rows
    }

    /// Returns the number of document lines read so far, including bad ones.
    pub fn total_rows(&self) -> usize {
        self.total_rows
    }

    fn next_chunk(&mut self) -> Result<Option<Dataset>> {
        while self.state == State::More {
            let open = self.open.as_ref().map(|open| (open.id.as_str(), open.line));
            let progress = |bytes| self.progress.iter().for_each(|progress| progress(bytes));
            let before = Before { earlier: &self.earlier, open };
            let piece = self.reader.next(self.chunk_bytes, before, &progress)?;
            if let Piece::Documents { last: true, .. } | Piece::Queries { last: true, .. } = piece {
                self.state = State::Last;
            }
            let chunk = match piece {
                Piece::Documents { parsed, .. } => self.add_documents(parsed)?,
                Piece::Queries { data, rows, highest_label, .. } => {
                    self.max_width = self.max_width.max(data.n_features());
                    self.sparse |= data.is_sparse();
                    (self.highest, self.total_rows, self.rows) = (highest_label, rows.end, vec![rows]);
                    Some(data)
                }
            };
            self.any |= chunk.is_some();
            if chunk.is_some() {
                return Ok(chunk);
            }
        }
        self.state = State::Done;
        if !self.any {
            return Err(no_documents(self.reader.origin().name, &self.skipped, self.reader.expected()));
        }
        Ok(None)
    }

    /// Adds a piece and returns the queries that are complete, if any.
    fn add_documents(&mut self, mut parsed: Parsed) -> Result<Option<Dataset>> {
        self.min_listed = self.min_listed.min(parsed.min_listed());
        for highest in parsed.outcomes.iter().map(|outcome| outcome.highest) {
            self.highest = if highest.0 > self.highest.0 { highest } else { self.highest };
        }
        self.max_width = self.max_width.max(parsed.width);
        let mut reappearing = Skipped::default();
        let before =
            Before { earlier: &self.earlier, open: self.open.as_ref().map(|open| (open.id.as_str(), open.line)) };
        let origin = self.reader.origin();
        let mut queries = group::by_options(origin, &parsed.outcomes, &self.options, before, &mut reappearing)?;
        let first_row = self.total_rows;
        self.total_rows += parsed.labels.len();
        let skipped = group::skipped_lines(&mut parsed.outcomes, reappearing);
        self.skipped.lines += skipped.lines;
        skipped.first.into_iter().for_each(|error| self.skipped.record(error));
        let Some((last, others)) = queries.split_last() else { return Ok(None) };
        let rows = |queries: &[Query]| {
            let shift = |rows: Range<usize>| rows.start + first_row..rows.end + first_row;
            group::row_ranges(queries).into_iter().map(shift).collect::<Vec<_>>()
        };
        let mut finished = rows(others);
        let mut open =
            Open { id: last.id.clone(), line: last.line, parts: Vec::new(), rows: rows(std::slice::from_ref(last)) };
        let lines: Vec<usize> = queries.iter().map(|query| query.line).collect();
        // The open query may have no documents in this piece.
        queries.retain(|query| !query.rows.is_empty());
        let mut data = parsed.dataset(self.reader.origin().name, queries)?;
        if self.state == State::Last {
            finished.append(&mut open.rows);
            return self.finish(data, finished, &lines).map(Some);
        }
        if !open.rows.is_empty() {
            open.parts.push(data.take_out(&[data.n_queries() - 1]));
        }
        if let [_] = lines[..] {
            return self.extend_open(open).map(|()| None);
        }
        let chunk = self.finish(data, finished, &lines[..lines.len() - 1])?;
        self.open = Some(open);
        Ok(Some(chunk))
    }

    /// Adds documents to the open query.
    fn extend_open(&mut self, mut more: Open) -> Result<()> {
        let open = match &mut self.open {
            Some(open) => {
                open.parts.append(&mut more.parts);
                open.rows.append(&mut more.rows);
                open
            }
            None => self.open.insert(more),
        };
        let documents: usize = open.parts.iter().map(Dataset::n_documents).sum();
        let width = open.parts.iter().map(Dataset::n_features).max().unwrap_or(0);
        // The parts will be joined.
        let bytes = memory::bytes_of::<f32>((documents as u64).saturating_mul(width as u64 + 1));
        let origin = self.reader.origin();
        let what = format!(
            "{documents} documents of query '{}', which starts on {} {} of {},",
            open.id, origin.unit, open.line, origin.name
        );
        memory::ask(bytes, &what, "give each query a unique id")
    }

    /// Builds a chunk of the open query and the queries after it, which start on `lines`.
    fn finish(&mut self, data: Dataset, rows: Vec<Range<usize>>, lines: &[usize]) -> Result<Dataset> {
        let (mut parts, mut all_rows) = self.open.take().map(|open| (open.parts, open.rows)).unwrap_or_default();
        all_rows.extend(rows);
        self.rows = all_rows;
        if data.n_documents() > 0 {
            parts.push(data);
        }
        let mut data = Dataset::joined(parts)?.declared_sparse(self.is_sparse());
        if let Some(names) = self.reader.feature_names() {
            data = data.with_feature_names(names)?;
        }
        let queries = self.earlier.len() + data.n_queries();
        if queries > self.earlier.capacity() {
            // A growing hash table briefly exists twice.
            let bytes = memory::bytes_of::<(Box<str>, usize, u64)>(3 * queries as u64);
            memory::ask(bytes, &format!("the query ids of {}", self.reader.origin().name), "split the file")?;
        }
        self.earlier.extend(data.query_ids().iter().map(|id| id.as_str().into()).zip(lines.iter().copied()));
        Ok(data)
    }
}

impl Iterator for Chunks {
    type Item = Result<Dataset>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let next = self.next_chunk().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.state = State::Done;
        }
        next
    }
}
