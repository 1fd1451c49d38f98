//! What can be wrong with a cell, in the user's words, and numbers as text has them.

use crate::data::read::columns::Role;
use crate::data::read::number::{BadNumber, parse_f32};
use crate::error::{ParseError, printable};

/// Why a cell is no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::data::read) enum BadCell {
    /// There is nothing in it, or a word that says so.
    Missing,
    /// It is beyond the largest f32.
    Infinite,
    /// A label below 0.
    Negative,
    /// It is something else.
    Text(String),
}

/// Words that say that there is no value, in any case.
const NOTHING: [&[u8]; 6] = [b"", b"nan", b"na", b"n/a", b"null", b"none"];

/// The number that a cell of a text holds.
pub(in crate::data::read) fn number(cell: &[u8]) -> Result<f32, BadCell> {
    let cell = cell.trim_ascii();
    match parse_f32(cell) {
        Ok(value) => Ok(value),
        Err(_) if NOTHING.iter().any(|word| cell.eq_ignore_ascii_case(word)) => Err(BadCell::Missing),
        Err(BadNumber::Infinite) => Err(BadCell::Infinite),
        Err(_) if cell.eq_ignore_ascii_case(b"true") => Ok(1.0),
        Err(_) if cell.eq_ignore_ascii_case(b"false") => Ok(0.0),
        Err(_) => Err(BadCell::Text(String::from_utf8_lossy(cell).into_owned())),
    }
}

/// A number that a table stores as one: NaN is no value.
pub(in crate::data::read) fn stored(value: f32) -> Result<f32, BadCell> {
    if value.is_nan() {
        return Err(BadCell::Missing);
    }
    if value.is_finite() { Ok(value) } else { Err(BadCell::Infinite) }
}

/// The value of a feature: what the cell has, or what stands for missing ones.
pub(in crate::data::read) fn feature(null: Option<f32>, found: Result<f32, BadCell>) -> Result<f32, BadCell> {
    match (found, null) {
        (Err(BadCell::Missing), Some(null)) => Ok(null),
        (found, _) => found,
    }
}

/// A label: a number of 0 or more.
pub(in crate::data::read) fn label(value: Result<f32, BadCell>) -> Result<f32, BadCell> {
    // Adding 0 makes -0 the label 0.
    value.and_then(|label| if label < 0.0 { Err(BadCell::Negative) } else { Ok(label + 0.0) })
}

/// An id: text that is not empty, in UTF-8, without control characters.
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

/// Where a cell is.
#[derive(Debug, Clone, Copy)]
pub(in crate::data::read) struct Place<'a> {
    pub file: &'a str,
    /// The line of a text, or the row.
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
        // A line is known by the number behind the file's name; a row is not.
        let row = if place.unit == "row" { format!(" of row {}", place.line) } else { String::new() };
        let at = format!("column '{column}'{row}");
        let (problem, text, remedy) = match (self, place.role) {
            (BadCell::Missing, Role::Feature) => (
                format!("no value in {at}"),
                String::new(),
                "put a number there, or give `null` VALUE, which stands for all that are missing".to_owned(),
            ),
            (BadCell::Missing, Role::Label) => (format!("no label in {at}"), String::new(), LABEL.to_owned()),
            (BadCell::Missing, _) => {
                (format!("no id in {at}"), String::new(), "every document needs the id of its query".to_owned())
            }
            (BadCell::Infinite, _) => {
                (format!("infinite value in {at}"), String::new(), "put a finite number in its place".to_owned())
            }
            (BadCell::Negative, _) => (format!("negative label in {at}"), String::new(), LABEL.to_owned()),
            (BadCell::Text(text), Role::Feature) => (
                format!("bad value in {at}"),
                short(&text),
                format!("expected a number; `drop` {column} leaves the column out"),
            ),
            (BadCell::Text(text), Role::Label) => (format!("bad label in {at}"), short(&text), LABEL.to_owned()),
            (BadCell::Text(text), _) => {
                (format!("bad id in {at}"), short(&text), "expected text in UTF-8, or a whole number".to_owned())
            }
        };
        ParseError { file: place.file.to_owned(), line: place.line, column: 0, text, problem, remedy }
    }
}

const LABEL: &str = "a label is a number of 0 or more";

/// The text as an error shows it.
fn short(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short = printable(&text.chars().take(LONGEST).collect::<String>());
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}
