//! What all commands print with: numbers, tables and colours.

use super::prose;
use super::usage::with_options;
use anstyle::{AnsiColor, Style};
use anyhow::Context;
use burnrank::data::cache::check_in_use;
use burnrank::internal::text::fixed;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

pub use super::progress::{Bar, Unit};
pub use burnrank::internal::text::{Align, Table, count, counted, decimals_for, percent};

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

/// Whether another process of the run speaks for this one.
static SILENT: AtomicBool = AtomicBool::new(false);

/// From now on nothing is written: another process of the run speaks for this one.
pub fn set_silent() {
    SILENT.store(true, Ordering::Relaxed);
    set_quiet(true);
}

/// Whether another process of the run speaks for this one.
pub fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Begin and end of a heading, until they are written: characters that stand for nothing.
const HEADING: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// Writes to standard output, nothing of which steers a terminal but headings; nor what was computed from a cache that was
/// changed meanwhile.
pub fn print(text: &str) -> anyhow::Result<()> {
    check_in_use()?;
    if is_silent() {
        return Ok(());
    }
    let style = Style::new().bold();
    let text = burnrank::internal::text::harmless(text);
    let text = text.replace(HEADING[0], &style.to_string()).replace(HEADING[1], &format!("{style:#}"));
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
pub fn refuse(text: &str) {
    tell(AnsiColor::Red.on_default().bold(), "error:", text);
}

/// Writes to standard error; whole lines where a program may read them, lines that fit where a person does.
fn tell(style: Style, kind: &str, text: &str) {
    if is_silent() {
        return;
    }
    let stderr = std::io::stderr();
    let mut text = format!("{kind} {}", printable_lines(&with_options(text)));
    if stderr.is_terminal() {
        text = prose::lines(&text);
    }
    // When nobody hears it, there is nobody to tell.
    let _ = writeln!(&stderr, "{}", text.replacen(kind, &paint(&stderr, style, kind), 1));
}

/// Whether the reader of our output has left.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}

/// The text as a heading on a terminal, for [`print`].
pub fn heading(text: &str) -> String {
    if is_plain(&std::io::stdout()) { text.to_owned() } else { format!("{}{text}{}", HEADING[0], HEADING[1]) }
}

/// The text in a style, on terminals of users who have not asked for none.
fn paint(stream: &impl IsTerminal, style: Style, text: &str) -> String {
    if is_plain(stream) { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

fn is_plain(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    refused || std::env::var_os("TERM").is_some_and(|value| value == "dumb") || !stream.is_terminal()
}

/// A value of four decimals, or a dash where there is none.
pub fn decimals(value: f64) -> String {
    fixed(value, 4)
}

/// The lines of a table, for standard output.
pub fn table(table: &Table) -> String {
    table.text_with(heading)
}

/// The text without characters that could steer a terminal.
pub fn printable(text: &str) -> String {
    burnrank::internal::text::printable(text)
}

/// As [`printable`], for a text of several lines.
fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_who_left_is_known() {
        let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&burnrank::Error::io("x", "write", broken).into()));
        assert!(!is_broken_pipe(&anyhow::anyhow!("other")));
    }
}
