//! A file piece by piece, in order: a text in stretches of whole lines, or what else has documents in it.

use super::group::{Before, Origin};
use super::options::ReadOptions;
use super::read::{LINES, Parsed, Piece};
use crate::data::source::{MAX_LINE, Stream, Text, long_line, without_mark};
use crate::error::Result;

/// Where the documents of chunks come from.
pub(in crate::data) trait Pieces: Send {
    /// The file, for messages.
    fn origin(&self) -> Origin<'_>;

    /// What the file should hold, for messages about files that are empty.
    fn expected(&self) -> &'static str;

    /// The names of the features, where the file has them.
    fn feature_names(&self) -> Option<Vec<String>>;

    /// The documents of the next piece of about so many bytes, and whether it is the last; `tell` learns how far reading has come.
    fn next(&mut self, bytes: usize, before: Before<'_>, tell: &dyn Fn(u64)) -> Result<(Parsed, bool)>;

    /// The bytes read so far, after unpacking.
    fn bytes(&self) -> u64;
}

/// A text, read from front to back.
pub(super) struct Lines {
    stream: Stream,
    options: ReadOptions,
    /// Unread text, from the start of a line.
    buffer: Vec<u8>,
    /// The number of its first line.
    line: usize,
    state: State,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was read yet.
    Start,
    /// There may be more text.
    More,
    /// All text is in the buffer.
    Last,
}

impl Lines {
    pub(super) fn new(stream: Stream, options: ReadOptions) -> Self {
        Lines { stream, options, buffer: Vec::new(), line: 1, state: State::Start, bytes: 0 }
    }

    /// Reads until the buffer holds `target` bytes.
    fn fill(&mut self, target: usize, tell: &dyn Fn(u64)) -> Result<()> {
        if self.state == State::Last {
            return Ok(());
        }
        let limit = target.saturating_sub(self.buffer.len()).max(4);
        let read = self.stream.fill(&mut self.buffer, limit)?;
        self.bytes += read as u64;
        tell(self.bytes);
        if self.state == State::Start {
            let mark = self.buffer.len() - without_mark(&self.buffer).len();
            self.buffer.drain(..mark);
        }
        self.state = if read < limit { State::Last } else { State::More };
        Ok(())
    }
}

impl Pieces for Lines {
    fn origin(&self) -> Origin<'_> {
        Origin::text(&self.stream.name)
    }

    fn expected(&self) -> &'static str {
        LINES
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        None
    }

    fn next(&mut self, bytes: usize, before: Before<'_>, tell: &dyn Fn(u64)) -> Result<(Parsed, bool)> {
        let mut target = bytes;
        loop {
            self.fill(target, tell)?;
            let last = self.state == State::Last;
            let whole =
                if last { self.buffer.len() } else { memchr::memrchr(b'\n', &self.buffer).map_or(0, |end| end + 1) };
            if whole == 0 && !last {
                // One line is longer than the piece.
                if self.buffer.len() > MAX_LINE {
                    return Err(long_line(&self.stream.name));
                }
                target = self.buffer.len().saturating_mul(2).min(MAX_LINE + 1);
                continue;
            }
            let text = &self.buffer[..whole];
            let (name, first_line, options) = (self.stream.name.as_str(), self.line, &self.options);
            let parsed = Piece { name, text: Text::Memory(text), first_line, options, before }.parse(&|_| ())?;
            self.line += memchr::memchr_iter(b'\n', text).count();
            self.buffer.drain(..whole);
            return Ok((parsed, last));
        }
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
