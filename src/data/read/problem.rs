//! Problems with a line of a file.

use super::number::BadNumber;
use crate::error::{ParseError, printable};
use std::borrow::Cow;

/// Message text, allocated only if necessary: a lenient reader may see millions of bad lines.
type Words = Cow<'static, str>;

/// A [`ParseError`] without file and line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    column: usize,
    text: String,
    problem: Words,
    remedy: Words,
}

impl Problem {
    /// Creates a problem with `text` at byte `at` (from 0) of a line.
    #[cold]
    pub(crate) fn new(at: usize, text: &[u8], problem: impl Into<Words>, remedy: impl Into<Words>) -> Box<Self> {
        if std::str::from_utf8(text).is_err() {
            return Self::invalid_utf8(at, text);
        }
        Box::new(Problem { column: at + 1, text: shorten(text), problem: problem.into(), remedy: remedy.into() })
    }

    /// Creates a problem with text that is not UTF-8.
    #[cold]
    pub(crate) fn invalid_utf8(at: usize, text: &[u8]) -> Box<Self> {
        let good = std::str::from_utf8(text).err().map_or(0, |error| error.valid_up_to());
        Box::new(Problem {
            column: at + good + 1,
            text: shorten(text),
            problem: "invalid UTF-8 in".into(),
            remedy: "save the file as UTF-8".into(),
        })
    }

    /// Creates a problem with text that should be a finite number, such as `bad label 'x'`.
    #[cold]
    pub(crate) fn number(at: usize, text: &[u8], what: &str, bad: BadNumber) -> Box<Self> {
        let (problem, remedy) = match bad {
            BadNumber::Text => (format!("bad {what}"), "expected a number such as 0.25 or 1e-3"),
            BadNumber::Nan => (format!("{what} is not a number"), "replace it with a finite number"),
            BadNumber::Infinite => (format!("{what} is infinite"), "replace it with a finite number"),
        };
        Self::new(at, text, problem, remedy)
    }

    /// Adds file and line.
    #[cold]
    pub(crate) fn at(self, file: &str, line: usize) -> Box<ParseError> {
        let Problem { column, text, problem, remedy } = self;
        Box::new(ParseError {
            file: file.to_owned(),
            line,
            column,
            text,
            problem: problem.into_owned(),
            remedy: remedy.into_owned(),
        })
    }
}

/// Shortens text for an error message and escapes unprintable characters.
pub(super) fn shorten(text: &[u8]) -> String {
    const MAX_CHARS: usize = 40;
    if text.len() <= MAX_CHARS && text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return String::from_utf8_lossy(text).into_owned();
    }
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * MAX_CHARS + 4)]);
    let mut short = printable(&text.chars().take(MAX_CHARS).collect::<String>());
    if text.chars().nth(MAX_CHARS).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_and_control_characters_escaped() {
        assert_eq!(shorten(b"a b~"), "a b~");
        assert_eq!(shorten(b"a\rb\x1b"), "a\\rb\\u{1b}");
        assert_eq!(shorten(&[b'x'; 100]), format!("{}...", "x".repeat(40)));
        assert_eq!(shorten("\u{e9}".repeat(200).as_bytes()), format!("{}...", "\u{e9}".repeat(40)));
    }

    #[test]
    fn the_column_points_at_the_first_bad_byte() {
        let error = Problem::new(3, b"ab\xff", "bad label", "").at("f", 2);
        assert_eq!((error.line, error.column, error.problem.as_str()), (2, 6, "invalid UTF-8 in"));
    }
}
