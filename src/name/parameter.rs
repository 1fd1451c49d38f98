//! Parameters of names: flags, numbers and words.

use super::words::Word;
use crate::internal::text::listed;
use std::ops::RangeInclusive;

/// A parameter that may follow a name, such as `c` in `ranksvm:c=0.1`.
#[derive(Debug)]
pub struct Parameter {
    /// The text before the equals sign.
    pub key: &'static str,
    /// Valid values.
    pub value: ParameterValue,
    /// Short description.
    pub help: &'static str,
}

/// Valid values of a [`Parameter`].
#[derive(Debug)]
pub enum ParameterValue {
    /// No value: the parameter is present or not, as in `ranknet:ties`.
    Flag,
    /// A number, as in `map:rel=2`.
    Number {
        /// Valid values.
        valid: RangeInclusive<f64>,
        /// Default value.
        default: Option<f64>,
    },
    /// A whole number, as in `ndcg-loss2:gaussian=8`.
    Whole {
        /// Valid values.
        valid: RangeInclusive<f64>,
        /// Default value.
        default: Option<f64>,
    },
    /// One of several words; the first is the default. The key may be omitted: `ndcg:linear` is `ndcg:gain=linear`.
    Words(&'static [Word]),
}

/// Positive numbers that are finite as `f32`.
pub(crate) const ABOVE_0: RangeInclusive<f64> = 1e-45..=f32::MAX as f64;

impl Parameter {
    /// Creates a parameter without a value.
    pub const fn flag(key: &'static str, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Flag, help }
    }

    /// Creates a number with a default.
    pub const fn number(key: &'static str, default: f64, valid: RangeInclusive<f64>, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Number { valid, default: Some(default) }, help }
    }

    /// Creates an optional number.
    pub const fn optional_number(key: &'static str, valid: RangeInclusive<f64>, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Number { valid, default: None }, help }
    }

    /// Creates an optional whole number.
    pub const fn optional_whole(key: &'static str, valid: RangeInclusive<f64>, help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Whole { valid, default: None }, help }
    }

    /// Creates a choice of several words.
    pub const fn words(key: &'static str, words: &'static [Word], help: &'static str) -> Self {
        Parameter { key, value: ParameterValue::Words(words), help }
    }

    /// Default of a number.
    pub fn default(&self) -> Option<f64> {
        match &self.value {
            ParameterValue::Number { default, .. } | ParameterValue::Whole { default, .. } => *default,
            ParameterValue::Flag | ParameterValue::Words(_) => None,
        }
    }

    /// Syntax of the parameter after a name, as in `ties`, `mu=5` or `linear`; for words, the one that is not the
    /// default.
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

    /// The key and the words that denote the parameter.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words: &[Word] = if let ParameterValue::Words(words) = self.value { words } else { &[] };
        std::iter::once(self.key).chain(words.iter().flat_map(Word::names))
    }

    /// Text of the value in a part of a name, if the part belongs to this parameter.
    pub(super) fn value_in<'p>(&self, part: &'p str) -> Option<&'p str> {
        match (&self.value, part.split_once('=')) {
            (ParameterValue::Words(words), None) => words.iter().any(|word| word.is(part)).then_some(part),
            (_, None) => (part == self.key).then_some(""),
            (_, Some((key, value))) => (key == self.key).then_some(value),
        }
    }

    /// Returns whether a value is valid.
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

    /// Description of the valid values, for messages.
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
    let (min, max) = (*valid.start(), *valid.end());
    match (0.0 < min && min < 1e-40, max >= f64::from(f32::MAX)) {
        (true, true) => "above 0".to_owned(),
        (true, false) => format!("above 0 and at most {max}"),
        (false, true) => format!("of at least {min}"),
        (false, false) => format!("from {min} to {max}"),
    }
}
