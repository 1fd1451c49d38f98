//! Formatting of names: the inverse of the grammar.

use std::fmt::{Display, LowerExp};

/// Builds a name. Parts appear in the order in which they are added; defaults are omitted.
pub(crate) struct Spelling(String);

impl Spelling {
    /// Starts with the head of a name.
    pub fn new(head: &str) -> Self {
        Spelling(head.to_owned())
    }

    /// Adds a cutoff, as in `@10`.
    pub fn cutoff(mut self, k: Option<usize>) -> Self {
        if let Some(k) = k {
            self.0 += &format!("@{k}");
        }
        self
    }

    /// Adds a word if `present`.
    pub fn word(mut self, word: &str, present: bool) -> Self {
        if present {
            self.0 += &format!(":{word}");
        }
        self
    }

    /// Adds a number, unless it is the default.
    pub fn number<T>(mut self, key: &str, value: T, default: Option<T>) -> Self
    where
        T: Copy + PartialEq + Display + LowerExp + Into<f64>,
    {
        if default != Some(value) {
            self.0 += &format!(":{key}={}", number(value));
        }
        self
    }

    /// Returns the name.
    pub fn finish(self) -> String {
        self.0
    }
}

/// Formats a number without long runs of zeros, so that it parses to the same value.
fn number<T: Copy + Display + LowerExp + Into<f64>>(value: T) -> String {
    let size = value.into().abs();
    if size != 0.0 && !(1e-5..1e9).contains(&size) { format!("{value:e}") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_omitted() {
        let name = Spelling::new("a").cutoff(Some(3)).word("x", true).word("y", false).cutoff(None);
        let name = name.number("n", 0.1f32, None).number("m", 5.0, Some(5.0)).number("s", 1e-300, Some(1.0));
        assert_eq!(name.finish(), "a@3:x:n=0.1:s=1e-300");
        assert_eq!([0.0, 1e-5, 1e8, 1e9, -1e-6].map(number), ["0", "0.00001", "100000000", "1e9", "-1e-6"]);
    }
}
