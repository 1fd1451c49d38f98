//! What can be wrong with a line, in the user's words.

use super::number::BadNumber;
use crate::error::{ParseError, printable};
use std::borrow::Cow;

/// Words that are made only where a number or a name belongs into them: a lenient reader may meet millions of bad lines.
type Words = Cow<'static, str>;

/// A [`ParseError`] that does not know its file and line yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    column: usize,
    text: String,
    problem: Words,
    remedy: Words,
}

impl Problem {
    /// What is wrong with the bytes `text` at byte `at` (from 0) of a line.
    #[cold]
    pub(crate) fn new(at: usize, text: &[u8], problem: impl Into<Words>, remedy: impl Into<Words>) -> Box<Self> {
        if std::str::from_utf8(text).is_err() {
            return Self::invalid_utf8(at, text);
        }
        Box::new(Problem { column: at + 1, text: shorten(text), problem: problem.into(), remedy: remedy.into() })
    }

    /// Bytes that are no text.
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

    /// A text that should be a finite number, as in `bad label 'x'`.
    #[cold]
    pub(crate) fn number(at: usize, text: &[u8], what: &str, bad: BadNumber) -> Box<Self> {
        let (problem, remedy) = match bad {
            BadNumber::Text => (format!("bad {what}"), "expected a number such as 0.25 or 1e-3"),
            BadNumber::Nan => (format!("{what} is not a number"), "put a finite number in its place"),
            BadNumber::Infinite => (format!("{what} is infinite"), "put a finite number in its place"),
        };
        Self::new(at, text, problem, remedy)
    }

    /// The full error.
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

/// The text as an error shows it: escaped where it is not printable, cut where it is long.
fn shorten(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    if text.len() <= LONGEST && text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return String::from_utf8_lossy(text).into_owned();
    }
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST + 4)]);
    let mut short = printable(&text.chars().take(LONGEST).collect::<String>());
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_unprintable_texts_stay_readable() {
        assert_eq!(shorten(b"a b~"), "a b~");
        assert_eq!(shorten(b"a\rb\x1b"), "a\\rb\\u{1b}");
        assert_eq!(shorten(&[b'x'; 100]), format!("{}...", "x".repeat(40)));
        assert_eq!(shorten("\u{e9}".repeat(200).as_bytes()), format!("{}...", "\u{e9}".repeat(40)));
    }

    #[test]
    fn the_column_is_that_of_the_first_bad_byte() {
        let error = Problem::new(3, b"ab\xff", "bad label", "").at("f", 2);
        assert_eq!((error.line, error.column, error.problem.as_str()), (2, 6, "invalid UTF-8 in"));
    }
}
