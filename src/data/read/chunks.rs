//! A file in chunks of whole queries, for memory that does not grow with the file.

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

/// The data sets of one file of any [format](crate::data::INPUT_FORMATS), each of a few megabytes of whole queries, in order.
///
/// Needs memory for one chunk, the longest query, and the ids of all queries. A chunk is as wide as the largest feature index of
/// its text: state [`ReadOptions::width`] when all must be alike. [`ReadOptions::regroup`] and [`ReadOptions::query_file`] need the whole
/// file and are not possible. Ends after the first error.
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
    /// The smallest number of features that a document states, and the largest number of all.
    fewest: usize,
    widest: usize,
    rows: Vec<Range<usize>>,
    total_rows: usize,
    highest: (f32, usize),
    /// Whether there was a document, and whether a chunk says that zeros were left out.
    any: bool,
    sparse: bool,
}

/// The query that the text so far ends in: it may go on.
struct Open {
    id: String,
    /// Its first document's line.
    line: usize,
    /// Its documents so far.
    parts: Vec<Dataset>,
    rows: Vec<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There may be more documents.
    More,
    /// All documents are in chunks that were handed out, or are being.
    Last,
    /// All is said.
    Done,
}

impl Chunks {
    /// Opens the file at `path`, compressed or not, or standard input for `-`.
    ///
    /// # Errors
    /// When the file cannot be opened, or an option needs the whole file.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        Self::of(options, || InputFormat::of(path).open(path, options))
    }

    /// As [`Chunks::open`], for a LETOR text from any reader, which errors call `name`.
    ///
    /// # Errors
    /// As [`Chunks::open`].
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static, options: &ReadOptions) -> Result<Self> {
        Self::of(options, || {
            let stream = Stream::of(name.to_owned(), Path::new(name), Box::new(reader))?;
            Ok(letor::of_stream(stream, options))
        })
    }

    fn of(options: &ReadOptions, reader: impl FnOnce() -> Result<Box<dyn Reader>>) -> Result<Self> {
        options.check()?;
        if options.regroup || options.query_file.is_some() {
            let message = "regrouping and query files need the whole file: they cannot be used when reading in chunks";
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
            fewest: usize::MAX,
            widest: 0,
            rows: Vec::new(),
            total_rows: 0,
            highest: (0.0, 0),
            any: false,
            sparse: false,
        })
    }

    /// Sets the size of a chunk's text; a longer query still is one chunk.
    pub fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes.max(1);
        self
    }

    /// Calls `tell` with [`Chunks::bytes`] each time text was read: gigabytes of blank lines are no chunk.
    pub fn with_progress(mut self, tell: impl Fn(u64) + Send + 'static) -> Self {
        self.progress = Some(Box::new(tell));
        self
    }

    /// What [`ReadOptions::lenient`] left out of the chunks so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// The largest number of features of a document so far.
    pub fn n_features(&self) -> usize {
        self.widest
    }

    /// Whether a document so far left out a feature that another has, as [`Dataset::is_sparse`] says of a whole file.
    pub fn is_sparse(&self) -> bool {
        self.sparse || self.fewest < self.widest
    }

    /// The highest label so far and the first line that has it; line 0 when no label is above 0.
    pub fn highest_label(&self) -> (f32, usize) {
        self.highest
    }

    /// The bytes of text read so far, after decompression.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// Which document lines of the file, counted from 0, the documents of the last chunk are: those between were left out.
    pub fn rows(&self) -> &[Range<usize>] {
        &self.rows
    }

    /// The number of document lines read so far, good or bad.
    pub fn total_rows(&self) -> usize {
        self.total_rows
    }

    fn next_chunk(&mut self) -> Result<Option<Dataset>> {
        while self.state == State::More {
            let open = self.open.as_ref().map(|open| (open.id.as_str(), open.line));
            let tell = |bytes| self.progress.iter().for_each(|tell| tell(bytes));
            let before = Before { earlier: &self.earlier, open };
            let piece = self.reader.next(self.chunk_bytes, before, &tell)?;
            if let Piece::Documents { last: true, .. } | Piece::Queries { last: true, .. } = piece {
                self.state = State::Last;
            }
            let chunk = match piece {
                Piece::Documents { parsed, .. } => self.take_in(parsed)?,
                Piece::Queries { data, rows, highest_label, .. } => {
                    self.widest = self.widest.max(data.n_features());
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

    /// The queries that end in a piece, which may be none.
    fn take_in(&mut self, mut parsed: Parsed) -> Result<Option<Dataset>> {
        self.fewest = self.fewest.min(parsed.fewest());
        for highest in parsed.outcomes.iter().map(|outcome| outcome.highest) {
            self.highest = if highest.0 > self.highest.0 { highest } else { self.highest };
        }
        self.widest = self.widest.max(parsed.width);
        let mut left_out = Skipped::default();
        let before =
            Before { earlier: &self.earlier, open: self.open.as_ref().map(|open| (open.id.as_str(), open.line)) };
        let origin = self.reader.origin();
        let mut queries = group::by_options(origin, &parsed.outcomes, &self.options, before, &mut left_out)?;
        let first_row = self.total_rows;
        self.total_rows += parsed.labels.len();
        let skipped = group::skipped_lines(&mut parsed.outcomes, left_out);
        self.skipped.lines += skipped.lines;
        skipped.first.into_iter().for_each(|error| self.skipped.tell(error));
        let Some((last, others)) = queries.split_last() else { return Ok(None) };
        let rows = |queries: &[Query]| {
            let moved = |rows: Range<usize>| rows.start + first_row..rows.end + first_row;
            group::row_ranges(queries).into_iter().map(moved).collect::<Vec<_>>()
        };
        let mut finished = rows(others);
        let mut open =
            Open { id: last.id.clone(), line: last.line, parts: Vec::new(), rows: rows(std::slice::from_ref(last)) };
        let lines: Vec<usize> = queries.iter().map(|query| query.line).collect();
        // The query that was open may have no document here.
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
            return self.go_on(open).map(|()| None);
        }
        let chunk = self.finish(data, finished, &lines[..lines.len() - 1])?;
        self.open = Some(open);
        Ok(Some(chunk))
    }

    /// Adds documents to the open query.
    fn go_on(&mut self, mut more: Open) -> Result<()> {
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
        // In the end its parts are joined.
        let bytes = memory::bytes_of::<f32>((documents as u64).saturating_mul(width as u64 + 1));
        let origin = self.reader.origin();
        let what = format!(
            "{documents} documents of query '{}', which starts on {} {} of {},",
            open.id, origin.unit, open.line, origin.name
        );
        memory::ask(bytes, &what, "give each query an id of its own")
    }

    /// A chunk of the query that was open and those behind it, which start on `lines`.
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
        let (known, new) = (self.earlier.len(), data.n_queries());
        if known + new > self.earlier.capacity() {
            // A table that grows is there twice for a moment.
            let bytes = memory::bytes_of::<(Box<str>, usize, u64)>(3 * (known + new) as u64);
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
