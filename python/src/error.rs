//! Errors of the library as Python exceptions.

use burnrank::Error;
use burnrank::setting::SETTINGS;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, PyResult};

/// Words that cannot be names of Python arguments.
const RESERVED: [&str; 1] = ["for"];

/// Remedies that name inputs of the command-line tool, and those of the estimator.
const REMEDIES: [(&str, &str); 2] =
    [("set `valid` to a file", "pass `eval_set`"), ("exclude it with `drop`", "drop it:")];

/// Returns the keyword argument of a setting: `batch_queries` for `batch-queries`.
pub fn argument(key: &str) -> String {
    let name = key.replace('-', "_");
    if RESERVED.contains(&key) { name + "_" } else { name }
}

/// Returns the key of the setting with this keyword argument, or the argument itself if there is none.
pub fn key_of(name: &str) -> String {
    let row = SETTINGS.iter().find(|row| argument(row.key) == name);
    row.map_or_else(|| name.to_owned(), |row| row.key.to_owned())
}

/// Returns the exception of an error.
pub fn raise(error: Error) -> PyErr {
    let text = message(&error);
    match error {
        Error::Io { source, .. } => std::io::Error::new(source.kind(), text).into(),
        Error::Memory { .. } => PyMemoryError::new_err(text),
        Error::Device(_) | Error::Training(_) | Error::Elsewhere { .. } => PyRuntimeError::new_err(text),
        Error::Stopped => PyKeyboardInterrupt::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns an exception for an invalid argument.
pub fn invalid(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}

/// Converts the error of a result.
pub trait OrRaise<T> {
    /// Returns the value, or the exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for burnrank::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(raise)
    }
}

/// The text of an error, with settings under the names of their arguments.
fn message(error: &Error) -> String {
    let text = error.to_string();
    let text = match error {
        Error::Setting { key, .. } => text.strip_prefix(key).map(|rest| argument(key) + rest).unwrap_or(text),
        _ => text,
    };
    let text = REMEDIES.iter().fold(text, |text, (theirs, ours)| text.replace(theirs, ours));
    let parts = text.split('`').enumerate().map(|(place, part)| match place % 2 {
        1 if SETTINGS.iter().any(|row| row.key == part) => argument(part),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
