//! Enums whose values are words: one table per enum, from which parsing, printing, JSON, lists, help and errors are
//! generated.

use crate::error::{Error, Result};
use crate::internal::suggest::nearest;
use crate::internal::text::listed;

/// A value of an enum, as a word.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The word that is printed.
    pub word: &'static str,
    /// Aliases of the word.
    pub aliases: &'static [&'static str],
    /// Lines of the value's documentation.
    pub docs: &'static [&'static str],
}

impl Word {
    /// First sentence of the value's documentation, without its full stop.
    ///
    /// ```
    /// assert_eq!(burnrank::Activation::WORDS[2].help(), "`max(x, 0)`");
    /// ```
    pub fn help(&self) -> String {
        let lines = self.docs.iter().map(|line| line.trim()).take_while(|line| !line.is_empty());
        let paragraph = lines.collect::<Vec<_>>().join(" ");
        let sentence = paragraph.split(". ").next().unwrap_or_default();
        sentence.trim_end_matches('.').to_owned()
    }

    /// The word, followed by its aliases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.word).chain(self.aliases.iter().copied())
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.names().any(|word| plain(word) == text)
    }
}

/// Returns the text in lower case, with hyphens instead of underscores.
pub(crate) fn plain(text: &str) -> String {
    text.trim().to_ascii_lowercase().replace('_', "-")
}

/// Returns the position of a word in a table, ignoring case; `what` is what the words stand for, such as "activation".
///
/// # Errors
/// Returns the error of [`unknown`] if no word matches.
pub fn find(what: &str, words: &[Word], text: &str) -> Result<usize> {
    let wanted = plain(text);
    let position = words.iter().position(|word| word.is(&wanted));
    position.ok_or_else(|| unknown(what, text, words.iter().map(|word| word.word)))
}

/// Error for an unknown name. It suggests the nearest valid name, or lists all of them if none is near.
///
/// ```
/// use burnrank::name::unknown;
/// let words = ["sigmoid", "tanh", "relu"];
/// assert_eq!(unknown("activation", "rleu", words).to_string(), "unknown activation 'rleu': did you mean 'relu'?");
/// assert_eq!(unknown("activation", "x", words).to_string(), "unknown activation 'x': expected sigmoid, tanh or relu");
/// ```
pub fn unknown<'a>(what: &str, name: &str, expected: impl IntoIterator<Item = &'a str>) -> Error {
    let expected: Vec<&str> = expected.into_iter().collect();
    Error::Config(match nearest(&plain(name), expected.iter().copied()) {
        Some(meant) => format!("unknown {what} '{name}': did you mean '{meant}'?"),
        None => format!("unknown {what} '{name}': expected {}", listed(&expected, "or")),
    })
}

/// Defines an enum whose values are words, with `ALL` values, their `WORDS`, `name`, `Display`, `FromStr`, `Serialize`
/// and `Deserialize`. The documentation of a value is its help text.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident: $what:literal {
            $(
                $(#[doc = $docs:literal])+
                $(#[default $($default:tt)*])?
                $value:ident = $word:literal $(| $alias:literal)*
            ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $visibility enum $name {
            $(
                $(#[doc = $docs])+
                $(#[default $($default)*])?
                $value
            ),+
        }

        #[allow(dead_code)] // not every enum is listed
        impl $name {
            /// All values.
            pub const ALL: [Self; [$($word),+].len()] = [$($name::$value),+];
            /// Words of all values, in the same order.
            pub const WORDS: &'static [$crate::name::Word] = &[
                $($crate::name::Word { word: $word, aliases: &[$($alias),*], docs: &[$($docs),+] }),+
            ];

            /// The word that [`str::parse`] accepts.
            pub const fn name(self) -> &'static str {
                Self::WORDS[self as usize].word
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<Self> {
                $crate::name::find($what, Self::WORDS, text).map(|place| Self::ALL[place])
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let word = <String as serde::Deserialize>::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {

    words! {
        /// An enum for tests.
        #[derive(Default)]
        enum Fruit: "fruit" {
            /// Green or red. It keeps.
            Apple = "apple",
            /// Yellow,
            /// and bent.
            ///
            /// Does not keep.
            #[default]
            Banana = "ripe-banana" | "plantain",
        }
    }

    #[test]
    fn words_parse_in_any_case_and_by_alias() {
        for fruit in Fruit::ALL {
            assert_eq!(fruit.to_string().parse::<Fruit>().unwrap(), fruit);
            let json = serde_json::to_string(&fruit).unwrap();
            assert_eq!(json, format!("\"{fruit}\""));
            assert_eq!(serde_json::from_str::<Fruit>(&json).unwrap(), fruit);
        }
        assert_eq!(" Ripe_BANANA ".parse::<Fruit>().unwrap(), Fruit::Banana);
        assert_eq!("plantain".parse::<Fruit>().unwrap(), Fruit::default());
        assert_eq!(format!("{:>6}", Fruit::Apple), " apple");
    }

    #[test]
    fn unknown_words_are_corrected_or_listed() {
        let message = |text: &str| text.parse::<Fruit>().unwrap_err().to_string();
        assert_eq!(message("Aple"), "unknown fruit 'Aple': did you mean 'apple'?");
        assert_eq!(message("fig"), "unknown fruit 'fig': expected apple or ripe-banana");
        let message = serde_json::from_str::<Fruit>("\"fig\"").unwrap_err().to_string();
        assert!(message.starts_with("unknown fruit 'fig': expected apple or ripe-banana"), "{message}");
    }

    #[test]
    fn help_is_the_first_sentence() {
        assert_eq!([0, 1].map(|place: usize| Fruit::WORDS[place].help()), ["Green or red", "Yellow, and bent"]);
    }
}
