//! The commands that reproduce the models and the page.

use super::html::{aside, commands, paragraph};
use super::{Args, ReportedModel};
use crate::cli::arguments;
use crate::cli::tune::command::{config_arguments, line, quoted};
use burnrank::setting::{Kinds, SETTINGS};
use burnrank::{ModelInfo, TrainConfig};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

pub fn section(args: &Args, models: &[ReportedModel]) -> String {
    let mut lines = Vec::new();
    let (mut unknown, mut missing) = (Vec::new(), Vec::new());
    for model in models {
        match train_command(&model.model.info, &model.path, &mut missing) {
            Some(command) => lines.push(command),
            None => unknown.push(model.name.as_str()),
        }
    }
    let mut text = paragraph(
        "These commands train the models, from data with the fingerprints above, and write this page. Paths are relative to \
         the folder in which burnrank report ran.",
    );
    lines.push(report_command(args));
    text += &commands(&lines.join("\n"));
    if !unknown.is_empty() {
        text += &aside(&format!("The training command is not known for: {}.", unknown.join(", ")));
    }
    if !missing.is_empty() {
        missing.dedup();
        text += &aside(&format!(
            "Files not found: {}. Training ran in another folder, or the files were moved since.",
            missing.join(", ")
        ));
    }
    text + &aside(
        "A command gives the same model, byte for byte, on the same kind of CPU, with any number of threads. Models do not \
         store input options such as --first-index.",
    )
}

/// The command that wrote this page.
fn report_command(args: &Args) -> String {
    let mut words = vec!["burnrank".to_owned(), "report".to_owned()];
    words.extend(arguments::words().skip_while(|word| word != "report").skip(1));
    if words.len() == 2 {
        words.extend(args.models.iter().cloned());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The command that trained a model, from the settings in its folder. Adds files that do not exist to `missing`.
fn train_command(info: &ModelInfo, path: &str, missing: &mut Vec<String>) -> Option<String> {
    let mut source = |split: &str| {
        let data = info.data.get(split)?;
        let stored = data.file.as_ref().unwrap_or(&data.source);
        Some(from_here(stored, path).unwrap_or_else(|| {
            missing.push(stored.to_owned());
            stored.to_owned()
        }))
    };
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |option: &str, value: Option<String>| all.extend(value.map(|value| vec![option.to_owned(), value]));
    let train = source("train")?;
    // Validation queries held out from the training data have the same file.
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
    all.extend(info.sparse_missing.then(|| vec!["--sparse-missing".to_owned()]));
    all.push(vec!["--out".into(), path.to_owned()]);
    Some(line(&all))
}

/// The arguments of `--model auto`: settings that are not their defaults.
fn auto_arguments(settings: &Value) -> Vec<Vec<String>> {
    let default = TrainConfig::default();
    let rows = SETTINGS.iter().filter(|row| row.kinds.has(Kinds::AUTO));
    let stated = rows.filter_map(|row| {
        let value = match settings.get(row.key)? {
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        // Without --scale, model selection chooses one.
        let is_stated = row.key == "scale" || value != row.get(&default);
        is_stated.then(|| vec![format!("--{}", row.key), value])
    });
    let trials = settings.get("trials").map(|trials| vec!["--trials".to_owned(), trials.to_string()]);
    stated.chain(trials).collect()
}

/// The path of a training file relative to the current folder. Training may have run in another folder, typically one above
/// the model folder.
fn from_here(stored: &str, model: &str) -> Option<String> {
    // Generated data and standard input have no file.
    if stored.is_empty() || stored.starts_with('<') || Path::new(stored).exists() {
        return Some(stored.to_owned());
    }
    // Search the folders above the model by absolute path, and return the relative path of the same folder.
    let relative = (1..=MAX_DEPTH).map(|up| Path::new(model).join([".."].repeat(up).join("/")).join(stored));
    let folder = std::path::absolute(model).ok()?;
    let absolute = folder.ancestors().skip(1).map(|folder| folder.join(stored));
    let (_, path) = absolute.zip(relative).find(|(absolute, _)| absolute.exists())?;
    Some(simplify(&path))
}

/// Number of folders above a model to search for its data.
const MAX_DEPTH: usize = 8;

/// Removes `.` and pairs of a folder and `..` from a path.
fn simplify(path: &Path) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_simplified() {
        for (path, expected) in
            [("../model/../data.txt", "../data.txt"), ("./a/b/../../c", "c"), ("../../x", "../../x"), ("/a/../b", "/b")]
        {
            assert_eq!(simplify(Path::new(path)), expected);
        }
    }
}
