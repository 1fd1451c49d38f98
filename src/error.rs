//! Errors are data: what went wrong, where, and what to do about it.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong through no fault of the code.
///
/// Messages name settings in backticks, as in `` `null` ``: the name of a field or a setting's key. Programs show what their users
/// call it instead, as in `--null`.
///
/// [`Error::Setting`] and [`Error::Config`] are what the caller asked for and can be known before any file is read; all others
/// come from files, data and the machine.
///
/// ```
/// use burnrank::{Error, Objective};
///
/// let error = Objective::parse("lamdarank:ndcg").unwrap_err();
/// assert!(matches!(error, Error::Config(_)));
/// assert_eq!(error.to_string(), "unknown objective 'lamdarank:ndcg': did you mean 'lambdarank:ndcg'?");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of a text file does not say what its format asks for.
    #[error(transparent)]
    Parse(#[from] Box<ParseError>),
    /// The operating system refused a file.
    #[error("{}: cannot {action}: {source}", printable(&path.display().to_string()))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as in "read" or "create".
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A setting has a value that it cannot have. Programs that have another name for the setting, as `--lr` for `lr`, print
    /// that name instead of the key.
    #[error("{key} {}: expected {expected}", printable(value))]
    Setting {
        /// Key of the setting, as in `lr`.
        key: &'static str,
        /// The value as text.
        value: String,
        /// Values that the setting can have, as in "a number above 0".
        expected: String,
    },
    /// An argument or a combination of settings makes no sense, whatever the data.
    #[error("{0}")]
    Config(String),
    /// Data that cannot be used for what was asked, as in no query at all.
    #[error("{0}")]
    Data(String),
    /// Two inputs do not fit together, as in scores for another number of documents.
    #[error("{0}")]
    Mismatch(String),
    /// What computes is not there or failed: a device, its driver, or threads.
    #[error("{0}")]
    Device(String),
    /// Weights or progress that cannot be made bytes, or bytes that are not those of a record.
    #[error("{0}")]
    Record(String),
    /// Training that came to no model, as in scores that are no longer finite.
    #[error("{0}")]
    Training(String),
    /// Work that would take more memory than it may.
    #[error(
        "{what} would take {}, and {} may be taken: {remedy}{}allow more with `max_memory`",
        crate::memory::readable(*needed),
        crate::memory::readable(*left),
        if remedy.is_empty() { "" } else { ", or " }
    )]
    Memory {
        /// The bytes that the work asked for.
        needed: u64,
        /// The bytes that it could have.
        left: u64,
        /// What the memory was for.
        what: String,
        /// What makes it smaller; may be empty.
        remedy: String,
    },
    /// What went wrong in another process of the same run.
    #[error("{process}: {message}")]
    Elsewhere {
        /// Which one, as in `process 3 of 8 on host b`.
        process: String,
        /// What it said.
        message: String,
        /// The exit code that it ends with.
        code: u8,
    },
    /// The caller asked for it, see [`Stop`](crate::Stop).
    #[error("stopped")]
    Stopped,
    /// A model folder that cannot be used.
    #[error("{}: {message}", printable(&path.display().to_string()))]
    Model {
        /// The folder or the file in it.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
}

impl Error {
    /// An [`Error::Io`] for `path`.
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), action, source }
    }

    /// An [`Error::Setting`].
    ///
    /// ```
    /// let error = burnrank::Error::setting("lr", 0, "a number above 0");
    /// assert_eq!(error.to_string(), "lr 0: expected a number above 0");
    /// ```
    pub fn setting(key: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Setting { key, value: value.to_string(), expected: expected.into() }
    }
}

/// One place in one text file, what stands there, and the remedy.
///
/// Prints as `train.txt:17:5: bad label 'x': expected a number of 0 or more`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The file as the user named it; `<stdin>` for standard input.
    pub file: String,
    /// Counted from 1; 0 when the whole file is meant.
    pub line: usize,
    /// Counted in bytes from 1; 0 when the whole line is meant.
    pub column: usize,
    /// The offending text, cut to a readable length; may be empty.
    pub text: String,
    /// What is wrong, as in "bad label".
    pub problem: String,
    /// What was expected and what the user can do.
    pub remedy: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        write!(f, ": {}", self.problem)?;
        if !self.text.is_empty() {
            write!(f, " '{}'", self.text)?;
        }
        if !self.remedy.is_empty() {
            write!(f, ": {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

/// The text with escapes in place of characters that could steer a terminal or turn the order of writing around.
///
/// ```
/// assert_eq!(burnrank::internal::text::printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
/// ```
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) { safe.extend(character.escape_default()) } else { safe.push(character) }
    }
    safe
}

/// As [`printable`] for whole output, of people and machines: line ends and tabs stay, and escapes are those of JSON.
///
/// ```
/// assert_eq!(burnrank::internal::text::harmless("a\u{1b}[2J\tb\u{202e}\n"), "a\\u001b[2J\tb\\u202e\n");
/// ```
pub fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |c: char| steers(c) && c != '\n' && c != '\t';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if steers(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// Whether a character could steer a terminal or turn the order of writing around.
fn steers(character: char) -> bool {
    let turns =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parse_error_names_place_text_and_remedy() {
        let error = ParseError {
            file: "train.txt".into(),
            line: 17,
            column: 5,
            text: "x".into(),
            problem: "bad label".into(),
            remedy: "expected a number of 0 or more".into(),
        };
        assert_eq!(error.to_string(), "train.txt:17:5: bad label 'x': expected a number of 0 or more");
    }

    #[test]
    fn names_cannot_steer_a_terminal() {
        let error = Error::io("a\u{1b}]0;x\u{7}.txt", "read", std::io::Error::other("gone"));
        assert_eq!(error.to_string(), "a\\u{1b}]0;x\\u{7}.txt: cannot read: gone");
        assert_eq!(printable("\u{9b}\u{202e}é\r"), "\\u{9b}\\u{202e}é\\r");
    }

    #[test]
    fn a_whole_file_error_has_no_line() {
        let error = ParseError {
            file: "a.txt".into(),
            line: 0,
            column: 0,
            text: String::new(),
            problem: "the file is empty".into(),
            remedy: String::new(),
        };
        assert_eq!(error.to_string(), "a.txt: the file is empty");
    }
}
