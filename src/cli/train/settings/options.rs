//! Command-line options of the table of settings.

use burnrank::setting::{Given, Section, Setting, Value};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

/// The parsed options.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub given: Given,
    /// Whether `--scale auto` was passed.
    pub chooses_scaling: bool,
}

/// Whether this is `--scale auto`, which is not a scaling but chooses one.
fn is_scale_auto(row: &Setting, text: &str) -> bool {
    row.key == "scale" && text.trim().eq_ignore_ascii_case("auto")
}

/// The option of a setting.
fn option(row: &'static Setting) -> Arg {
    let parse = move |text: &str| match is_scale_auto(row, text) {
        true => Ok(text.to_owned()),
        false => row.check(text).map(|()| text.to_owned()),
    };
    let name = match row.value {
        Value::Whole(..) => "N",
        Value::Number(_) => "NUMBER",
        Value::Units => "UNITS",
        Value::Features => "FEATURES",
        Value::Words(_) | Value::Name(..) => "NAME",
    };
    let mut words = row.value.words();
    let mut default = row.default_text();
    if row.key == "scale" {
        words.push("auto");
        default += ", auto for auto";
    }
    let words = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    let help = with_backticks_as_options(&format!("{}{words} [default: {default}]", row.help));
    let long = match row.value {
        Value::Words(words) => {
            words.iter().fold(help.clone(), |text, word| format!("{text}\n- {}: {}", word.word, word.help()))
        }
        _ => help.clone(),
    };
    Arg::new(row.key)
        .long(row.key)
        .value_name(name)
        .value_parser(parse)
        .help(help)
        .long_help(long)
        .help_heading(row.section.title())
        .hide_short_help(!row.common)
}

/// Writes settings in backticks as options. Help is built before there are commands to look options up in.
fn with_backticks_as_options(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 1 { format!("--{part}") } else { part.to_owned() }).collect()
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        command.args(Section::ALL.into_iter().flat_map(Section::settings).map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Options::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for row in Section::ALL.into_iter().flat_map(Section::settings) {
            let Some(text) = matches.get_one::<String>(row.key) else { continue };
            if is_scale_auto(row, text) {
                self.chooses_scaling = true;
            } else if let Err(error) = self.given.state(row.key, text) {
                return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, error));
            }
        }
        Ok(())
    }
}
