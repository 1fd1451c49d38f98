//! `--space FILE`: the search space as TOML.

use crate::cli::prose::indented;
use burnrank::data::read_text;
use burnrank::internal::suggest::nearest;
use burnrank::tune::{Choices, Dimension, Part, Range, Space, dimensions};
use burnrank::{Error, ParseError};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum size of a file in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Reads a search space from a file.
pub fn read(path: &Path) -> anyhow::Result<Space> {
    let text = read_text(path, MAX_BYTES)?;
    Ok(parse(&path.display().to_string(), &text).map_err(Error::from)?)
}

/// The text of a file, for errors with line and column.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

type Parsed<T> = Result<T, Box<ParseError>>;

impl Source<'_> {
    fn wrong(&self, at: usize, problem: &str) -> Box<ParseError> {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        let (text, remedy) = (String::new(), String::new());
        Box::new(ParseError { file: self.file.to_owned(), line, column, text, problem: problem.to_owned(), remedy })
    }
}

fn parse(file: &str, text: &str) -> Parsed<Space> {
    let source = Source { file, text };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        source.wrong(at, &format!("not TOML: {}", error.message().replace('\n', ", ")))
    })?;
    let mut space = Space::new();
    let mut places = Vec::new();
    for (key, value) in table.get_ref() {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        let part = Part::ALL.into_iter().find(|part| part.name() == name && !name.is_empty());
        match (part, value.get_ref()) {
            (Some(part), DeValue::Table(settings)) => {
                space.include(part);
                places.push((part, at));
                for (key, value) in settings {
                    set(&source, &mut space, part, key, value)?;
                }
            }
            (Some(part), _) => {
                return Err(source.wrong(at, &format!("{0}: expected a section, as in [{0}]", part.name())));
            }
            (None, _) if Dimension::of(Part::Objective, name).is_err() => {
                return Err(source.wrong(at, &unknown(name)));
            }
            (None, _) => {
                places.push((Part::Objective, at));
                set(&source, &mut space, Part::Objective, key, value)?;
            }
        }
    }
    let place = |of: Part, matches: &dyn Fn(usize) -> bool| {
        places.iter().find(|(part, at)| *part == of && matches(*at)).map_or(0, |(_, at)| *at)
    };
    let wrong = |at: usize, error: Error| source.wrong(at, &error.to_string());
    space.check_models().map_err(|error| wrong(place(Part::Trees, &|_| true), error))?;
    let objective = place(Part::Objective, &|at| text[at..].starts_with("objective"));
    space.check_objectives().map_err(|error| wrong(objective, error))?;
    Ok(space)
}

/// The message about an unknown key outside all sections.
fn unknown(name: &str) -> String {
    let parts = || [Part::Nets, Part::Trees].map(Part::name);
    let keys = || Part::Objective.dimensions().map(|dimension| dimension.key);
    let meant = nearest(name, keys().chain(parts()))
        .or_else(|| dimensions().iter().find(|dimension| dimension.key == name).map(|dimension| dimension.part.name()));
    let meant = meant.map_or(String::new(), |meant| match parts().contains(&meant) {
        true => format!("did you mean the section [{meant}], or a key in it? "),
        false => format!("did you mean '{meant}'? "),
    });
    let keys = keys().collect::<Vec<_>>().join(", ");
    format!("unknown key '{name}': {meant}known keys: {keys}; known sections: [nets], [trees]")
}

fn set(
    source: &Source<'_>,
    space: &mut Space,
    part: Part,
    key: &Spanned<std::borrow::Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
) -> Parsed<()> {
    let name = key.get_ref().as_ref();
    let wrong = |error: Error| source.wrong(key.span().start, &error.to_string());
    Dimension::of(part, name).map_err(wrong)?;
    let choices = match value.get_ref() {
        DeValue::Array(values) => {
            let values = values.iter().map(|value| word(source, name, value));
            Choices::List(values.collect::<Parsed<_>>()?)
        }
        DeValue::Table(table) => Choices::Range(range(source, name, value.span().start, table)?),
        _ => Choices::List(vec![word(source, name, value)?]),
    };
    space.set(part, name, choices).map_err(wrong)
}

/// A value in the syntax of the options of `burnrank train`.
fn word(source: &Source<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Parsed<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.as_ref().to_owned()),
        DeValue::Integer(_) | DeValue::Float(_) => number(value.get_ref()).map(|number| number.to_string()),
        DeValue::Array(units) if key == "hidden" => {
            let units = units.iter().map(|unit| number(unit.get_ref()).map(|unit| unit.to_string()));
            units.collect::<Option<Vec<_>>>().map(|units| units.join(","))
        }
        _ => None,
    }
    .ok_or_else(|| source.wrong(value.span().start, &format!("{key}: expected a number or a quoted string")))
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

const RANGE_KEYS: [&str; 4] = ["low", "high", "log", "zero"];

fn range(source: &Source<'_>, name: &str, start: usize, table: &DeTable<'_>) -> Parsed<Range> {
    let mut range = Range { low: f64::NAN, high: f64::NAN, log: false, zero: 0.0 };
    for (key, value) in table {
        let (key, at) = (key.get_ref().as_ref(), key.span().start);
        let number = || {
            let wrong = || source.wrong(value.span().start, &format!("{name}: {key}: expected a number"));
            number(value.get_ref()).ok_or_else(wrong)
        };
        match key {
            "low" => range.low = number()?,
            "high" => range.high = number()?,
            "zero" => range.zero = number()?,
            "log" => {
                let wrong = || source.wrong(value.span().start, &format!("{name}: log: expected true or false"));
                range.log = value.get_ref().as_bool().ok_or_else(wrong)?;
            }
            _ => {
                let meant = nearest(key, RANGE_KEYS).map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
                let problem = format!("{name}: unknown key '{key}': {meant}known keys: {}", RANGE_KEYS.join(", "));
                return Err(source.wrong(at, &problem));
            }
        }
    }
    if range.low.is_nan() || range.high.is_nan() {
        return Err(source.wrong(start, &format!("{name}: a range needs low and high, as in {{ low = 1, high = 10 }}")));
    }
    Ok(range)
}

const ABOUT: &str = "\
# Search space of 'burnrank tune'. Keys are options of 'burnrank train'; options
# that are not in this file keep their defaults.
#   [1, 2]                                one of these values
#   { low = 1, high = 9 }                 uniform from 1 to 9
#   { low = 1, high = 9, log = true }     log-uniform from 1 to 9
#   { low = 1, high = 9, zero = 0.5 }     0 with probability 0.5, else uniform
";

/// A search space in the format of [`read`].
pub fn text(space: &Space) -> String {
    let mut text = ABOUT.to_owned();
    for part in std::iter::once(Part::Objective).chain(space.models()) {
        text.push('\n');
        if part != Part::Objective {
            text += &format!("[{}]\n", part.name());
        }
        for dimension in part.dimensions() {
            text += &indented(&dimension.help, 2)
                .lines()
                .map(|line| format!("# {}\n", line.trim_start()))
                .collect::<String>();
            match space.get(part, dimension.key) {
                Some(choices) => text += &format!("{} = {}\n", dimension.key, value(dimension, choices)),
                None => text += &format!("# {} = [...]\n", dimension.key),
            }
        }
    }
    text
}

fn value(dimension: &Dimension, choices: &Choices) -> String {
    let word = |word: &String| match dimension.key {
        "hidden" => format!("[{}]", word.replace(',', ", ")),
        _ if dimension.is_number() => word.clone(),
        _ => format!("\"{word}\""),
    };
    match choices {
        Choices::Range(Range { low, high, log, zero }) => {
            let log = if *log { ", log = true" } else { "" };
            let zero = if *zero > 0.0 { format!(", zero = {zero}") } else { String::new() };
            format!("{{ low = {low}, high = {high}{log}{zero} }}")
        }
        Choices::List(values) => {
            let line = format!("[{}]", values.iter().map(word).collect::<Vec<_>>().join(", "));
            match dimension.key.len() + 3 + line.len() {
                ..=80 => line,
                _ => format!("[\n{}]", values.iter().map(|value| format!("  {},\n", word(value))).collect::<String>()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_space_parses() {
        let printed = text(&Space::standard());
        assert_eq!(parse("x", &printed).unwrap(), Space::standard(), "{printed}");
        assert!(printed.lines().all(|line| line.len() <= 80), "{printed}");
        // All settings are listed, including those that keep their defaults.
        assert!(printed.contains("# init = ") && printed.contains("hidden = [[], [10], [32], [64], [32, 16]]"));
    }

    #[test]
    fn a_single_value_is_a_list_of_one() {
        let one = parse("x", "objective = \"ranknet\"\n[nets]\nlr = 0.01\nhidden = [[8, 4]]").unwrap();
        let config = one.draw(1, 1).unwrap();
        assert_eq!((config.objective.name().as_str(), config.learning_rate), ("ranknet", 0.01));
        assert_eq!(config.architecture.hidden(), [8, 4]);
    }

    #[test]
    fn errors_name_file_line_and_known_keys() {
        for (text, expected) in [
            (
                "objctive = []",
                "s.toml:1:1: unknown key 'objctive': did you mean 'objective'? known keys: objective, mu,",
            ),
            ("lr = [1]", "s.toml:1:1: unknown key 'lr': did you mean the section [nets], or a key in it?"),
            ("[net]\nlr = [1]", "s.toml:1:2: unknown key 'net': did you mean the section [nets], or a key in it?"),
            ("nets = 3", "s.toml:1:1: nets: expected a section, as in [nets]"),
            (
                "[nets]\n\nhiden = [[1]]",
                "s.toml:3:1: unknown key 'hiden': did you mean 'hidden'? known keys: hidden, act",
            ),
            ("[nets]\nscale = [\"huge\"]", "s.toml:2:1: unknown scaling 'huge'"),
            ("[nets]\nscale = { low = 1, high = 2 }", "s.toml:2:1: scale: not a number: give a list of values"),
            (
                "[nets]\nlr = { low = 1, hig = 2 }",
                "s.toml:2:17: lr: unknown key 'hig': did you mean 'high'? known keys: low,",
            ),
            ("[nets]\nlr = { low = 1 }", "s.toml:2:6: lr: a range needs low and high"),
            ("[nets]\nlr = { low = 0, high = 1, log = true }", "s.toml:2:1: lr: low = 0: a logarithmic range"),
            ("[nets]\nlr = { low = 1, high = 2, log = 3 }", "s.toml:2:33: lr: log: expected true or false"),
            ("[nets]\nlr = [true]", "s.toml:2:7: lr: expected a number"),
            ("[nets]\nlr = []", "s.toml:2:1: lr: the list is empty"),
            ("[nets]\nlr = [0]", "s.toml:2:1: lr 0: expected a number above 0"),
            (
                "mu = [1]\nobjective = [\"lamdarank:ndcg\"]",
                "s.toml:2:1: unknown objective 'lamdarank:ndcg': did you mean",
            ),
            ("objective = [\"ranknet:sigma={sigma}\"]", "s.toml:1:1: 'ranknet:sigma={sigma}' needs sigma"),
            ("[nets]\nlr = 1\nlr = 2", "s.toml:3:1: not TOML: duplicate key"),
            ("[nets\n", "s.toml:1:6: not TOML: "),
        ] {
            let message = parse("s.toml", text).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{text}: {message}");
        }
    }
}
