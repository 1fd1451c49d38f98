//! The grammar of names: `head:flag:key=value@k`.
//!
//! Parameters and cutoff may be in any order, each at most once. Case is ignored and `_` is the same as `-`. A name
//! prints in the form in which it parses.

use super::parameter::Parameter;
use super::words::plain;
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;
use crate::internal::text::listed;

/// A registry of things that have names with parameters: one value per row.
pub(crate) trait Named: Sized + 'static {
    /// What the names stand for, such as "metric".
    const WHAT: &'static str;

    /// Rows of the registry.
    fn rows() -> impl Iterator<Item = &'static Self>;

    /// The name without parameters, followed by its aliases.
    fn heads(&self) -> Vec<&'static str>;

    /// Parameters of this row.
    fn parameters(&self) -> &'static [Parameter];

    /// Parameters that this row shares with others; patterns omit them.
    fn shared_parameters(&self) -> &'static [Parameter] {
        &[]
    }

    /// Whether the name takes a cutoff.
    fn cutoff(&self) -> Cutoff;

    /// Returns the row of a head.
    fn find(head: &str) -> Option<&'static Self> {
        Self::rows().find(|row| row.heads().contains(&head))
    }

    /// Syntax of the name, as in `ndcg[:linear][@k]`.
    fn pattern(&self) -> String {
        let parameters = self.parameters().iter().map(|parameter| format!("[:{}]", parameter.pattern()));
        let (before, after) = self.cutoff().pattern();
        std::iter::once(self.heads()[0].to_owned() + before).chain(parameters).chain([after.to_owned()]).collect()
    }

    /// Error for an unknown head. It suggests the nearest head or lists all patterns.
    fn unknown(name: &str, head: &str) -> Error {
        let patterns: Vec<String> = Self::rows().map(Self::pattern).collect();
        let (what, heads) = (Self::WHAT, Self::rows().flat_map(Self::heads));
        Error::Config(match nearest(head, heads) {
            Some(meant) => format!("unknown {what} '{name}': did you mean '{meant}'?"),
            None => format!("unknown {what} '{name}': expected {}", listed(&patterns, "or")),
        })
    }

    /// The words in the parameters of all rows, for spelling suggestions.
    fn words() -> Vec<&'static str> {
        let all = Self::rows().flat_map(|row| row.parameters().iter().chain(row.shared_parameters()));
        all.flat_map(Parameter::spellings).collect()
    }
}

/// Whether a name takes a cutoff, and where it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cutoff {
    /// No cutoff.
    No,
    /// At the end, as in `ndcg[@k]`.
    Last,
    /// Required, at the end, as in `p@k`.
    Needed,
    /// After the head, as in `ranknet[@k]`.
    First,
    /// Part of the metric that follows, as in `lambdarank:ndcg@10`.
    OfMetric,
}

impl Cutoff {
    fn pattern(self) -> (&'static str, &'static str) {
        match self {
            Cutoff::No => ("", ""),
            Cutoff::Last => ("", "[@k]"),
            Cutoff::Needed => ("", "@k"),
            Cutoff::First => ("[@k]", ""),
            Cutoff::OfMetric => (":METRIC", ""),
        }
    }
}

/// A name, split into its parts.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    what: &'static str,
    text: String,
    /// The first part of the name, in lower case.
    pub head: String,
    parts: Vec<String>,
    /// The cutoff, and the number of parts before it.
    cutoff: Option<(usize, usize)>,
}

impl Name {
    /// Splits a name into its parts.
    ///
    /// # Errors
    /// Returns an error if a cutoff is not a whole number of 1 or more, or is given twice.
    pub fn split<R: Named>(text: &str) -> Result<Name> {
        let lower = plain(text);
        let (head, mut rest) = lower.split_at(end_of_part(&lower));
        let mut name =
            Name { what: R::WHAT, text: text.to_owned(), head: head.to_owned(), parts: Vec::new(), cutoff: None };
        while let Some(part) = rest.get(1..) {
            let (part, next) = part.split_at(end_of_part(part));
            match rest.starts_with(':') {
                true => name.parts.push(part.to_owned()),
                false => name.set_cutoff(part)?,
            }
            rest = next;
        }
        Ok(name)
    }

    /// Adds a cutoff.
    ///
    /// # Errors
    /// Same as [`Name::split`].
    pub fn set_cutoff(&mut self, digits: &str) -> Result<()> {
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        let Some(k) = digits.parse().ok().filter(|&k: &usize| whole && k > 0) else {
            return Err(self.wrong(format!("cutoff '{digits}': expected a whole number of 1 or more")));
        };
        match self.cutoff.replace((k, self.parts.len())) {
            None => Ok(()),
            Some(_) => Err(self.wrong("two cutoffs: give one, as in '@10'")),
        }
    }

    /// The cutoff.
    pub fn cutoff(&self) -> Option<usize> {
        self.cutoff.map(|(k, _)| k)
    }

    /// Adds a parameter.
    pub fn push(&mut self, part: &str) {
        self.parts.push(part.to_owned());
    }

    /// Error for this name.
    pub fn wrong(&self, problem: impl AsRef<str>) -> Error {
        Error::Config(format!("{} '{}': {}", self.what, self.text, problem.as_ref()))
    }

    /// Parses the parameters that follow the head of a row.
    ///
    /// # Errors
    /// Returns an error if the row does not have a parameter or cutoff, or if one is given twice or has an invalid
    /// value.
    pub fn parameters<R: Named>(self, row: &R) -> Result<Parameters> {
        let all = || row.parameters().iter().chain(row.shared_parameters());
        let mut values: Vec<(&'static str, String)> = Vec::new();
        let mut rest = Vec::new();
        for part in &self.parts {
            let Some((parameter, value)) = all().find_map(|p| Some((p, p.value_in(part)?))) else {
                rest.push(part.as_str());
                continue;
            };
            if !parameter.takes(value) {
                return Err(self.wrong(format!("{part}: expected {}", parameter.expected())));
            }
            if values.iter().any(|(key, _)| *key == parameter.key) {
                return Err(self.wrong(format!("{} is given twice: give it once", parameter.key)));
            }
            values.push((parameter.key, value.to_owned()));
        }
        let metric = match (row.cutoff(), self.cutoff, rest.first()) {
            (Cutoff::OfMetric, Some((k, 0)), _) => {
                let better = format!("{}:{}@{k}", self.head, rest.first().unwrap_or(&"ndcg"));
                return Err(self.wrong(format!("the cutoff belongs to the metric, as in {better}")));
            }
            (Cutoff::OfMetric, cutoff, _) => {
                rest.join(":") + &cutoff.map_or_else(String::new, |(k, _)| format!("@{k}"))
            }
            (_, _, Some(part)) => return Err(self.wrong(unknown_parameter(row, part))),
            (Cutoff::No, Some((k, _)), _) => {
                return Err(self.wrong(format!("{} has no cutoff '@{k}': expected '{}'", self.head, row.pattern())));
            }
            (Cutoff::Needed, None, _) => {
                return Err(self.wrong(format!("needs a cutoff, as in '{}@10'", row.heads()[0])));
            }
            _ => String::new(),
        };
        let defaults = all().filter_map(|parameter| Some((parameter.key, parameter.default()?))).collect();
        Ok(Parameters { metric, values, defaults, name: self })
    }
}

/// Number of bytes before the next part.
fn end_of_part(text: &str) -> usize {
    text.find([':', '@']).unwrap_or(text.len())
}

/// Message for a part that is not a parameter of a row.
fn unknown_parameter<R: Named>(row: &R, part: &str) -> String {
    let key = part.split('=').next().unwrap_or_default();
    let of = |row: &'static R| row.parameters().iter().flat_map(Parameter::spellings);
    let owners: Vec<&str> = R::rows().filter(|row| of(row).any(|word| word == key)).map(|row| row.heads()[0]).collect();
    let keys: Vec<&str> =
        row.parameters().iter().chain(row.shared_parameters()).map(|parameter| parameter.key).collect();
    let head = row.heads()[0];
    match (owners.as_slice(), keys.as_slice()) {
        ([], []) => format!("unknown parameter '{part}': {head} has none"),
        ([], keys) => format!("unknown parameter '{part}': {head} has {}", keys.join(", ")),
        (owners, _) => format!("{key} belongs to {}", owners.join(", ")),
    }
}

/// Replaces the head and words of a name with the nearest valid ones; `correct` corrects words that are not parameters.
pub(crate) fn corrected<R: Named>(text: &str, correct: impl Fn(&str) -> Option<String>) -> String {
    let lower = plain(text);
    let (head, mut rest) = lower.split_at(end_of_part(&lower));
    let mut name = nearest(head, R::rows().flat_map(R::heads)).unwrap_or(head).to_owned();
    let words = R::words();
    while !rest.is_empty() {
        let (mark, part) = rest.split_at(1);
        let (part, next) = part.split_at(end_of_part(part));
        let (word, value) = part.split_at(part.find('=').unwrap_or(part.len()));
        let nearest_word = || nearest(word, words.iter().copied()).map(str::to_owned);
        let correction = if mark == ":" { correct(word).or_else(nearest_word) } else { None };
        name += &format!("{mark}{}{value}", correction.as_deref().unwrap_or(word));
        rest = next;
    }
    name
}

/// Parameters of a name, with validated values.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    name: Name,
    values: Vec<(&'static str, String)>,
    defaults: Vec<(&'static str, f64)>,
    /// For rows with [`Cutoff::OfMetric`]: the parts after the head that are not parameters.
    pub metric: String,
}

impl Parameters {
    /// Text of a value, if given.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(k, _)| *k == key).map(|(_, value)| value.as_str())
    }

    /// Whether a flag is given.
    pub fn flag(&self, key: &str) -> bool {
        self.text(key).is_some()
    }

    /// Number, if given.
    pub fn given(&self, key: &str) -> Option<f64> {
        self.text(key)?.parse().ok()
    }

    /// Number, or its default.
    pub fn number(&self, key: &str) -> f64 {
        let default = || self.defaults.iter().find(|(k, _)| *k == key).map_or(f64::NAN, |(_, value)| *value);
        self.given(key).unwrap_or_else(default)
    }

    /// Number in single precision, or `default`.
    pub fn single(&self, key: &str, default: f32) -> f32 {
        self.text(key).and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// Rank cutoff, if any.
    pub fn cutoff(&self) -> Option<usize> {
        self.name.cutoff()
    }

    /// Error for this name.
    pub fn wrong(&self, problem: impl AsRef<str>) -> Error {
        self.name.wrong(problem)
    }
}
