//! The commands that make the models and the page again.

use super::html::{aside, commands, paragraph};
use super::{Args, Shown};
use crate::cli::tune::command::{config_arguments, line, quoted};
use burnrank::setting::{Kinds, SETTINGS};
use burnrank::{ModelInfo, TrainConfig};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

pub fn section(args: &Args, shown: &[Shown]) -> String {
    let mut lines = Vec::new();
    let (mut unknown, mut missing) = (Vec::new(), Vec::new());
    for shown in shown {
        match train(&shown.model.info, &shown.path, &mut missing) {
            Some(command) => lines.push(command),
            None => unknown.push(shown.name.as_str()),
        }
    }
    let mut text = paragraph(
        "The models, from data of the fingerprints above, and this page. Paths are relative to the folder in which burnrank \
         report ran:",
    );
    lines.push(page(args));
    text += &commands(&lines.join("\n"));
    if !unknown.is_empty() {
        text += &aside(&format!("Not trained by a command that is known: {}.", unknown.join(", ")));
    }
    if !missing.is_empty() {
        missing.dedup();
        text += &aside(&format!(
            "Not found: {}. These are the paths that training was given, in another folder or before files were moved.",
            missing.join(", ")
        ));
    }
    text + &aside(
        "The same command gives the same bytes on one kind of CPU, whatever the number of threads. Options of reading, as \
         --first-index, are not kept in a model.",
    )
}

/// The command that this page was made with.
fn page(args: &Args) -> String {
    let mut words = vec!["burnrank".to_owned(), "report".to_owned()];
    words.extend(
        std::env::args_os()
            .skip(1)
            .map(|word| word.to_string_lossy().into_owned())
            .skip_while(|word| word != "report")
            .skip(1),
    );
    if words.len() == 2 {
        words.extend(args.models.iter().cloned());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The command that trains a model, as far as its folder tells.
fn train(info: &ModelInfo, path: &str, missing: &mut Vec<String>) -> Option<String> {
    let mut source = |split: &str| {
        let given = file(&info.data.get(split)?.source);
        Some(from_here(given, path).unwrap_or_else(|| {
            missing.push(given.to_owned());
            given.to_owned()
        }))
    };
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |option: &str, value: Option<String>| all.extend(value.map(|value| vec![option.to_owned(), value]));
    let train = source("train")?;
    // Where training queries were kept for validation, both are from one file.
    let mut other = |split: &str| source(split).filter(|source| *source != train && !source.is_empty());
    add("--train", Some(train.clone()));
    add("--valid", other("valid"));
    add("--test", other("test"));
    if info.settings.get("model").and_then(Value::as_str) == Some("auto") {
        all.extend(auto_arguments(&info.settings));
    } else {
        let config: TrainConfig = serde_json::from_value(info.settings.clone()).ok()?;
        all.extend(config_arguments(&config, None).ok()?);
        let members = info.members.len();
        all.extend((members > 0).then(|| vec!["--ensemble".to_owned(), members.to_string()]));
    }
    all.push(vec!["--out".into(), path.to_owned()]);
    Some(line(&all))
}

/// What was stated for the choice of a model: the settings that it has, where they are not their defaults.
fn auto_arguments(settings: &Value) -> Vec<Vec<String>> {
    let usual = TrainConfig::default();
    let own = SETTINGS.iter().filter(|row| row.kinds.has(Kinds::AUTO));
    let stated = own.filter_map(|row| {
        let value = match settings.get(row.key)? {
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        // Without a scaling, the data choose one.
        let is_stated = row.key == "scale" || value != row.get(&usual);
        is_stated.then(|| vec![format!("--{}", row.key), value])
    });
    let trials = settings.get("trials").map(|trials| vec!["--trials".to_owned(), trials.to_string()]);
    stated.chain(trials).collect()
}

/// A path that training was given, as it is found from here: training may have run in another folder, as a rule one above the
/// model.
fn from_here(given: &str, model: &str) -> Option<String> {
    // Generated data and standard input have no file.
    if given.is_empty() || given.starts_with('<') || Path::new(given).exists() {
        return Some(given.to_owned());
    }
    // Up from the folder of the model, as the user wrote it, then as it is.
    let parents = (1..=DEPTH).map(|up| Path::new(model).join([".."].repeat(up).join("/")).join(given));
    let whole = std::path::absolute(model).ok()?;
    let above = whole.ancestors().skip(1).map(|folder| folder.join(given));
    let found = above.zip(parents).find(|(path, _)| path.exists())?;
    Some(simple(&found.1))
}

/// Folders above a model that are looked into.
const DEPTH: usize = 8;

/// A path without steps into a folder and out again.
fn simple(path: &Path) -> String {
    let mut parts: Vec<Component> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::ParentDir, Some(Component::Normal(_))) => drop(parts.pop()),
            (Component::CurDir, _) => {}
            _ => parts.push(part),
        }
    }
    parts.iter().collect::<PathBuf>().to_string_lossy().into_owned()
}

/// The file of a source that may be a part of it, as in "train.txt, 4 in 5 queries, other ones for each member".
fn file(source: &str) -> &str {
    let part = [", 4 in 5 queries", ", 1 in 5 queries"].iter().find_map(|part| source.rfind(part));
    &source[..part.unwrap_or(source.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_no_detours() {
        for (path, expected) in
            [("../model/../data.txt", "../data.txt"), ("./a/b/../../c", "c"), ("../../x", "../../x"), ("/a/../b", "/b")]
        {
            assert_eq!(simple(Path::new(path)), expected);
        }
    }

    #[test]
    fn a_part_of_a_file_is_the_file() {
        assert_eq!(file("a, b.txt, 4 in 5 queries"), "a, b.txt");
        assert_eq!(file("a, b.txt, 1 in 5 queries, other ones for each member"), "a, b.txt");
        assert_eq!(file("a, b.txt"), "a, b.txt");
    }
}
