//! Formatting of text: wrapping at 80 columns, named paragraphs and help.

use super::ui::printable;

pub use burnrank::internal::text::{fixed, number, p_value, signed};

/// Maximum line width in columns.
pub const WIDTH: usize = 80;
/// Column at which named texts start: the width of "conventions", and two spaces.
const INDENT: usize = 13;

/// Wraps a paragraph at [`WIDTH`] columns. The first line starts at column `start`, the others at `indent`. Words are not broken.
fn fold(text: &str, start: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = start;
    for (place, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if place > 0 && column + 1 + length > WIDTH {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if place > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

/// Wraps each line, and indents the continuation of long lines.
pub fn lines(text: &str) -> String {
    text.split('\n').map(|line| fold(line, 0, 2)).collect::<Vec<_>>().join("\n")
}

/// Wraps a paragraph and ends it with a newline.
pub fn paragraph(text: &str) -> String {
    fold(&printable(text), 0, 0) + "\n"
}

/// Wraps a text and indents all of its lines.
pub fn indented(text: &str, indent: usize) -> String {
    format!("{}{}", " ".repeat(indent), fold(text, indent, indent))
}

/// Returns a name and a wrapped text, as in "data         test.txt: 20 queries".
pub fn named(name: &str, text: &str) -> String {
    let width = INDENT - 2;
    format!("{name:<width$}  {}\n", fold(&printable(text), INDENT, INDENT))
}

/// Wraps the texts below the options of a command and its subcommands at 80 columns.
pub fn fold_help(command: clap::Command) -> clap::Command {
    let text = command.get_after_help().map(|text| help(&text.to_string()));
    let command = match text {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(fold_help)
}

/// Wraps the text below the options. Lines that start with a space remain lines: long commands continue after a backslash, and
/// the second of two columns is wrapped. All other lines are joined to paragraphs.
fn help(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut open = String::new();
    let close = |open: &mut String, lines: &mut Vec<String>| {
        if !open.is_empty() {
            lines.push(fold(&std::mem::take(open), 0, 0));
        }
    };
    for line in text.lines() {
        if line.starts_with(' ') || line.is_empty() {
            close(&mut open, &mut lines);
            lines.push(listed(line));
            continue;
        }
        open = if open.is_empty() { line.to_owned() } else { format!("{open} {line}") };
        if line.ends_with(':') {
            close(&mut open, &mut lines);
        }
    }
    close(&mut open, &mut lines);
    lines.join("\n")
}

/// Wraps a line that starts with a space.
fn listed(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start().len();
    let gap = line[indent..].find("   ").or_else(|| line[indent..].find("  ")).map(|gap| indent + gap);
    let Some(gap) = gap else {
        return if line.contains(" --") { continued(line.trim(), indent) } else { indented(line.trim(), indent) };
    };
    let (left, right) = line.split_at(gap);
    let column = line.len() - right.trim_start().len();
    if column <= WIDTH / 2 {
        return format!("{}{}", &line[..column], fold(right, column, column));
    }
    let below = indent + 4;
    format!("{left}\n{}{}", " ".repeat(below), fold(right, below, below))
}

/// Splits a command into several lines, before its options.
fn continued(command: &str, indent: usize) -> String {
    let mut text = " ".repeat(indent);
    let mut column = indent;
    let mut parts: Vec<String> = Vec::new();
    for word in command.split(' ') {
        match parts.last_mut() {
            // An option and its value stay together.
            Some(part) if part.starts_with('-') && !part.contains(' ') && !word.starts_with('-') => {
                part.push(' ');
                part.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    for (place, part) in parts.iter().enumerate() {
        let length = part.chars().count();
        if place > 0 && column + 1 + length + 2 > WIDTH {
            text.push_str(" \\\n");
            text.extend(std::iter::repeat_n(' ', indent + 4));
            column = indent + 4;
        } else if place > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(part);
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_fold_at_80_columns() {
        let text = named("data", &"word ".repeat(40));
        assert!(text.lines().count() == 4 && text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.starts_with("data         word") && text.contains("\n             word"), "{text}");
        assert_eq!(paragraph("one\u{1b} two"), "one\\u{1b} two\n");
        assert_eq!(paragraph(&"x".repeat(90)).len(), 91, "words are not broken");
    }

    #[test]
    fn help_folds_commands_columns_and_paragraphs() {
        let long = "--metric ndcg@10,map --figure differences.svg";
        let text = help(&format!(
            "Examples:\n  tool compare a b --data test.txt --more options.txt {long}\n  tool short    says why\n\n\
             A paragraph that\ncontinues in the next line of its source.\n  name      {}\n  tool {}   what it does",
            "what ".repeat(20),
            "word ".repeat(14)
        ));
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.contains("map \\\n      --figure differences.svg\n  tool short    says why\n"), "{text}");
        assert!(text.contains("\nA paragraph that continues in the next line of its source.\n"), "{text}");
        let entry = help(&format!("  listed\n      {}", "meaning ".repeat(11).trim_end()));
        assert_eq!(
            entry,
            format!("  listed\n      {}\n      meaning meaning", ["meaning"; 9].join(" ")),
            "not a command"
        );
        assert!(text.contains("what\n            what") && text.ends_with("word\n      what it does"), "{text}");
    }

    #[test]
    fn no_help_is_wider_than_80_columns() {
        use clap::CommandFactory;
        let mut all = fold_help(super::super::Cli::command());
        let names: Vec<String> = all.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        for name in names {
            let command = all.find_subcommand_mut(&name).unwrap();
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > WIDTH).collect();
            assert!(wide.is_empty(), "{name}: {wide:?}");
        }
    }
}
