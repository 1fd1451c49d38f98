//! The command that trains what a search found.

use super::Args;
use burnrank::TrainConfig;
use burnrank::model::Architecture;
use burnrank::setting::Method;
use burnrank::tune::{Trial, preset, settings_of};
use std::path::Path;

/// The arguments of `burnrank train` that train as a trial did, an option and its value at a time.
pub fn train_arguments(args: &Args, trial: &Trial) -> burnrank::Result<Vec<Vec<String>>> {
    let config = &trial.config;
    // How long the default is trained depends on the data, as without options; all others have a number of epochs.
    let is_default = trial.number == 0;
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |option: &str, value: Option<String>| {
        all.extend(value.map(|value| vec![option.to_owned(), value]));
    };
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
    add("--train", path(&args.train));
    add("--valid", path(&args.valid));
    add("--folds", path(&args.folds));
    let out = args.out.as_deref().map_or_else(|| Path::new("model").to_path_buf(), |out| out.join("model"));
    add("--out", Some(out.display().to_string()));
    all.extend(if is_default { default_arguments(config)? } else { config_arguments(config)? });
    let mut add = |option: &str, value: Option<String>| {
        all.extend(value.map(|value| vec![option.to_owned(), value]));
    };
    add("--metric", Some(args.metric.clone()).filter(|metric| metric != "ndcg@10"));
    // A net's own are among the settings.
    let is_open = is_default || !config.architecture.is_net();
    let given = |given: Option<usize>| given.filter(|_| is_open).map(|number| number.to_string());
    add("--epochs", given(args.epochs));
    add("--patience", given(args.patience));
    add("--seed", Some(args.seed.to_string()).filter(|_| args.seed != 1));
    add("--device", Some(args.device.clone()).filter(|device| device != "auto"));
    add("--features", args.features.map(|features| features.to_string()));
    add("--first-index", Some(args.read.first_index.to_string()).filter(|_| args.read.first_index != 1));
    add("--query-file", path(&args.read.query_file));
    add("--valid-query-file", path(&args.valid_query_file));
    all.extend(args.read.table.words());
    let words =
        [("--lenient", args.read.lenient), ("--fill-zeros", args.read.fill_zeros), ("--regroup", args.read.regroup)];
    all.extend(words.into_iter().filter(|(_, given)| *given).map(|(word, _)| vec![word.to_owned()]));
    Ok(all)
}

/// The arguments of the default: its model, and the objective where that is not the usual one.
fn default_arguments(config: &TrainConfig) -> burnrank::Result<Vec<Vec<String>>> {
    let mut all = vec![vec!["--model".to_owned(), model_name(config).unwrap_or("mlp").to_owned()]];
    if config.objective.name() != preset(config)?.objective.name() {
        all.push(vec!["--objective".to_owned(), config.objective.name()]);
    }
    Ok(all)
}

/// The name of a net or of trees, as `--model` takes it.
pub fn model_name(config: &TrainConfig) -> Option<&'static str> {
    match config.architecture {
        Architecture::Linear => Some("linear"),
        Architecture::Trees { .. } => Some("trees"),
        Architecture::Mlp { .. } => Some("mlp"),
        Architecture::Kernel { .. } => None,
    }
}

/// The arguments that say what is trained, and how: the model, and every setting that is not usual for it.
pub fn config_arguments(config: &TrainConfig) -> burnrank::Result<Vec<Vec<String>>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |option: &str, value: Option<String>| {
        all.extend(value.map(|value| vec![option.to_owned(), value]));
    };
    if let Method::Baseline(settings) = &config.method {
        add("--model", Some(settings.to_string()));
        return Ok(all);
    }
    add("--model", model_name(config).map(str::to_owned));
    let usual = preset(config)?;
    let usual_rule = config.schedule == usual.schedule;
    let usual: Vec<(&str, String)> = settings_of(&usual).map(|(setting, value)| (setting.key, value)).collect();
    for (setting, value) in settings_of(config) {
        let is_usual = usual.contains(&(setting.key, value.clone()));
        let is_linear = setting.key == "hidden" && config.architecture == Architecture::Linear;
        add(&format!("--{}", setting.key), Some(value).filter(|_| !is_usual && !is_linear));
    }
    // Without it, a net is trained as long as suits the data; with it, steps would else be constant.
    let of_net = |value: String| Some(value).filter(|_| config.architecture.is_net());
    add("--epochs", of_net(config.epochs.to_string()));
    add("--schedule", of_net(config.schedule.to_string()).filter(|_| usual_rule));
    add("--patience", of_net(config.patience.to_string()));
    Ok(all)
}

/// The command on one line, as a shell takes it.
pub fn line(arguments: &[Vec<String>]) -> String {
    let words = arguments.iter().flatten().map(|word| quoted(word));
    ["burnrank".to_owned(), "train".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The same on lines of 80 columns, as far as options allow.
pub fn lines(arguments: &[Vec<String>]) -> String {
    let mut text = "  burnrank train".to_owned();
    let mut column = text.len();
    for argument in arguments {
        let argument = argument.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        // Room for the backslash behind it.
        if column + 1 + argument.chars().count() + 2 > 80 {
            text.push_str(" \\\n     ");
            column = 5;
        }
        text.push(' ');
        text.push_str(&argument);
        column += 1 + argument.chars().count();
    }
    text + "\n"
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(
            ["a/b.txt", "ndcg-loss2++@5:mu=1", "my data", "it's", ""].map(quoted),
            ["a/b.txt", "ndcg-loss2++@5:mu=1", "'my data'", "'it'\\''s'", "''"]
        );
    }

    #[test]
    fn long_commands_are_broken_between_options() {
        let option = |name: &str, value: &str| vec![name.to_owned(), value.to_owned()];
        let all =
            vec![option("--train", "a file of mine.txt"), option("--lr", "0.01"), option("--out", &"x".repeat(60))];
        assert!(lines(&all).lines().all(|line| line.len() <= 80), "{}", lines(&all));
        let joined: Vec<String> = lines(&all).split_whitespace().filter(|w| *w != "\\").map(str::to_owned).collect();
        assert_eq!(joined.join(" "), line(&all));
    }
}
