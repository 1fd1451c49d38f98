//! The command line as it is read, and what is said about one that makes no sense.

use super::{prose, ui};
use burnrank::suggest::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use std::io::IsTerminal;
use std::process::ExitCode;

/// What other tools call our options: theirs, and the names here, of which a command has one.
#[rustfmt::skip]
const OPTIONS: [(&[&str], &[&str]); 26] = [
    (&["learning-rate", "eta", "step-size", "step", "shrinkage", "alpha"], &["lr"]),
    (&["n-epochs", "num-epochs", "max-epochs", "iterations", "max-iter", "num-rounds", "n-estimators"], &["epochs"]),
    (&["hidden-units", "hidden-size", "hidden-layers", "units", "layers"], &["hidden"]),
    (&["batch-size", "batch", "minibatch", "mini-batch"], &["batch-queries"]),
    (&["early-stopping", "early-stopping-rounds", "early-stop", "stop-after"], &["patience"]),
    (&["weight-decay", "reg-lambda", "lambda-l2", "regularization", "regularisation", "l2-reg"], &["l2"]),
    (&["loss", "loss-function", "ranker"], &["objective"]),
    (&["eval-metric", "metrics", "measure", "measures", "metric2t", "metric2T"], &["metric"]),
    (&["random-seed", "random-state", "rng"], &["seed"]),
    (&["train-data", "training", "training-data", "train-file"], &["train", "data"]),
    (&["validation", "validate", "validation-data", "vali", "val", "dev", "eval"], &["valid"]),
    (&["test-data", "test-file", "test", "input", "file", "dataset", "train"], &["test", "data"]),
    (&["clip-norm", "grad-clip", "gradient-clipping", "max-grad-norm"], &["clip"]),
    (&["normalize", "normalise", "norm", "standardize", "standardise", "scaler", "scaling"], &["scale"]),
    (&["output", "output-dir", "model-dir", "save", "save-model", "save-to", "output-file"], &["out"]),
    (&["overwrite", "yes", "replace"], &["force"]),
    (&["num-threads", "n-threads", "n-jobs", "nthread", "jobs", "workers", "cores", "cpus"], &["threads"]),
    (&["optim", "solver"], &["optimizer"]),
    (&["silent", "no-progress"], &["quiet"]),
    (&["memory", "mem", "memory-limit", "max-mem"], &["max-memory"]),
    (&["backend", "gpu", "cuda", "cpu"], &["device"]),
    (&["cross-validation", "cv", "kfold", "k-fold", "kcv"], &["folds"]),
    (&["n-trials", "num-trials", "n-iter", "samples", "budget"], &["trials"]),
    (&["timeout", "time", "time-limit", "max-time", "max-seconds", "time-budget"], &["seconds"]),
    (&["continue", "restore", "from-checkpoint"], &["resume"]),
    (&["predictions", "preds", "score", "rank"], &["scores", "model", "out"]),
];

/// What other tools call our commands.
#[rustfmt::skip]
const COMMANDS: [(&str, &[&str]); 14] = [
    ("train", &["fit", "learn", "training"]),
    ("tune", &["search", "optimize", "optimise", "hpo", "sweep", "grid", "automl"]),
    ("predict", &["score", "rank", "apply", "infer", "inference"]),
    ("info", &["show", "describe", "inspect"]),
    ("data", &["stats", "statistics", "validate", "check"]),
    ("evaluate", &["eval", "test", "judge", "metrics", "measure"]),
    ("compare", &["significance", "diff", "ttest"]),
    ("explain", &["importance", "importances", "interpret", "shap", "why", "analyze", "analyse"]),
    ("report", &["html", "page", "dashboard", "summary"]),
    ("generate", &["synthetic", "make", "gen", "simulate"]),
    ("convert", &["pack", "transform", "cache"]),
    ("serve", &["server", "http", "listen", "api"]),
    ("export", &["dump", "deploy", "onnx", "serialize", "publish"]),
    ("split", &["folds", "kfold", "partition"]),
];

/// Reads the command line; what it says instead is printed, with the exit code to end with.
pub fn parse<T: CommandFactory + FromArgMatches>() -> Result<T, ExitCode> {
    let mut command = prose::fold_help(with_negative_numbers(T::command()));
    if !std::io::stdout().is_terminal() && std::env::var_os("COLUMNS").is_none() {
        // Help that goes into a file or another program is as wide as most terminals.
        command = command.term_width(prose::WIDTH);
    }
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let found = command.clone().try_get_matches().and_then(|matches| T::from_arg_matches(&matches));
    found.map_err(|error| {
        match explanation(&command, &arguments, &error) {
            Some(text) => ui::refuse(&text),
            None if ui::is_silent() => {}
            // When nobody reads it, there is nobody to tell.
            None => drop(error.print()),
        }
        ExitCode::from(if error.use_stderr() { 2 } else { 0 })
    })
}

/// Numbers below zero are numbers, not options: what is wrong with them is for the option to say.
fn with_negative_numbers(command: Command) -> Command {
    let allow = |arg: Arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg };
    command.mut_args(allow).mut_subcommands(with_negative_numbers)
}

/// Our words for the mistakes that clap has no good ones for.
fn explanation(root: &Command, arguments: &[String], error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (command, path) = chosen(root, arguments);
    let problem = match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = text(ContextKind::InvalidArg).filter(|word| word.starts_with("--"))?;
            match option(&[root, command], word.trim_start_matches('-')) {
                Some(meant) => format!("unknown option '{word}': did you mean '--{meant}'?"),
                None => format!("unknown option '{word}'"),
            }
        }
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand)?;
            match subcommand(command, word) {
                Some(meant) => format!("unknown command '{word}': did you mean '{meant}'?"),
                None => format!("unknown command '{word}'"),
            }
        }
        ErrorKind::ValueValidation => {
            let (option, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
            let option = option.split([' ', '=']).next().unwrap_or(option);
            bad_value(option, value, std::error::Error::source(error)?)
        }
        _ => return None,
    };
    Some(format!("{problem}\n\nFor more information, try '{path} --help'."))
}

/// The command that the words ask for, and how it is called.
fn chosen<'a>(root: &'a Command, arguments: &[String]) -> (&'a Command, String) {
    let start = (root, root.get_name().to_owned());
    arguments.iter().fold(start, |(command, path), word| match command.find_subcommand(word) {
        Some(next) => (next, format!("{path} {word}")),
        None => (command, path),
    })
}

/// The option of these commands that was likely meant: the name that other tools have for it, or the nearest one.
fn option<'a>(commands: &[&'a Command], word: &str) -> Option<&'a str> {
    let word = word.to_ascii_lowercase().replace('_', "-");
    let own = || commands.iter().flat_map(|command| command.get_arguments()).filter_map(|arg| arg.get_long());
    let find = |name: &str| own().find(|own| *own == name);
    let known = OPTIONS.iter().filter(|(theirs, _)| theirs.contains(&word.as_str()));
    find(&word)
        .or_else(|| known.flat_map(|(_, ours)| ours.iter()).find_map(|name| find(name)))
        .or_else(|| nearest(&word, own()))
}

fn subcommand<'a>(command: &'a Command, word: &str) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let own = || command.get_subcommands().map(|command| command.get_name());
    let ours = COMMANDS.iter().find(|(_, theirs)| theirs.contains(&word.as_str())).map(|(ours, _)| *ours);
    ours.and_then(|name| own().find(|own| *own == name)).or_else(|| nearest(&word, own()))
}

/// What is wrong with the value of an option.
fn bad_value(option: &str, value: &str, source: &(dyn std::error::Error + 'static)) -> String {
    if source.is::<burnrank::Error>() {
        // These name the value, and what it was meant to be.
        return source.to_string();
    }
    let text = source.to_string();
    let range = text.split_once(" is not in ").and_then(|(_, range)| range.split_once("..="));
    let expected = match range {
        Some((low, high)) => format!("expected a whole number from {low} to {high}"),
        None if source.is::<std::num::ParseIntError>() => "expected a whole number of 0 or more".to_owned(),
        None if source.is::<std::num::ParseFloatError>() => "expected a number".to_owned(),
        None => text,
    };
    format!("{option} {value}: {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    fn explained(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let command = with_negative_numbers(Cli::command());
        let given = std::iter::once("burnrank".to_owned()).chain(words.clone());
        let error = command.clone().try_get_matches_from(given).expect_err("a wrong line");
        let text = explanation(&command, &words, &error).expect("words of our own");
        text.lines().next().expect("a line").to_owned()
    }

    #[test]
    fn options_of_other_tools_are_known() {
        for (theirs, ours) in [
            ("train --learning-rate 1", "--lr"),
            ("train --learning_rate=1", "--lr"),
            ("train --n-epochs 1", "--epochs"),
            ("train --epoch 1", "--epochs"),
            ("train --hidden-units 1", "--hidden"),
            ("train --batch-size 1", "--batch-queries"),
            ("train --early-stopping 1", "--patience"),
            ("train --early_stopping_rounds 1", "--patience"),
            ("train --validation x", "--valid"),
            ("train --n-jobs 1", "--threads"),
            ("train --optimiser adam", "--optimizer"),
            ("train --objctive ranknet", "--objective"),
            ("evaluate --test x", "--data"),
            ("evaluate --metrics map", "--metric"),
            ("certify --direction 7", "--directions"),
        ] {
            let word = theirs.split([' ', '=']).nth(1).expect("an option");
            assert_eq!(explained(theirs), format!("unknown option '{word}': did you mean '{ours}'?"));
        }
        assert_eq!(explained("train --frobnicate"), "unknown option '--frobnicate'");
        // An option of another command is not suggested.
        assert_eq!(explained("info --learning-rate 1"), "unknown option '--learning-rate'");
    }

    #[test]
    fn every_name_of_ours_exists() {
        let command = Cli::command();
        let longs: Vec<&str> =
            command.get_subcommands().flat_map(|c| c.get_arguments()).filter_map(Arg::get_long).collect();
        let global: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
        for name in OPTIONS.iter().flat_map(|(_, ours)| ours.iter()) {
            assert!(longs.contains(name) || global.contains(name), "{name}");
        }
        for (name, _) in COMMANDS {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn commands_are_suggested() {
        for (wrong, ours) in [("trian", "train"), ("evalute", "evaluate"), ("fit", "train"), ("score", "predict")] {
            assert_eq!(explained(wrong), format!("unknown command '{wrong}': did you mean '{ours}'?"));
        }
        assert_eq!(explained("frobnicate"), "unknown command 'frobnicate'");
    }

    #[test]
    fn bad_values_say_what_was_expected() {
        let hidden = "is not a number of hidden units: give one number per layer, as in 10 or 32,16";
        for (value, part) in [("-1", "-1"), ("32,,16", ""), ("32,", ""), ("x", "x"), ("1,2.5", "2.5")] {
            assert_eq!(explained(&format!("train --hidden {value}")), format!("--hidden {value}: '{part}' {hidden}"));
        }
        assert_eq!(explained("train --epochs -1"), "--epochs -1: expected a whole number of 0 or more");
        assert_eq!(explained("train --model mpl"), "unknown model 'mpl': did you mean 'mlp'?");
        let known = explained("train --model forest");
        assert!(known.starts_with("unknown model 'forest': known are linear, mlp, trees, feature, "), "{known}");
        assert_eq!(explained("train --lr x"), "--lr x: expected a number");
        assert_eq!(explained("train --threads -1"), "--threads -1: expected a whole number from 0 to 1024");
        assert_eq!(
            explained("evaluate --data a --scores b --metric ncdg@10"),
            "unknown measure 'ncdg@10': did you mean 'ndcg@10'?"
        );
        assert_eq!(
            explained("lambda --objective lamdarank:ndcg"),
            "unknown objective 'lamdarank:ndcg': did you mean 'lambdarank:ndcg'?"
        );
    }
}
