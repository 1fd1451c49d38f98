//! Output of all commands: standard output, messages on standard error, tables and colours.

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

/// Whether progress is turned off.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Turns progress off or on.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether progress is turned off.
pub fn quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether another process of the run prints for this one.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Turns all output off, because another process of the run prints for this one.
pub fn set_silent() {
    SILENT.store(true, Ordering::Relaxed);
    set_quiet(true);
}

/// Whether another process of the run prints for this one.
pub fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Markers of the start and end of a heading, which [`print`] replaces: noncharacters of Unicode.
const HEADING: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// Writes to standard output. Escapes control characters, and fails if a cache in use was changed.
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

/// Prints a note on standard error.
pub fn note(text: &str) {
    message(Style::new().bold(), "note:", text);
}

/// Prints an error on standard error.
pub fn refuse(text: &str) {
    message(AnsiColor::Red.on_default().bold(), "error:", text);
}

/// Writes to standard error. Wraps lines on a terminal only, so that programs can read whole lines.
fn message(style: Style, kind: &str, text: &str) {
    if is_silent() {
        return;
    }
    let stderr = std::io::stderr();
    let mut text = format!("{kind} {}", printable_lines(&with_options(text)));
    if stderr.is_terminal() {
        text = prose::lines(&text);
    }
    // If standard error is closed, there is nowhere to report the failure.
    let _ = writeln!(&stderr, "{}", text.replacen(kind, &paint(&stderr, style, kind), 1));
}

/// Whether the reader of standard output has closed it.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}

/// Formats a heading for [`print`], bold on a terminal.
pub fn heading(text: &str) -> String {
    if is_plain(&std::io::stdout()) { text.to_owned() } else { format!("{}{text}{}", HEADING[0], HEADING[1]) }
}

/// Applies a style, on terminals that support it.
fn paint(stream: &impl IsTerminal, style: Style, text: &str) -> String {
    if is_plain(stream) { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

fn is_plain(stream: &impl IsTerminal) -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    no_color || std::env::var_os("TERM").is_some_and(|value| value == "dumb") || !stream.is_terminal()
}

/// Formats a value with four decimals, or a dash for NaN.
pub fn decimals(value: f64) -> String {
    fixed(value, 4)
}

/// Formats a table for standard output.
pub fn table(table: &Table) -> String {
    table.text_with(heading)
}

/// Escapes control characters.
pub fn printable(text: &str) -> String {
    burnrank::internal::text::printable(text)
}

/// Escapes control characters in all lines of a text.
fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_pipes_are_detected() {
        let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&burnrank::Error::io("x", "write", broken).into()));
        assert!(!is_broken_pipe(&anyhow::anyhow!("other")));
    }
}
