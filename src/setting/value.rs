//! Valid values of a setting.

use super::categorical::features;
use crate::error::{Error, Result};
use crate::internal::text::listed;
use crate::model::{MAX_LAYERS, MAX_UNITS};
use crate::name::{self, Word};

/// Valid values of a setting.
pub enum Value {
    /// A whole number within these bounds, both included.
    Whole(u64, u64),
    /// A number.
    Number(Bounds),
    /// One of these words.
    Words(&'static [Word]),
    /// Numbers of units of the hidden layers, as in `32,16`.
    Units,
    /// Numbers, from 1, or names of features, as in `5,9`; may be empty.
    Features,
    /// A name. The first function checks it. The second lists all names, or none if there are too many to list.
    Name(fn(&str) -> Result<()>, fn() -> Vec<&'static str>),
}

/// The range of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// Above 0.
    Positive,
    /// 0 or more.
    NotNegative,
    /// Above 0 and at most 1.
    Share,
    /// 0 or more and below 1.
    Decay,
}

impl Bounds {
    fn has(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Bounds::Positive => number > 0.0,
                Bounds::NotNegative => number >= 0.0,
                Bounds::Share => number > 0.0 && number <= 1.0,
                Bounds::Decay => (0.0..1.0).contains(&number),
            }
    }
}

impl Value {
    /// Describes the valid values, as in "a number above 0".
    pub fn expected(&self) -> String {
        match self {
            Value::Whole(low, u64::MAX) => format!("a whole number of {low} or more"),
            Value::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Value::Number(Bounds::Positive) => "a number above 0".into(),
            Value::Number(Bounds::NotNegative) => "a number of 0 or more".into(),
            Value::Number(Bounds::Share) => "a number above 0 and at most 1".into(),
            Value::Number(Bounds::Decay) => "a number of 0 or more and below 1".into(),
            Value::Words(_) | Value::Name(..) => listed(&self.words(), "or"),
            Value::Features => "different features, separated by commas: numbers, from 1, or names, as in 5,9".into(),
            Value::Units => {
                format!("1 to {MAX_UNITS} units for each of 1 to {MAX_LAYERS} hidden layers, as in 10 or 32,16")
            }
        }
    }

    /// Lists all values, if they are words.
    pub fn words(&self) -> Vec<&'static str> {
        match self {
            Value::Words(words) => words.iter().map(|word| word.word).collect(),
            Value::Name(_, names) => names(),
            _ => Vec::new(),
        }
    }

    /// Whether the value is a number, which `tune` can sample from a range.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Whole(..) | Value::Number(_))
    }

    /// Checks that `text` is a valid value of the setting `key`.
    pub(super) fn check(&self, key: &'static str, text: &str) -> Result<()> {
        let text = text.trim();
        let is_valid = match self {
            Value::Whole(low, high) => text.parse().is_ok_and(|number| (*low..=*high).contains(&number)),
            Value::Number(bounds) => text.parse().is_ok_and(|number| bounds.has(number)),
            Value::Units => match units(text) {
                Some(units) if units.contains(&0) => {
                    let expected = "numbers of 1 or more: hidden layers need at least 1 unit; for a net without hidden layers, \
                                    use `model` linear";
                    return Err(Error::setting(key, text, expected));
                }
                units => units.is_some_and(|units| units.len() <= MAX_LAYERS && units.iter().all(|&n| n <= MAX_UNITS)),
            },
            Value::Features => features(text).is_some(),
            Value::Words(words) => return name::find(key, words, text).map(drop),
            Value::Name(check, _) => return check(text),
        };
        let maximum = match self {
            // Text of digits only is invalid because the number is too large.
            Value::Whole(_, u64::MAX) if text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() > 19 => {
                format!(", up to {}", u64::MAX)
            }
            _ => String::new(),
        };
        if is_valid { Ok(()) } else { Err(Error::setting(key, text, self.expected() + &maximum)) }
    }
}

/// Parses the numbers of units of hidden layers.
pub(super) fn units(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|units| units.trim().parse().ok()).collect()
}
