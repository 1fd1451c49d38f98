//! Parsing cells of tables, and problems with them.

use crate::data::read::columns::Role;
use crate::data::read::number::{BadNumber, is_missing, parse_f32};
use crate::data::read::problem::shorten;
use crate::error::{ParseError, printable};

/// Why a cell is not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::data::read) enum BadCell {
    /// The cell is empty, or contains a word for missing values.
    Missing,
    /// The number exceeds the largest f32.
    Infinite,
    /// The label is below 0.
    Negative,
    /// The cell contains other text.
    Text(String),
}

/// Parses a number in a text cell.
pub(in crate::data::read) fn number(cell: &[u8]) -> Result<f32, BadCell> {
    let cell = cell.trim_ascii();
    match parse_f32(cell) {
        Ok(value) => Ok(value),
        Err(_) if is_missing(cell) => Err(BadCell::Missing),
        Err(BadNumber::Infinite) => Err(BadCell::Infinite),
        Err(_) if cell.eq_ignore_ascii_case(b"true") => Ok(1.0),
        Err(_) if cell.eq_ignore_ascii_case(b"false") => Ok(0.0),
        Err(_) => Err(BadCell::Text(String::from_utf8_lossy(cell).into_owned())),
    }
}

/// Checks a number stored in binary form; NaN is a missing value.
pub(in crate::data::read) fn stored(value: f32) -> Result<f32, BadCell> {
    if value.is_nan() {
        return Err(BadCell::Missing);
    }
    if value.is_finite() { Ok(value) } else { Err(BadCell::Infinite) }
}

/// Returns the value of a feature, with missing values replaced by `missing`.
pub(in crate::data::read) fn feature(missing: f32, value: Result<f32, BadCell>) -> Result<f32, BadCell> {
    match value {
        Err(BadCell::Missing) => Ok(missing),
        value => value,
    }
}

/// Checks that a label is 0 or more.
pub(in crate::data::read) fn label(value: Result<f32, BadCell>) -> Result<f32, BadCell> {
    // Adding 0 converts -0 to 0.
    value.and_then(|label| if label < 0.0 { Err(BadCell::Negative) } else { Ok(label + 0.0) })
}

/// Parses an id: nonempty UTF-8 text without control characters.
pub(in crate::data::read) fn id(cell: &[u8]) -> Result<&[u8], BadCell> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Err(BadCell::Missing);
    }
    match std::str::from_utf8(cell) {
        Ok(text) if !text.chars().any(char::is_control) => Ok(cell),
        _ => Err(BadCell::Text(String::from_utf8_lossy(cell).into_owned())),
    }
}

/// The location of a cell.
#[derive(Debug, Clone, Copy)]
pub(in crate::data::read) struct Place<'a> {
    pub file: &'a str,
    /// Number of the line or row.
    pub line: usize,
    /// "line" or "row".
    pub unit: &'static str,
    pub column: &'a str,
    pub role: Role,
}

impl BadCell {
    #[cold]
    pub(in crate::data::read) fn at(self, place: Place<'_>) -> ParseError {
        let column = printable(place.column);
        // A line number follows the file name; readers would not take it for a row number.
        let row = if place.unit == "row" { format!(" of row {}", place.line) } else { String::new() };
        let at = format!("column '{column}'{row}");
        let (problem, text, remedy) = match (self, place.role) {
            (BadCell::Missing, Role::Label) => (format!("no label in {at}"), String::new(), LABEL.to_owned()),
            (BadCell::Missing, _) => {
                (format!("no id in {at}"), String::new(), "every document needs a query id".to_owned())
            }
            (BadCell::Infinite, _) => {
                (format!("infinite value in {at}"), String::new(), "replace it with a finite number".to_owned())
            }
            (BadCell::Negative, _) => (format!("negative label in {at}"), String::new(), LABEL.to_owned()),
            (BadCell::Text(text), Role::Feature) => (
                format!("bad value in {at}"),
                shorten(text.as_bytes()),
                format!("expected a number; exclude the column with `drop` {column}"),
            ),
            (BadCell::Text(text), Role::Label) => {
                (format!("bad label in {at}"), shorten(text.as_bytes()), LABEL.to_owned())
            }
            (BadCell::Text(text), _) => {
                (format!("bad id in {at}"), shorten(text.as_bytes()), "expected UTF-8 text, or an integer".to_owned())
            }
        };
        ParseError { file: place.file.to_owned(), line: place.line, column: 0, text, problem, remedy }
    }
}

const LABEL: &str = "a label is a number of 0 or more";
