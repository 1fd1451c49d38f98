//! A file in chunks of whole queries, for memory that does not grow with the file.

use super::group::{self, Earlier};
use super::options::{ReadOptions, Skipped};
use super::read::{Piece, no_documents, without_mark};
use crate::data::dataset::Dataset;
use crate::data::source::Stream;
use crate::error::{Error, Result};
use std::path::Path;

/// The data sets of one file, each of a few megabytes of whole queries, in order.
///
/// Needs memory for one chunk, the longest query, and the ids of all queries. A chunk is as wide as the largest feature index of
/// its text: state [`ReadOptions::width`] when all must be alike. [`ReadOptions::regroup`] and [`ReadOptions::query_file`] need the whole
/// file and are not possible. Ends after the first error.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.txt");
/// std::fs::write(&path, "2 qid:a 1:0.5\n0 qid:a 1:4\n1 qid:b 1:1\n0 qid:c 1:2\n").unwrap();
/// let chunks = burnrank::Chunks::open(&path, &burnrank::ReadOptions::default())?.with_chunk_bytes(40);
/// let sizes = chunks.map(|chunk| Ok(chunk?.n_documents())).collect::<burnrank::Result<Vec<_>>>()?;
/// assert_eq!(sizes, [2, 2]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub struct Chunks {
    stream: Stream,
    options: ReadOptions,
    /// Unread text, from the start of a line.
    buffer: Vec<u8>,
    /// The number of its first line.
    line: usize,
    chunk_bytes: usize,
    state: State,
    earlier: Earlier,
    skipped: Skipped,
    bytes: u64,
    /// The smallest number of features that a document states, and the largest number of all.
    fewest: usize,
    widest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was read yet.
    Start,
    /// There may be more text.
    More,
    /// All text is in the buffer.
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
        options.check()?;
        if options.regroup || options.query_file.is_some() {
            let message = "regrouping and query files need the whole file: they cannot be used when reading in chunks";
            return Err(Error::Config(message.into()));
        }
        Ok(Chunks {
            stream: Stream::open(path.as_ref())?,
            options: options.clone(),
            buffer: Vec::new(),
            line: 1,
            chunk_bytes: 16 << 20,
            state: State::Start,
            earlier: Earlier::new(),
            skipped: Skipped::default(),
            bytes: 0,
            fewest: usize::MAX,
            widest: 0,
        })
    }

    /// Sets the size of a chunk's text; a longer query still is one chunk.
    pub fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes.max(1);
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
        self.fewest < self.widest
    }

    /// The bytes of text read so far, after unpacking.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn next_chunk(&mut self) -> Result<Option<Dataset>> {
        let mut target = self.chunk_bytes;
        loop {
            self.fill(target)?;
            let last = self.state == State::Last;
            let whole =
                if last { self.buffer.len() } else { memchr::memrchr(b'\n', &self.buffer).map_or(0, |end| end + 1) };
            if let Some((chunk, used)) = self.parse(whole)? {
                self.line += memchr::memchr_iter(b'\n', &self.buffer[..used]).count();
                self.buffer.drain(..used);
                if chunk.is_some() {
                    return Ok(chunk);
                }
            } else {
                // One query, or one line, is longer than the chunk.
                target = self.buffer.len().saturating_mul(2);
            }
            if last {
                self.state = State::Done;
                let nothing = self.earlier.is_empty();
                return if nothing { Err(no_documents(&self.stream.name, &self.skipped)) } else { Ok(None) };
            }
        }
    }

    /// Reads until the buffer holds `target` bytes.
    fn fill(&mut self, target: usize) -> Result<()> {
        if self.state == State::Last {
            return Ok(());
        }
        let limit = target.saturating_sub(self.buffer.len()).max(4);
        let read = self.stream.fill(&mut self.buffer, limit)?;
        self.bytes += read as u64;
        if self.state == State::Start {
            let mark = self.buffer.len() - without_mark(&self.buffer).len();
            self.buffer.drain(..mark);
        }
        self.state = if read < limit { State::Last } else { State::More };
        Ok(())
    }

    /// The finished queries of the first `whole` bytes, which may be none, and the bytes they are done with; `None` when more
    /// text is needed to finish the first.
    fn parse(&mut self, whole: usize) -> Result<Option<(Option<Dataset>, usize)>> {
        let text = &self.buffer[..whole];
        let (name, first_line) = (self.stream.name.as_str(), self.line);
        let piece = Piece { name, text, first_line, options: &self.options, earlier: &self.earlier };
        let mut parsed = piece.parse(&|_| ())?;
        self.fewest = self.fewest.min(parsed.fewest());
        self.widest = self.widest.max(parsed.width);
        let sparse = self.fewest < self.widest;
        let mut left_out = Vec::new();
        let mut queries = piece.queries(&parsed.outcomes, &mut left_out)?;
        let (mut before, mut used) = (usize::MAX, whole);
        // The last query may go on in the text that is not read yet.
        if self.state != State::Last
            && let Some(last) = queries.pop()
        {
            if queries.is_empty() {
                return Ok(None);
            }
            (before, used) = (last.line, last.offset);
        } else if whole == 0 {
            return Ok(if self.state == State::Last { Some((None, 0)) } else { None });
        }
        let mut skipped = group::skipped_lines(&mut parsed.outcomes, left_out, before);
        let lines: Vec<(Box<str>, usize)> =
            queries.iter().map(|query| (query.id.as_ref().into(), query.line)).collect();
        let chunk =
            if queries.is_empty() { None } else { Some(parsed.dataset(text, &queries)?.declared_sparse(sparse)) };
        self.earlier.extend(lines);
        self.skipped.lines += skipped.lines;
        self.skipped.first.append(&mut skipped.first);
        self.skipped.first.truncate(Skipped::SHOWN);
        Ok(Some((chunk, used)))
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
