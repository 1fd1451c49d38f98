//! What all commands print with: numbers, tables and colours.

use super::prose;
use anstyle::{AnsiColor, Style};
use anyhow::Context;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

pub use super::progress::{Bar, Unit};

/// Whether progress is unwanted.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Turns progress off, or on again.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether the user asked for no progress.
pub fn quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes to standard output.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).context("cannot write to standard output")
}

/// Writes a value to standard output as JSON.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Tells the user something on standard error.
pub fn note(text: &str) {
    tell(Style::new().bold(), "note:", text);
}

/// Tells the user what went wrong.
pub fn error(error: &anyhow::Error) {
    refuse(&message(error));
}

/// As [`error`], in words.
pub fn refuse(text: &str) {
    tell(AnsiColor::Red.on_default().bold(), "error:", text);
}

/// Writes to standard error; whole lines where a program may read them, lines that fit where a person does.
fn tell(style: Style, kind: &str, text: &str) {
    let stderr = std::io::stderr();
    let mut text = format!("{kind} {}", printable_lines(text));
    if stderr.is_terminal() {
        text = prose::lines(&text);
    }
    // When nobody hears it, there is nobody to tell.
    let _ = writeln!(&stderr, "{}", text.replacen(kind, &paint(&stderr, style, kind), 1));
}

/// An error and its causes, as far as they say something new.
fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text.push_str(&format!(": {cause}"));
        }
    }
    text
}

/// Whether the reader of our output has left.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}

/// The text as a heading on a terminal.
pub fn heading(text: &str) -> String {
    paint(&std::io::stdout(), Style::new().bold(), text)
}

/// The text in a style, on terminals of users who have not asked for none.
fn paint(stream: &impl IsTerminal, style: Style, text: &str) -> String {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let plain = refused || std::env::var_os("TERM").is_some_and(|value| value == "dumb") || !stream.is_terminal();
    if plain { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

/// A whole number with separators, as in 1,234,567.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// As [`count`], with the noun, as in "1 query" or "1,234 queries".
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A share, as in 12.5%.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A value of four decimals, or a dash where there is none.
pub fn decimals(value: f64) -> String {
    if value.is_finite() { format!("{value:.4}") } else { "-".to_owned() }
}

/// The decimals that give the largest of some numbers four digits that say something.
pub fn decimals_for(values: impl IntoIterator<Item = f64>) -> usize {
    let largest = values.into_iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    if largest > 0.0 { (3 - largest.log10().floor() as i32).clamp(0, 12) as usize } else { 4 }
}

/// On which side a column's texts meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Aligned columns under headings.
#[derive(Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Table { columns: columns.iter().map(|(name, align)| (printable(name), *align)).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// The lines of the table, headings first.
    pub fn render(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let length = |cell: &String| cell.chars().count();
        let widths: Vec<usize> = (0..headings.len())
            .map(|i| self.rows.iter().chain([&headings]).filter_map(|row| row.get(i)).map(length).max().unwrap_or(0))
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&self.columns).zip(&widths).map(|((cell, (_, align)), &width)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut text = heading(&line(&headings)) + "\n";
        self.rows.iter().for_each(|row| text.extend([&line(row), "\n"]));
        text
    }
}

/// The text without characters that could steer a terminal.
pub fn printable(text: &str) -> String {
    burnrank::printable(text)
}

/// As [`printable`], for a text of several lines.
fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(counted(1, "query", "queries"), "1 query");
        assert_eq!((percent(0.125), decimals(0.5), decimals(f64::NAN)), ("12.5%".into(), "0.5000".into(), "-".into()));
    }

    #[test]
    fn decimals_suit_the_largest_number() {
        assert_eq!((decimals_for([0.0123, -0.5]), decimals_for([0.0]), decimals_for([12.0])), (4, 4, 2));
    }

    #[test]
    fn tables_align() {
        let mut table = Table::new(&[("name", Align::Left), ("count", Align::Right)]);
        table.row(["a\u{1b}".to_owned(), "1".to_owned()]);
        table.row(["é".to_owned(), "1,000".to_owned()]);
        assert_eq!(table.render(), "name     count\na\\u{1b}      1\né        1,000\n");
    }

    #[test]
    fn causes_are_told_once() {
        let error = burnrank::Error::io("a.txt", "read", std::io::Error::other("gone"));
        assert_eq!(message(&error.into()), "a.txt: cannot read: gone");
        assert_eq!(message(&anyhow::anyhow!("deep").context("high")), "high: deep");
    }

    #[test]
    fn a_reader_who_left_is_known() {
        let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&burnrank::Error::io("x", "write", broken).into()));
        assert!(!is_broken_pipe(&anyhow::anyhow!("other")));
    }
}
