//! The layout of help: `-h` fits a screen, `--help` shows everything, examples first.

use super::prose;
use burnrank::setting::Setting;
use clap::{Arg, Command};

/// The commands by task, each with its line in the help of the tool.
const TASKS: [(&str, &[(&str, &str)]); 6] = [
    (
        "Data",
        &[
            ("generate", "Generate artificial data"),
            ("split", "Split data into training, validation and test files, or folds"),
            ("data", "Show statistics and problems of data files"),
            ("convert", "Convert data (cache, TREC, scaling), or import a model"),
        ],
    ),
    (
        "Train",
        &[
            ("train", "Train a model; without data, run a demonstration"),
            ("tune", "Search for good settings on validation data"),
            ("devices", "List the devices that this build can train on"),
        ],
    ),
    (
        "Evaluate",
        &[
            ("evaluate", "Compute ranking metrics of a model, scores or a TREC run"),
            ("compare", "Compare systems: leaderboard and significance tests"),
        ],
    ),
    (
        "Understand",
        &[
            ("explain", "Explain a model: feature importance, gains and losses by query"),
            ("report", "Write an HTML report on one or more models"),
            ("info", "Check a model folder and show its contents"),
            ("certify", "Test whether a model is at a local optimum of a metric"),
            ("lambda", "Test whether the lambdas of an objective derive from a cost"),
        ],
    ),
    ("Deploy", &[("predict", "Score the documents of a file"), ("export", EXPORT), ("serve", SERVE)]),
    (
        "Shell",
        &[
            ("completions", "Print a shell completion script"),
            ("man", "Print the manual page, or write one per command"),
        ],
    ),
];

const EXPORT: &str = "Export a model, for example to ONNX, Solr or Elasticsearch";
const SERVE: &str = match cfg!(feature = "serve") {
    true => "Serve scores over HTTP",
    false => "Serve scores over HTTP (needs a build with --features serve)",
};

/// The options that `-h` shows, per command; for other commands it shows all. For settings of `train`, see
/// [`Setting::common`].
const COMMON: [(&str, &[&str]); 15] = [
    ("train", &["train", "valid", "test", "folds", "model", "out"]),
    (
        "tune",
        &[
            "train",
            "valid",
            "folds",
            "objective",
            "metric",
            "space",
            "print-space",
            "trials",
            "seconds",
            "out",
            "resume",
        ],
    ),
    ("predict", &["model", "data", "format", "out", "force"]),
    ("data", &["objective", "feature-names", "check", "first-index", "lenient", "json"]),
    ("evaluate", &["data", "scores", "model", "run", "qrels", "metric", "per-query", "like", "json"]),
    ("compare", &["data", "folds", "metric", "baseline", "alpha", "like", "figure", "markdown", "json"]),
    ("explain", &["model", "data", "metric", "baseline", "top", "queries", "figures", "feature-names", "json"]),
    ("report", &["out", "data", "baseline", "metric", "title", "force"]),
    ("certify", &["model", "data", "metric", "directions", "control", "each-weight", "figure", "json"]),
    ("lambda", &["objective", "data", "model", "scores", "queries", "documents", "figure", "json"]),
    ("generate", &["queries", "documents", "features", "levels", "seed", "out", "force"]),
    ("convert", &["out", "to", "scale", "scale-on", "scores", "first-index", "regroup", "lenient", "force"]),
    ("export", &["model", "format", "out", "feature-names", "force"]),
    ("serve", &["model", "listen", "max-documents", "timeout", "json"]),
    ("split", &["out", "parts", "folds", "seed", "force"]),
];

/// The options common to all commands that `-h` shows.
const COMMON_GLOBAL: &[&str] = &["threads"];

const TOOL: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}";
const COMMAND: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// Number of examples that `-h` shows.
const EXAMPLES: usize = 3;
/// Maximum length of a default value that `-h` shows, with its closing bracket.
const MAX_DEFAULT: usize = 24;

/// Arranges the help of the tool and of its commands.
pub fn arrange(tool: Command) -> Command {
    let tool = prose::fold_help(tool).mut_subcommands(command).mut_args(|arg| {
        let is_common = COMMON_GLOBAL.iter().any(|name| arg.get_long() == Some(*name));
        with_short_help(with_feature(arg), is_common)
    });
    let options = tool.clone().help_template("{options}").render_long_help().to_string();
    let (examples, rest) = examples_and_rest(&tool);
    let tasks = tasks(&tool);
    let short = format!(
        "{tasks}\n\n{}\nSee 'burnrank COMMAND -h' for a command, 'burnrank --help' for all options.",
        first_examples(&tool, &examples)
    );
    let heading = heading(&tool, "Options");
    let long = format!("{}\n\n{tasks}\n\n{heading}\n{options}\n{rest}", all_examples(&tool, &examples));
    tool.help_template(TOOL).after_help(short).after_long_help(long)
}

/// Arranges the help of a command.
fn command(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let (examples, rest) = examples_and_rest(&command);
    let see = format!("See 'burnrank {name} --help' for all options.");
    let short = format!("{}\n\n{see}", first_examples(&command, &examples));
    let long = all_examples(&command, &examples);
    let common = COMMON.iter().find(|(command, _)| *command == name).map(|(_, options)| *options);
    let command = command.mut_args(|arg| {
        let is_setting = name == "train" && arg.get_long().is_some_and(|key| Setting::of(key).is_ok());
        let is_common = match (arg.get_long(), common) {
            (Some(_), Some(_)) if is_setting => !arg.is_hide_short_help_set(),
            (Some(long), Some(common)) => common.contains(&long),
            _ => true,
        };
        with_short_help(with_feature(arg), is_common)
    });
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let command = match name == "serve" && !cfg!(feature = "serve") {
        true => command.about(format!("{about} (needs a build with --features serve)")),
        false => command,
    };
    command.help_template(COMMAND).before_long_help(long).after_help(short).after_long_help(rest)
}

/// Gives an option a short help for `-h`, or hides it there. The short help ends at the first semicolon and omits long defaults.
fn with_short_help(arg: Arg, is_common: bool) -> Arg {
    if !is_common {
        return arg.hide_short_help(true);
    }
    let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
    let long = arg.get_long_help().map_or_else(|| help.clone(), ToString::to_string);
    let (text, default) = help.split_once(" [default: ").unwrap_or((help.as_str(), ""));
    let mut short = text.split("; ").next().unwrap_or_default().to_owned();
    if !default.is_empty() && default.chars().count() <= MAX_DEFAULT {
        short += &format!(" [default: {default}");
    }
    arg.help(short).long_help(long)
}

/// Adds the feature that an option needs, if this build lacks it.
fn with_feature(arg: Arg) -> Arg {
    let heading = arg.get_help_heading().unwrap_or_default();
    if heading == "Trees" && !cfg!(feature = "trees") {
        return arg.help_heading("Trees (training needs a build with --features trees)");
    }
    if heading.starts_with("Tables") && !cfg!(feature = "tables") {
        return arg.help_heading("Tables (.parquet, .csv, .tsv; need a build with --features tables)");
    }
    let is_of_gpu = matches!(arg.get_long(), Some("device" | "device-memory")) && !cfg!(feature = "cubecl");
    match arg.get_help().map(ToString::to_string).filter(|_| is_of_gpu) {
        Some(help) => arg.help(format!("{help}; GPUs need a build with --features wgpu, cuda or rocm")),
        None => arg,
    }
}

/// Returns the commands by task.
fn tasks(tool: &Command) -> String {
    let task = |(title, commands): &(&str, &[(&str, &str)])| {
        let lines = commands.iter().map(|(name, line)| format!("\n  {name:<11}  {line}"));
        heading(tool, title) + &lines.collect::<String>()
    };
    TASKS.iter().map(task).collect::<Vec<_>>().join("\n\n")
}

/// Splits the text below the options of a command into its examples, without their heading, and the rest.
fn examples_and_rest(command: &Command) -> (String, String) {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (mut examples, mut rest) = (String::new(), Vec::new());
    for block in text.split("\n\n") {
        match block.strip_prefix("Examples:\n") {
            Some(lines) => lines.clone_into(&mut examples),
            None => rest.push(block),
        }
    }
    (examples, rest.join("\n\n"))
}

fn all_examples(command: &Command, examples: &str) -> String {
    format!("{}\n{examples}", heading(command, "Examples"))
}

/// Returns the first examples without their descriptions, which are indented lines below them.
fn first_examples(command: &Command, examples: &str) -> String {
    let (mut lines, mut count, mut is_continued) = (Vec::new(), 0, false);
    for line in examples.lines() {
        let is_indented = line.starts_with("   ");
        count += usize::from(!is_indented);
        if count > EXAMPLES {
            break;
        }
        if !is_indented || is_continued {
            lines.push(line);
            is_continued = line.ends_with('\\');
        }
    }
    all_examples(command, &lines.join("\n"))
}

fn heading(command: &Command, title: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{style}{title}:{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    /// Maximum number of lines of `burnrank -h`.
    const TOOL_LINES: usize = 40;
    /// Maximum number of lines of `burnrank COMMAND -h`.
    const COMMAND_LINES: usize = 38;

    fn arranged() -> Command {
        let mut tool = arrange(Cli::command().term_width(prose::WIDTH));
        tool.build();
        tool
    }

    #[test]
    fn every_command_has_a_task_and_one_line() {
        let listed: Vec<&str> = TASKS.iter().flat_map(|(_, commands)| commands.iter()).map(|(name, _)| *name).collect();
        let tool = Cli::command();
        let mut names: Vec<&str> = tool.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names.len(), listed.len());
        names.retain(|name| !listed.contains(name));
        assert!(names.is_empty(), "not in TASKS: {names:?}");
        for (name, line) in TASKS.iter().flat_map(|(_, commands)| commands.iter()) {
            assert!(15 + line.chars().count() <= prose::WIDTH, "{name}: {line}");
        }
    }

    #[test]
    fn common_options_exist() {
        let tool = Cli::command();
        let has = |command: &Command, name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
        for (name, options) in COMMON {
            let command = tool.find_subcommand(name).expect(name);
            options.iter().for_each(|option| assert!(has(command, option), "{name} --{option}"));
        }
        COMMON_GLOBAL.iter().for_each(|option| assert!(has(&tool, option), "--{option}"));
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut tool = arranged();
        let text = tool.render_help().to_string();
        assert!(text.lines().count() <= TOOL_LINES, "{text}");
        assert_eq!(text.matches("\n  burnrank ").count(), EXAMPLES, "{text}");
        for command in tool.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let text = command.render_help().to_string();
            assert!(text.lines().count() <= COMMAND_LINES, "{} lines: {text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= prose::WIDTH), "{text}");
            let see = format!("See 'burnrank {} --help' for all options.\n", command.get_name());
            assert!(text.contains("Examples:\n  burnrank ") && text.ends_with(&see), "{text}");
        }
    }

    #[test]
    fn long_help_begins_with_examples_and_has_all_options() {
        let mut tool = arranged();
        for command in tool.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let text = command.render_long_help().to_string();
            let options = text.find("Options:").expect("options");
            assert!(text.find("Examples:").expect("examples") < options, "{text}");
            for name in command.get_arguments().filter_map(Arg::get_long) {
                assert!(text.contains(&format!("--{name}")), "--{name}: {text}");
            }
        }
        let text = tool.render_long_help().to_string();
        for name in ["--threads", "--max-memory", "--device-memory", "--quiet", "--portable", "--help", "--version"] {
            assert!(text.contains(name), "{name}: {text}");
        }
    }

    #[test]
    fn short_help_of_an_option_has_no_details() {
        let help = |text: &'static str| {
            let arg = with_short_help(Arg::new("x").help(text), true);
            (arg.get_help().unwrap().to_string(), arg.get_long_help().unwrap().to_string())
        };
        let long = "File to write; '-' is standard output [default: model]";
        assert_eq!(help(long), ("File to write [default: model]".into(), long.into()));
        let long = "Threads [default: as many as the machine has cores]";
        assert_eq!(help(long), ("Threads".into(), long.into()));
    }
}
