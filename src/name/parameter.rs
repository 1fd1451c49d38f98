//! What may follow a name: flags, numbers and words.

use super::words::Word;
use crate::internal::text::listed;
use std::ops::RangeInclusive;

/// A parameter that may follow a name, as `c` in `ranksvm:c=0.1`.
#[derive(Debug)]
pub struct Parameter {
    /// What stands before the equals sign.
    pub key: &'static str,
    /// Values that it can have.
    pub value: ParameterValue,
    /// What it sets, in a few words.
    pub help: &'static str,
}

/// Values of a [`Parameter`].
#[derive(Debug)]
pub enum ParameterValue {
    /// No value: the parameter is there or not, as in `ranknet:ties`.
    Flag,
    /// A number, as in `map:rel=2`.
    Number {
        /// Values that it can have.
        valid: RangeInclusive<f64>,
        /// The value if it is not given.
        default: Option<f64>,
    },
    /// A whole number, as in `ndcg-loss2:gaussian=8`.
    Whole {
        /// Values that it can have.
        valid: RangeInclusive<f64>,
        /// The value if it is not given.
        default: Option<f64>,
    },
    /// One of several words, the first if none is given. The key may be left out: `ndcg:linear` is `ndcg:gain=linear`.
    Words(&'static [Word]),
}

/// Numbers above 0 that are finite as `f32`.
pub(crate) const ABOVE_0: RangeInclusive<f64> = 1e-45..=f32::MAX as f64;

impl Parameter {
    /// A parameter without a value.
    pub const fn flag(key: &'static str, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Flag, help }
    }

    /// A number that has a default.
    pub const fn number(key: &'static str, default: f64, valid: RangeInclusive<f64>, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Number { valid, default: Some(default) }, help }
    }

    /// A number that may be missing.
    pub const fn optional_number(key: &'static str, valid: RangeInclusive<f64>, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Number { valid, default: None }, help }
    }

    /// A whole number that may be missing.
    pub const fn optional_whole(key: &'static str, valid: RangeInclusive<f64>, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Whole { valid, default: None }, help }
    }

    /// One of several words.
    pub const fn words(key: &'static str, words: &'static [Word], help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Words(words), help }
    }

    /// The number if none is given.
    pub fn default(&self) -> Option<f64> {
        match &self.value {
            ParameterValue::Number { default, .. } | ParameterValue::Whole { default, .. } => *default,
            ParameterValue::Flag | ParameterValue::Words(_) => None,
        }
    }

    /// How it is written behind a name, as in `ties`, `mu=5` or `linear`; words that are not the default.
    pub(super) fn pattern(&self) -> String {
        match &self.value {
            ParameterValue::Flag => self.key.to_owned(),
            ParameterValue::Words(words) => match words {
                [_, other] => other.word.to_owned(),
                _ => self.key.to_uppercase(),
            },
            _ => match self.default() {
                Some(default) => format!("{}={default}", self.key),
                None => format!("{}=N", self.key),
            },
        }
    }

    /// The keys and words that name it.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words: &[Word] = if let ParameterValue::Words(words) = self.value { words } else { &[] };
        std::iter::once(self.key).chain(words.iter().flat_map(Word::names))
    }

    /// The text of its value in a part of a name, if the part is about this parameter.
    pub(super) fn value_in<'p>(&self, part: &'p str) -> Option<&'p str> {
        match (&self.value, part.split_once('=')) {
            (ParameterValue::Words(words), None) => words.iter().any(|word| word.is(part)).then_some(part),
            (_, None) => (part == self.key).then_some(""),
            (_, Some((key, value))) => (key == self.key).then_some(value),
        }
    }

    /// Whether it can have this value.
    pub(super) fn takes(&self, value: &str) -> bool {
        let number = || value.parse::<f64>().ok();
        match &self.value {
            ParameterValue::Flag => value.is_empty(),
            ParameterValue::Number { valid, .. } => number().is_some_and(|number| valid.contains(&number)),
            ParameterValue::Whole { valid, .. } => {
                number().is_some_and(|number| valid.contains(&number) && number.fract() == 0.0)
            }
            ParameterValue::Words(words) => words.iter().any(|word| word.is(value)),
        }
    }

    /// The values that it can have, in words.
    pub(super) fn expected(&self) -> String {
        match &self.value {
            ParameterValue::Flag => "no value".to_owned(),
            ParameterValue::Number { valid, .. } => format!("a number {}", range(valid)),
            ParameterValue::Whole { valid, .. } => format!("a whole number {}", range(valid)),
            ParameterValue::Words(words) => listed(&words.iter().map(|word| word.word).collect::<Vec<_>>(), "or"),
        }
    }
}

fn range(valid: &RangeInclusive<f64>) -> String {
    let (least, most) = (*valid.start(), *valid.end());
    match (0.0 < least && least < 1e-40, most >= f64::from(f32::MAX)) {
        (true, true) => "above 0".to_owned(),
        (true, false) => format!("above 0 and at most {most}"),
        (false, true) => format!("of at least {least}"),
        (false, false) => format!("from {least} to {most}"),
    }
}
