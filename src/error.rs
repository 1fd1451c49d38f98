//! Error types: what is wrong, where, and what to do.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Result of the fallible functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of this crate.
///
/// Messages name fields and settings in backticks, as in `` `null` ``. Programs can replace them with their own names, as in `--null`.
///
/// [`Error::Setting`] and [`Error::Config`] are errors of the caller, detected before any file is read. All others come from
/// files, data and the machine.
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
    /// A line of a text file does not parse.
    #[error(transparent)]
    Parse(#[from] Box<ParseError>),
    /// A file operation failed.
    #[error("{}: cannot {action}: {source}", printable(&path.display().to_string()))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operation, as in "read" or "create".
        action: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A setting has an invalid value. Programs with another name for the setting, as `--lr` for `lr`, print that name instead
    /// of the key.
    #[error("{key} {}: expected {expected}", printable(value))]
    Setting {
        /// Key of the setting, as in `lr`.
        key: &'static str,
        /// The value as text.
        value: String,
        /// Valid values, as in "a number above 0".
        expected: String,
    },
    /// An argument or a combination of settings is invalid, whatever the data.
    #[error("{0}")]
    Config(String),
    /// The data cannot be used for the operation, for example because it has no queries.
    #[error("{0}")]
    Data(String),
    /// Two inputs do not match, as scores for a different number of documents.
    #[error("{0}")]
    Mismatch(String),
    /// A device, its driver or threads are missing or failed.
    #[error("{0}")]
    Device(String),
    /// Weights or training state cannot be serialised or deserialised.
    #[error("{0}")]
    Record(String),
    /// Training failed, for example because scores are not finite.
    #[error("{0}")]
    Training(String),
    /// An operation needs more memory than is available.
    #[error(
        "{what} would take {}, but only {} is available: {remedy}{}allow more with `max_memory`",
        crate::memory::readable(*needed),
        crate::memory::readable(*left),
        if remedy.is_empty() { "" } else { ", or " }
    )]
    Memory {
        /// Required memory in bytes.
        needed: u64,
        /// Available memory in bytes.
        left: u64,
        /// What needs the memory.
        what: String,
        /// How to reduce the requirement; may be empty.
        remedy: String,
    },
    /// Another process of the same run failed.
    #[error("{process}: {message}")]
    Elsewhere {
        /// The process, as in `process 3 of 8 on host b`.
        process: String,
        /// Its error message.
        message: String,
        /// Its exit code.
        code: u8,
    },
    /// The computation was cancelled, see [`Stop`](crate::Stop).
    #[error("stopped")]
    Stopped,
    /// A model folder is invalid.
    #[error("{}: {message}", printable(&path.display().to_string()))]
    Model {
        /// The folder, or the file in it.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
}

impl Error {
    /// Returns an [`Error::Io`] for `path`.
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), action, source }
    }

    /// Returns an [`Error::Setting`].
    ///
    /// ```
    /// let error = burnrank::Error::setting("lr", 0, "a number above 0");
    /// assert_eq!(error.to_string(), "lr 0: expected a number above 0");
    /// ```
    pub fn setting(key: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Setting { key, value: value.to_string(), expected: expected.into() }
    }
}

/// A text that does not parse: its place in the file, the problem and the remedy.
///
/// Displayed as `train.txt:17:5: bad label 'x': expected a number of 0 or more`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The file as the user named it; `<stdin>` for standard input.
    pub file: String,
    /// Line, from 1; 0 for the whole file.
    pub line: usize,
    /// Column in bytes, from 1; 0 for the whole line.
    pub column: usize,
    /// The invalid text, shortened; may be empty.
    pub text: String,
    /// What is wrong, as in "bad label".
    pub problem: String,
    /// What is expected and what to do; may be empty.
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

/// Escapes characters that could control a terminal or reverse the direction of writing.
///
/// ```
/// assert_eq!(burnrank::internal::text::printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
/// ```
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_control(character) { safe.extend(character.escape_default()) } else { safe.push(character) }
    }
    safe
}

/// Like [`printable`], for the whole output in text or JSON: keeps line ends and tabs, and uses JSON's escapes.
///
/// ```
/// assert_eq!(burnrank::internal::text::harmless("a\u{1b}[2J\tb\u{202e}\n"), "a\\u001b[2J\tb\\u202e\n");
/// ```
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| is_control(c) && c != '\n' && c != '\t';
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if is_unsafe(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// Whether a character could control a terminal or reverse the direction of writing.
fn is_control(character: char) -> bool {
    let reverses =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || reverses
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
    fn names_cannot_control_a_terminal() {
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
