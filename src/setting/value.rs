//! Values that a setting can have.

use crate::error::{Error, Result};
use crate::internal::text::listed;
use crate::model::{MAX_LAYERS, MAX_UNITS};
use crate::name::{self, Word};

/// Values that a setting can have.
pub enum Value {
    /// A whole number of a range.
    Whole(u64, u64),
    /// A number.
    Number(Bounds),
    /// One of some words.
    Words(&'static [Word]),
    /// The units of hidden layers, as in `32,16`.
    Units,
    /// A name that the first function checks; the second lists all, unless names have a grammar.
    Name(fn(&str) -> Result<()>, fn() -> Vec<&'static str>),
}

/// Where a number lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// Above 0.
    Positive,
    /// 0 or more.
    NotNegative,
    /// Above 0, and at most 1.
    Share,
}

impl Bounds {
    fn has(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Bounds::Positive => number > 0.0,
                Bounds::NotNegative => number >= 0.0,
                Bounds::Share => number > 0.0 && number <= 1.0,
            }
    }
}

impl Value {
    /// The values in words, as in "a number above 0".
    pub fn expected(&self) -> String {
        match self {
            Value::Whole(low, u64::MAX) => format!("a whole number of {low} or more"),
            Value::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Value::Number(Bounds::Positive) => "a number above 0".into(),
            Value::Number(Bounds::NotNegative) => "a number of 0 or more".into(),
            Value::Number(Bounds::Share) => "a number above 0 and at most 1".into(),
            Value::Words(_) | Value::Name(..) => listed(&self.words(), "or"),
            Value::Units => format!(
                "1 to {MAX_UNITS} units for each of 1 to {MAX_LAYERS} hidden layers, as in 10 or 32,16; linear nets have none"
            ),
        }
    }

    /// All values, where they are words.
    pub fn words(&self) -> Vec<&'static str> {
        match self {
            Value::Words(words) => words.iter().map(|word| word.word).collect(),
            Value::Name(_, known) => known(),
            _ => Vec::new(),
        }
    }

    /// Whether it is a number, which can be drawn from a range.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Whole(..) | Value::Number(_))
    }

    /// Refuses text that is not such a value.
    pub(super) fn check(&self, key: &'static str, text: &str) -> Result<()> {
        let text = text.trim();
        let is_valid = match self {
            Value::Whole(low, high) => text.parse().is_ok_and(|number| (*low..=*high).contains(&number)),
            Value::Number(bounds) => text.parse().is_ok_and(|number| bounds.has(number)),
            Value::Units => units(text)
                .is_some_and(|units| units.len() <= MAX_LAYERS && units.iter().all(|n| (1..=MAX_UNITS).contains(n))),
            Value::Words(words) => return name::find(key, words, text).map(drop),
            Value::Name(check, _) => return check(text),
        };
        let most = match self {
            // Digits alone: the number is too large.
            Value::Whole(_, u64::MAX) if text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() > 19 => {
                format!(", up to {}", u64::MAX)
            }
            _ => String::new(),
        };
        if is_valid { Ok(()) } else { Err(Error::setting(key, text, self.expected() + &most)) }
    }
}

/// The units of hidden layers.
pub(super) fn units(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|units| units.trim().parse().ok()).collect()
}
