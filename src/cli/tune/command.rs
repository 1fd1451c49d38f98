//! Prints the `burnrank train` command of a configuration.

use super::Args;
use burnrank::TrainConfig;
use burnrank::setting::stated;
use burnrank::tune::Trial;
use std::path::Path;

/// The arguments of `burnrank train` that train like a trial, one list per option. The default number of epochs depends on the
/// number of training `queries`.
pub fn train_arguments(args: &Args, trial: &Trial, queries: usize) -> burnrank::Result<Vec<Vec<String>>> {
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
    all.extend(config_arguments(&trial.config, Some(queries).filter(|_| trial.number == 0))?);
    let mut add = |option: &str, value: Option<String>| {
        all.extend(value.map(|value| vec![option.to_owned(), value]));
    };
    add("--device", Some(args.device.clone()).filter(|device| device != "auto"));
    add("--features", args.features.map(|features| features.to_string()));
    add("--first-index", Some(args.read.first_index.to_string()).filter(|_| args.read.first_index != 1));
    add("--query-file", path(&args.read.query_file));
    add("--valid-query-file", path(&args.valid_query_file));
    add("--null", args.read.null.map(|null| null.to_string()));
    all.extend(args.read.table.words());
    let flags = [
        ("--lenient", args.read.lenient),
        ("--fill-zeros", args.read.fill_zeros),
        ("--sparse-missing", args.read.sparse_missing),
        ("--regroup", args.read.regroup),
    ];
    all.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| vec![flag.to_owned()]));
    Ok(all)
}

/// The arguments of a configuration: the model, and every setting that is not its default. With `queries`, the default number
/// of epochs for this number of training queries is omitted too.
pub fn config_arguments(config: &TrainConfig, queries: Option<usize>) -> burnrank::Result<Vec<Vec<String>>> {
    let (model, given) = stated(config, queries)?;
    let settings = given.iter().map(|(key, value)| vec![format!("--{key}"), value.to_owned()]);
    Ok(std::iter::once(vec!["--model".to_owned(), model.to_string()]).chain(settings).collect())
}

/// The command on one line, quoted for a shell.
pub fn line(arguments: &[Vec<String>]) -> String {
    let words = arguments.iter().flatten().map(|word| quoted(word));
    ["burnrank".to_owned(), "train".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The command on lines of 80 columns, broken between options.
pub fn lines(arguments: &[Vec<String>]) -> String {
    let mut text = "  burnrank train".to_owned();
    let mut column = text.len();
    for argument in arguments {
        let argument = argument.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        // Leave room for " \".
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

/// Quotes a word for a shell.
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
