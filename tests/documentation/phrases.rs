//! Sources, pages and help use the words of the field.

use super::pages::commands;
use crate::support::Place;
use std::path::{Path, PathBuf};

/// Phrases that have a usual equivalent, and that equivalent. Underscores of identifiers count as spaces. Only phrases without a
/// legitimate use are listed.
const PHRASES: [(&str, &str); 31] = [
    ("so many", "number of, N"),
    ("told", "printed, reported, listed, logged, shown, signalled; told apart: distinguished"),
    ("tells", "prints, reports, lists"),
    ("anew", "again, retrain, rerun, rebuild"),
    ("once more from the start", "again, retrain"),
    ("go on", "continue, resume"),
    ("goes on", "continues, resumes"),
    ("going on", "continuing, resuming"),
    ("went on", "continued, resumed"),
    ("of one's own", "custom"),
    ("of our own", "our"),
    ("of your own", "your, custom"),
    ("judge", "evaluate"),
    ("judges", "evaluates"),
    ("judging", "evaluating, evaluation"),
    ("chances", "probabilities"),
    ("by turns", "alternating"),
    ("rivals", "baselines"),
    ("is odd about", "warnings, data problems"),
    ("learnt", "learned"),
    ("packed with", "compressed with"),
    ("likewise", "also, or nothing"),
    ("whoever", "a user, a caller, or another sentence"),
    ("as ever", "as before, or nothing"),
    ("nothing where", "nothing if"),
    ("the measure", "the metric"),
    ("the field's measures", "metrics"),
    ("a race", "model selection"),
    ("the race", "model selection"),
    ("at the most", "at most"),
    ("nothing relevant", "no relevant documents"),
];

/// Returns the phrases in a line.
fn phrases_in(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let line = line.to_lowercase().replace('_', " ");
    PHRASES.into_iter().filter(move |(phrase, _)| {
        line.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + phrase.len()..]);
            !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
        })
    })
}

/// Appends `name:line: phrase -> use ...` for every phrase in a text.
fn check(name: &str, text: &str, problems: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        let found = phrases_in(line).map(|(phrase, usual)| format!("{name}:{}: {phrase} -> use {usual}", number + 1));
        problems.extend(found);
    }
}

/// Returns the Rust and Markdown files of a folder, with its subfolders.
fn files(folder: &Path, is_recursive: bool, list: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && is_recursive {
            files(&path, true, list);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            list.push(path);
        }
    }
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} phrases:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn sources_and_pages_use_the_usual_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut list = Vec::new();
    files(root, false, &mut list);
    for folder in ["src", "tests", "examples", "docs", "models"] {
        files(&root.join(folder), true, &mut list);
    }
    assert!(list.len() > 300, "{} files", list.len());
    list.retain(|path| !path.ends_with("tests/documentation/phrases.rs"));
    let mut problems = Vec::new();
    for path in list {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        check(&name, &std::fs::read_to_string(&path).unwrap(), &mut problems);
    }
    assert_none(&problems);
}

#[test]
fn help_uses_the_usual_words() {
    let place = Place::new(&[]);
    let mut problems = Vec::new();
    for command in [String::new()].into_iter().chain(commands()) {
        for flag in ["-h", "--help"] {
            let arguments = format!("{command} {flag}");
            let help = place.run(&arguments).good();
            check(&format!("burnrank {}", arguments.trim()), &help, &mut problems);
        }
    }
    assert_none(&problems);
}

#[test]
fn phrases_are_whole_words_in_any_case() {
    let of = |line: &str| phrases_in(line).map(|(phrase, _)| phrase).collect::<Vec<_>>();
    assert_eq!(of("So many: it TELLS"), ["so many", "tells"]);
    assert_eq!(of("fn is_told_apart()"), ["told"]);
    assert!(of("so manyfold, stolde, intells, category, as every").is_empty());
}
