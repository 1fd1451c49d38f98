//! The LETOR format, also called SVMlight or LibSVM with query ids: `<label> qid:<id> <index>:<value> ... # comment`.

mod block;
mod line;
mod other_format;
mod peek;
mod piece;

pub use peek::has_query_ids;

use super::group::{Before, Earlier, counts};
use super::options::ReadOptions;
use super::reader::{Origin, Piece, Progress, Reader};
use super::report::{ReadProgress, ReadReport, report};
use crate::data::source::{Compression, MAX_LINE, Stream, Text, long_line, without_mark};
use crate::error::Result;
use piece::TextPiece;
use std::path::Path;

/// Name of the format.
pub(super) const LETOR: &str = "LETOR";

/// Expected contents, for messages.
const LINES: &str = "expected lines of <label> qid:<id> <index>:<value> ...";

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    Ok(of_stream(Stream::open(path)?, options))
}

/// Reads from a stream.
pub(super) fn of_stream(stream: Stream, options: &ReadOptions) -> Box<dyn Reader> {
    Box::new(Lines::new(stream, options))
}

/// Reads a text with random access.
pub(super) fn read_text(
    name: &str,
    text: Text<'_>,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<ReadReport> {
    let counts = counts(options)?;
    let before = Before { earlier: &Earlier::new(), open: None };
    let parsed = TextPiece { name, text, first_line: 1, options, before }.parse(progress)?;
    let report = report(Origin::text(name), parsed, counts.as_deref(), options, LINES)?;
    Ok(ReadReport { bytes: text.len() as u64, ..report })
}

/// A text read from front to back.
struct Lines {
    stream: Stream,
    options: ReadOptions,
    /// Unread text, from the start of a line.
    buffer: Vec<u8>,
    /// Line number of the start of the buffer.
    line: usize,
    state: State,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has been read yet.
    Start,
    /// There may be more text.
    More,
    /// The rest of the text is in the buffer.
    Last,
}

impl Lines {
    fn new(stream: Stream, options: &ReadOptions) -> Self {
        let options = options.clone();
        Lines { stream, options, buffer: Vec::new(), line: 1, state: State::Start, bytes: 0 }
    }

    /// Reads until the buffer holds `target` bytes.
    fn fill(&mut self, target: usize, progress: &dyn Fn(u64)) -> Result<()> {
        if self.state == State::Last {
            return Ok(());
        }
        let limit = target.saturating_sub(self.buffer.len()).max(4);
        let read = self.stream.fill(&mut self.buffer, limit)?;
        self.bytes += read as u64;
        progress(self.bytes);
        if self.state == State::Start {
            let mark = self.buffer.len() - without_mark(&self.buffer).len();
            self.buffer.drain(..mark);
        }
        self.state = if read < limit { State::Last } else { State::More };
        Ok(())
    }
}

impl Reader for Lines {
    fn origin(&self) -> Origin<'_> {
        Origin::text(&self.stream.name)
    }

    fn expected(&self) -> &'static str {
        LINES
    }

    fn next(&mut self, bytes: usize, before: Before<'_>, progress: &dyn Fn(u64)) -> Result<Piece> {
        let mut target = bytes;
        loop {
            self.fill(target, progress)?;
            let last = self.state == State::Last;
            let whole =
                if last { self.buffer.len() } else { memchr::memrchr(b'\n', &self.buffer).map_or(0, |end| end + 1) };
            if whole == 0 && !last {
                // A line is longer than the piece.
                if self.buffer.len() > MAX_LINE {
                    return Err(long_line(&self.stream.name));
                }
                target = self.buffer.len().saturating_mul(2).min(MAX_LINE + 1);
                continue;
            }
            let text = &self.buffer[..whole];
            let (name, first_line, options) = (self.stream.name.as_str(), self.line, &self.options);
            let parsed = TextPiece { name, text: Text::Memory(text), first_line, options, before }.parse(&|_| ())?;
            self.line += memchr::memchr_iter(b'\n', text).count();
            self.buffer.drain(..whole);
            return Ok(Piece::Documents { parsed, last });
        }
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn compression(&self) -> Option<Compression> {
        self.stream.compression()
    }

    /// Surveys the whole text, then parses it in parallel into the final matrix.
    fn whole(self: Box<Self>, options: &ReadOptions, progress: Progress<'_>) -> Result<ReadReport> {
        let source = self.stream.whole(&|done| progress(ReadProgress { done, total: None }))?;
        let report = read_text(&source.name, source.text(), options, progress);
        // If the file changed, reports that instead of errors caused by the change.
        source.check()?;
        report.map(|report| ReadReport { compression: source.compression, ..report })
    }
}
