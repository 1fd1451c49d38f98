//! A file in chunks of whole queries, for memory that does not grow with the file.

use super::group::{self, Before, Earlier, Query};
use super::options::{ReadOptions, Skipped};
use super::pieces::{Lines, Pieces};
use super::read::{Parsed, no_documents};
use crate::data::cache::{self, CacheParts};
use crate::data::dataset::Dataset;
use crate::data::source::{Stream, display_name};
use crate::data::table::Table;
use crate::error::{Error, Result};
use crate::memory;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// The data sets of one file, text, table or [cache](crate::data::cache), each of a few megabytes of whole queries, in order.
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
    pieces: Box<dyn Pieces>,
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
    /// In place of text, where the file is a cache.
    cache: Option<CacheParts>,
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
    /// Opens the file at `path`, packed or not, or standard input for `-`.
    ///
    /// # Errors
    /// When the file cannot be opened, or an option needs the whole file.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        let lines = |stream| -> Box<dyn Pieces> { Box::new(Lines::new(stream, options.clone())) };
        if !cache::looks_like_a_cache(path) {
            return Self::of(options, || {
                Ok(match Table::open(path, options)? {
                    Some(table) => Box::new(table),
                    None => lines(Stream::open(path)?),
                })
            });
        }
        let parts = CacheParts::open(path, options)?;
        let nothing = || Stream::of(display_name(path), path, Box::new(std::io::empty()));
        let mut chunks = Self::of(options, || nothing().map(lines))?;
        (chunks.widest, chunks.highest) = (parts.n_features(), parts.highest_label);
        chunks.cache = Some(parts);
        Ok(chunks)
    }

    /// As [`Chunks::open`], for a text from any reader, which errors call `name`.
    ///
    /// # Errors
    /// As [`Chunks::open`].
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static, options: &ReadOptions) -> Result<Self> {
        Self::of(options, || {
            let stream = Stream::of(name.to_owned(), Path::new(name), Box::new(reader))?;
            Ok(Box::new(Lines::new(stream, options.clone())))
        })
    }

    fn of(options: &ReadOptions, pieces: impl FnOnce() -> Result<Box<dyn Pieces>>) -> Result<Self> {
        options.check()?;
        if options.regroup || options.query_file.is_some() {
            let message = "regrouping and query files need the whole file: they cannot be used when reading in chunks";
            return Err(Error::Config(message.into()));
        }
        Ok(Chunks {
            pieces: pieces()?,
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
            cache: None,
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
        self.cache.as_ref().map_or(self.fewest < self.widest, CacheParts::is_sparse)
    }

    /// The highest label so far and the first line that has it; line 0 when no label is above 0.
    pub fn highest_label(&self) -> (f32, usize) {
        self.highest
    }

    /// The bytes of text read so far, after unpacking.
    pub fn bytes(&self) -> u64 {
        self.cache.as_ref().map_or_else(|| self.pieces.bytes(), CacheParts::bytes)
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
        if let Some(parts) = &mut self.cache {
            let Some((chunk, rows)) = parts.next(self.chunk_bytes) else { return Ok(None) };
            self.progress.iter().for_each(|tell| tell(parts.bytes()));
            (self.total_rows, self.rows) = (rows.end, vec![rows]);
            return Ok(Some(chunk));
        }
        while self.state == State::More {
            let open = self.open.as_ref().map(|open| (open.id.as_str(), open.line));
            let tell = |bytes| self.progress.iter().for_each(|tell| tell(bytes));
            let before = Before { earlier: &self.earlier, open };
            let (parsed, last) = self.pieces.next(self.chunk_bytes, before, &tell)?;
            if last {
                self.state = State::Last;
            }
            let chunk = self.take_in(parsed)?;
            if chunk.is_some() {
                return Ok(chunk);
            }
        }
        self.state = State::Done;
        if self.earlier.is_empty() {
            return Err(no_documents(self.pieces.origin().name, &self.skipped, self.pieces.expected()));
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
        let origin = self.pieces.origin();
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
        let mut data = parsed.dataset(self.pieces.origin().name, queries)?;
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
        let origin = self.pieces.origin();
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
        if let Some(names) = self.pieces.feature_names() {
            data = data.with_feature_names(names)?;
        }
        let (known, new) = (self.earlier.len(), data.n_queries());
        if known + new > self.earlier.capacity() {
            // A table that grows is there twice for a moment.
            let bytes = memory::bytes_of::<(Box<str>, usize, u64)>(3 * (known + new) as u64);
            memory::ask(bytes, &format!("the query ids of {}", self.pieces.origin().name), "split the file")?;
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
