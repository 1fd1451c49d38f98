//! Parses the command line and explains invalid ones.

mod other_tools;

use super::{arguments, help_layout, prose, protect, ui};
use burnrank::internal::suggest::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use other_tools::{COMMANDS, INSTEAD, OPTIONS};
use std::collections::HashSet;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// A command line that runs no command because it is invalid or asks for help. Everything has been printed.
pub struct NoCommand {
    /// Exit code.
    pub code: u8,
    /// The error; empty if there is none.
    pub message: String,
}

/// Parses the command line. Prints errors, help and the version.
pub fn parse<T: CommandFactory + FromArgMatches>() -> Result<T, NoCommand> {
    let mut command = with_negative_numbers(T::command());
    if !std::io::stdout().is_terminal() && std::env::var_os("COLUMNS").is_none() {
        command = command.term_width(prose::WIDTH);
    }
    let command = help_layout::arrange(command);
    let arguments: Vec<String> = arguments::words().collect();
    if let Some(text) = single_dash(&command, &arguments) {
        ui::refuse(&text);
        return Err(NoCommand { code: 2, message: text });
    }
    let parsed = command.clone().try_get_matches_from(arguments::all()).and_then(|matches| {
        protect::note_inputs(&command, &matches);
        T::from_arg_matches(&matches)
    });
    parsed.map_err(|error| {
        let explanation = explanation(&command, &arguments, &error);
        match &explanation {
            Some(text) => ui::refuse(text),
            None if ui::is_silent() => {}
            // A closed standard output is not an error.
            None => drop(error.print()),
        }
        if !error.use_stderr() {
            return NoCommand { code: 0, message: String::new() };
        }
        let message = explanation.unwrap_or_else(|| error.to_string().trim_start_matches("error: ").trim().to_owned());
        NoCommand { code: 2, message }
    })
}

/// Parses negative numbers as values rather than options, so that the option reports why they are invalid.
fn with_negative_numbers(command: Command) -> Command {
    let allow = |arg: Arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg };
    command.mut_args(allow).mut_subcommands(with_negative_numbers)
}

/// Returns a better message than clap's for some kinds of errors.
fn explanation(root: &Command, arguments: &[String], error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (command, path) = chosen(root, arguments);
    let problem = match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = text(ContextKind::InvalidArg).filter(|word| word.starts_with("--"))?;
            unknown_option(root, command, word)
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
    Some(with_help(&problem, &path))
}

fn with_help(problem: &str, path: &str) -> String {
    format!("{problem}\n\nFor more information, try '{path} --help'.")
}

/// Returns the message for an option that the command does not have.
fn unknown_option(root: &Command, command: &Command, word: &str) -> String {
    let name = plain(word);
    let instead = INSTEAD.iter().find(|(theirs, _)| theirs.contains(&name.as_str()));
    match (option(&[root, command], &name), instead.filter(|_| trains(command))) {
        (_, Some((_, instead))) => format!("unknown option '{word}': {instead}"),
        (Some(meant), None) => format!("unknown option '{word}': did you mean '--{meant}'?"),
        (None, None) => format!("unknown option '{word}'"),
    }
}

/// Returns the message for an option with a single hyphen, as in RankLib: clap would parse `-metric2t` as `-m etric2t`.
fn single_dash(root: &Command, arguments: &[String]) -> Option<String> {
    let (command, path) = chosen(root, arguments);
    let is_known = |word: &&String| {
        let name = plain(word);
        let instead = INSTEAD.iter().any(|(theirs, _)| theirs.contains(&name.as_str())) && trains(command);
        !word.starts_with("--") && name.len() > 1 && (instead || known_option(&[root, command], &name).is_some())
    };
    let mut words = arguments.iter().take_while(|word| *word != "--").filter(|word| word.starts_with('-'));
    let word = words.find(is_known)?;
    Some(with_help(&unknown_option(root, command, word.split('=').next().unwrap_or(word)), &path))
}

/// Returns the name of an option in lower case with hyphens: other tools also use capitals and underscores.
fn plain(word: &str) -> String {
    let name = word.split('=').next().unwrap_or(word);
    name.trim_start_matches('-').to_ascii_lowercase().replace('_', "-")
}

/// Whether a command accepts training options, so that those of other tools are explained.
fn trains(command: &Command) -> bool {
    ["train", "tune"].contains(&command.get_name())
}

/// Returns the command that the arguments select, and its full name.
fn chosen<'a>(root: &'a Command, arguments: &[String]) -> (&'a Command, String) {
    let start = (root, root.get_name().to_owned());
    arguments.iter().fold(start, |(command, path), word| match command.find_subcommand(word) {
        Some(next) => (next, format!("{path} {word}")),
        None => (command, path),
    })
}

/// Returns the option of these commands that was probably meant: the equivalent of another tool's option, or the nearest name.
fn option<'a>(commands: &[&'a Command], word: &str) -> Option<&'a str> {
    known_option(commands, word).or_else(|| nearest(word, longs(commands)))
}

/// Returns the option with this name, or the equivalent of another tool's option with this name.
fn known_option<'a>(commands: &[&'a Command], word: &str) -> Option<&'a str> {
    let find = |name: &str| longs(commands).find(|own| *own == name);
    let known = OPTIONS.iter().filter(|(theirs, _)| theirs.contains(&word));
    find(word).or_else(|| known.flat_map(|(_, ours)| ours.iter()).find_map(|name| find(name)))
}

fn longs<'a>(commands: &[&'a Command]) -> impl Iterator<Item = &'a str> {
    commands.iter().flat_map(|command| command.get_arguments()).filter_map(|arg| arg.get_long())
}

fn subcommand<'a>(command: &'a Command, word: &str) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let own = || command.get_subcommands().map(|command| command.get_name());
    let ours = COMMANDS.iter().find(|(_, theirs)| theirs.contains(&word.as_str())).map(|(ours, _)| *ours);
    ours.and_then(|name| own().find(|own| *own == name)).or_else(|| nearest(&word, own()))
}

/// Returns the message of a library error, with options instead of settings.
pub fn text(error: &burnrank::Error) -> String {
    match error {
        burnrank::Error::Setting { .. } => format!("--{error}"),
        error => error.to_string(),
    }
}

/// Replaces settings with command-line options in a message. The library does not know the options; its messages name
/// settings in backticks, as in `first_index`.
pub fn with_options(text: &str) -> String {
    static OPTION_NAMES: OnceLock<HashSet<String>> = OnceLock::new();
    let options = OPTION_NAMES.get_or_init(|| {
        let root = super::Cli::command();
        let commands: Vec<&Command> = std::iter::once(&root).chain(root.get_subcommands()).collect();
        longs(&commands).map(str::to_owned).collect()
    });
    let mut parts = text.split('`');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    while let Some(name) = parts.next() {
        let option = name.replace('_', "-");
        match parts.next() {
            Some(rest) if options.contains(&option) => shown += &format!("--{option}{rest}"),
            Some(rest) => shown += &format!("`{name}`{rest}"),
            None => shown += &format!("`{name}"),
        }
    }
    shown
}

/// Returns the message for an invalid value of an option.
fn bad_value(option: &str, value: &str, source: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = source.downcast_ref::<burnrank::Error>() {
        // Its message includes the value and the expected values.
        return text(error);
    }
    let text = source.to_string();
    let range = text.split_once(" is not in ").and_then(|(_, range)| range.split_once(".."));
    let too_large = |error: &std::num::ParseIntError| *error.kind() == std::num::IntErrorKind::PosOverflow;
    let expected = match range.map(|(low, high)| (low, high.trim_start_matches('='))) {
        Some((low, high)) if high.is_empty() || high == u64::MAX.to_string() => {
            format!("expected a whole number of {low} or more")
        }
        Some((low, high)) => format!("expected a whole number from {low} to {high}"),
        None if source.downcast_ref().is_some_and(too_large) => "the number is too large".to_owned(),
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
        if let Some(text) = single_dash(&command, &words) {
            return text.lines().next().expect("a line").to_owned();
        }
        let given = std::iter::once("burnrank".to_owned()).chain(words.clone());
        let error = command.clone().try_get_matches_from(given).expect_err("a wrong line");
        let text = with_options(&explanation(&command, &words, &error).expect("an explanation"));
        text.lines().next().expect("a line").to_owned()
    }

    #[test]
    fn options_of_other_tools_are_suggested() {
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
            ("train --num-leaves 31", "--leaves"),
            ("train --num_leaves=31", "--leaves"),
            ("train --n-estimators 100", "--trees"),
            ("train --num_boost_round 100", "--trees"),
            ("train --eta 0.1", "--shrinkage"),
            ("train --min_data_in_leaf 5", "--min-data"),
            ("train --min_child_weight 1", "--min-hessian"),
            ("train --max_bin 63", "--bins"),
            ("train --bagging_fraction 0.5", "--subsample"),
            ("train --colsample_bytree 0.5", "--feature-fraction"),
            ("train --eval_at 10", "--metric"),
            ("train --early-stopping-rounds 5", "--patience"),
            ("train --train_path x", "--train"),
            ("train --vali_path x", "--valid"),
            ("train --hidden_layer_dims 8", "--hidden"),
            ("train --train_batch_size 8", "--batch-queries"),
            ("train --job-dir x", "--out"),
            ("train -ranker 6", "--model"),
            ("train -metric2t NDCG@10", "--metric"),
            ("train -metric2T NDCG@10", "--metric"),
            ("train -tree 100", "--trees"),
            ("train -leaf 10", "--leaves"),
            ("train -shrinkage 0.1", "--shrinkage"),
            ("train -tc 255", "--bins"),
            ("train -mls 1", "--min-data"),
            ("train -estop 100", "--patience"),
            ("train -validate x", "--valid"),
            ("train -train x", "--train"),
            ("train -kcv 5", "--folds"),
            ("train -norm zscore", "--scale"),
            ("train -save x", "--out"),
            ("train -epoch 3", "--epochs"),
            ("train -layer 1", "--hidden"),
            ("train -silent", "--quiet"),
            ("evaluate -metric2T map", "--metric"),
        ] {
            let word = theirs.split([' ', '=']).nth(1).expect("an option");
            assert_eq!(explained(theirs), format!("unknown option '{word}': did you mean '{ours}'?"));
        }
        assert_eq!(explained("train --frobnicate"), "unknown option '--frobnicate'");
        assert_eq!(
            explained("train --max_depth 6"),
            "unknown option '--max_depth': the size of trees is set by their number of leaves, --leaves"
        );
        assert!(explained("train -gmax 4").ends_with("as in --metric err:max=3"));
        assert_eq!(explained("data --max-depth 6"), "unknown option '--max-depth'");
        // An option of another command is not suggested.
        assert_eq!(explained("info --learning-rate 1"), "unknown option '--learning-rate'");
    }

    #[test]
    fn suggested_options_exist() {
        let command = Cli::command();
        let longs: Vec<&str> =
            command.get_subcommands().flat_map(|c| c.get_arguments()).filter_map(Arg::get_long).collect();
        let global: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
        for name in OPTIONS.iter().flat_map(|(_, ours)| ours.iter()) {
            assert!(longs.contains(name) || global.contains(name), "{name}");
        }
        for (theirs, ours) in OPTIONS {
            for name in *theirs {
                let meant = |own| known_option(&[&command, own], name).is_some_and(|meant| ours.contains(&meant));
                assert!(command.get_subcommands().any(meant), "no command suggests an option for {name}");
            }
        }
        let train = command.find_subcommand("train").expect("train");
        for (theirs, instead) in INSTEAD {
            for name in *theirs {
                let text = unknown_option(&command, train, &format!("--{name}"));
                assert_eq!(text, format!("unknown option '--{name}': {instead}"));
                assert!(super::longs(&[train]).all(|own| own != *name), "{name} is an option");
            }
        }
        for (name, _) in COMMANDS {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn settings_in_messages_are_options() {
        assert_eq!(with_options("give `first_index` 0 or `null`: `x`"), "give --first-index 0 or --null: `x`");
        for text in ["", "none", "one ` alone", "`label", "``", "`a` and ` b"] {
            assert_eq!(with_options(text), text);
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
    fn messages_for_bad_values_state_the_expected_values() {
        for value in ["-1", "32,,16", "32,", "x", "1,2.5"] {
            let message = explained(&format!("train --hidden {value}"));
            assert!(message.starts_with(&format!("--hidden {value}: expected 1 to 65536 units")), "{message}");
        }
        assert_eq!(explained("train --epochs -1"), "--epochs -1: expected a whole number of 1 or more");
        assert_eq!(explained("train --model mpl"), "unknown model 'mpl': did you mean 'mlp'?");
        let message = explained("train --model forest");
        assert!(
            message.starts_with("unknown model 'forest': expected auto, linear, mlp, trees, feature, "),
            "{message}"
        );
        assert_eq!(
            explained("train --model LambdaMART"),
            "unknown model 'lambdamart': LambdaMART is --model trees --objective lambdarank:ndcg"
        );
        assert_eq!(explained("train --model atuo"), "unknown model 'atuo': did you mean 'auto'?");
        assert_eq!(
            explained("evaluate --data a --scores b --metric ndcg10"),
            "unknown metric 'ndcg10': did you mean 'ndcg@10'?"
        );
        assert_eq!(explained("train --lr x"), "--lr x: expected a number above 0");
        assert_eq!(explained("train --trials 0"), "--trials 0: expected a whole number of 1 or more");
        let large = "99999999999999999999999";
        assert!(explained(&format!("train --seed {large}")).ends_with(", up to 18446744073709551615"));
        assert_eq!(explained("train --threads -1"), "--threads -1: expected a whole number from 0 to 1024");
        assert_eq!(
            explained("evaluate --data a --scores b --metric ncdg@10"),
            "unknown metric 'ncdg@10': did you mean 'ndcg@10'?"
        );
        assert_eq!(
            explained("lambda --objective lamdarank:ndcg"),
            "unknown objective 'lamdarank:ndcg': did you mean 'lambdarank:ndcg'?"
        );
    }
}
