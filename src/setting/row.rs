//! What a row of the table says about a setting.

use super::config::TrainConfig;
use super::given::Given;
use super::model::{Kinds, ModelKind, OWN};
use super::value::Value;
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;

/// A setting of a training run.
pub struct Setting {
    /// Its name: `--key` of the tool, a key of the files of `tune`, a keyword argument of other languages.
    pub key: &'static str,
    /// Where lists of settings show it.
    pub section: Section,
    /// What it sets, as a sentence without its full stop.
    pub help: &'static str,
    /// Values that it can have.
    pub value: Value,
    /// Models that have it.
    pub kinds: Kinds,
    /// Its value where none is stated.
    pub default: DefaultValue,
    /// Whether short lists show it.
    pub common: bool,
    /// What `tune` draws it from; nothing where `tune` leaves it alone.
    pub search: &'static [(Kinds, SearchSpace)],
    /// The setting of other models that is stored in the same field.
    pub same_field: Option<&'static str>,
    pub(super) get: fn(&TrainConfig) -> String,
    pub(super) set: fn(&mut TrainConfig, &str) -> Option<()>,
}

/// Where lists of settings show a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// All of training.
    Training,
    /// Nets alone.
    Nets,
    /// Trees alone.
    Trees,
}

impl Section {
    /// All sections, in the order of lists.
    pub const ALL: [Section; 3] = [Section::Training, Section::Nets, Section::Trees];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Training => "Training",
            Section::Nets => "Nets",
            Section::Trees => "Trees",
        }
    }

    /// Its settings.
    pub fn settings(self) -> impl Iterator<Item = &'static Setting> {
        super::SETTINGS.iter().filter(move |row| row.section == self)
    }
}

/// The value of a setting where none is stated.
pub enum DefaultValue {
    /// Always the same.
    Fixed(&'static str),
    /// That of the kind of model.
    OfKind(fn(&ModelKind) -> String),
    /// It depends on settings of earlier rows, and on which of them are stated. With how it depends on them, in words.
    After(&'static str, fn(&ModelKind, &TrainConfig, &Given) -> String),
    /// As [`DefaultValue::After`], and on the number of training queries, where that is known.
    OfData(&'static str, fn(&ModelKind, &TrainConfig, &Given, Option<usize>) -> String),
}

/// What `tune` draws a setting from where its file does not say.
pub enum SearchSpace {
    /// Not drawn: the default stays.
    Default,
    /// One of these.
    List(&'static [&'static str]),
    /// A number whose logarithm is drawn evenly.
    Log(f64, f64),
    /// The same, or 0 half of the time.
    ZeroOrLog(f64, f64),
}

impl Setting {
    /// The setting of this key.
    ///
    /// # Errors
    /// An unknown key, with the one that was likely meant.
    pub fn of(key: &str) -> Result<&'static Setting> {
        let known = || super::SETTINGS.iter().map(|row| row.key);
        super::SETTINGS.iter().find(|row| row.key == key).ok_or_else(|| {
            let meant = nearest(key, known()).map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
            let known = known().collect::<Vec<_>>().join(", ");
            Error::Config(format!("unknown setting '{key}': {meant}known are {known}"))
        })
    }

    /// Refuses text that is not a value of this setting.
    ///
    /// ```
    /// use burnrank::setting::Setting;
    /// let error = Setting::of("lr")?.check("-1").unwrap_err();
    /// assert_eq!(error.to_string(), "lr -1: expected a number above 0");
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// The key, the text, and what was expected.
    pub fn check(&self, text: &str) -> Result<()> {
        self.value.check(self.key, text)
    }

    /// Its value in a configuration, as text that [`Setting::set`] reads back.
    pub fn get(&self, config: &TrainConfig) -> String {
        (self.get)(config)
    }

    /// Gives a configuration this value.
    ///
    /// # Errors
    /// As [`Setting::check`].
    pub fn set(&self, config: &mut TrainConfig, text: &str) -> Result<()> {
        self.check(text)?;
        (self.set)(config, text.trim()).ok_or_else(|| Error::setting(self.key, text, self.value.expected()))
    }

    /// Gives a configuration the default, if that is always the same and the model can store it.
    pub(super) fn set_fixed(&self, config: &mut TrainConfig) {
        if let DefaultValue::Fixed(text) = self.default {
            let _ = (self.set)(config, text);
        }
    }

    /// Whether a model has it.
    pub fn is_of(&self, kind: &ModelKind) -> bool {
        self.kinds.has(kind.kinds)
    }

    /// Refuses it for a model that does not have it.
    pub(super) fn not_for(&self, model: &str, kinds: Kinds) -> Error {
        let other = super::SETTINGS.iter().find(|row| row.kinds.has(kinds) && self.shares_field(row));
        let remedy = match other {
            Some(other) => format!("use `{}`", other.key),
            None => "leave it out, or choose another `model`".to_owned(),
        };
        Error::Config(format!("`{}` is for {}, not for {model}: {remedy}", self.key, self.kinds))
    }

    /// Whether another setting is stored in the same field.
    pub(super) fn shares_field(&self, other: &Setting) -> bool {
        self.same_field == Some(other.key) || other.same_field == Some(self.key)
    }

    /// Its value for a model where none is stated.
    pub(super) fn default_for(
        &self,
        kind: &ModelKind,
        config: &TrainConfig,
        given: &Given,
        queries: Option<usize>,
    ) -> String {
        match self.default {
            DefaultValue::Fixed(text) => text.to_owned(),
            DefaultValue::OfKind(text) => text(kind),
            DefaultValue::After(_, text) => text(kind, config, given),
            DefaultValue::OfData(_, text) => text(kind, config, given, queries),
        }
    }

    /// Its default in words, as in "0.03 for linear, 0.01 for mlp".
    pub fn default_text(&self) -> String {
        match self.default {
            DefaultValue::Fixed(text) => text.to_owned(),
            DefaultValue::After(words, _) | DefaultValue::OfData(words, _) => words.to_owned(),
            DefaultValue::OfKind(text) => {
                let mut own: Vec<(Kinds, String)> = Vec::new();
                for kind in OWN.iter().filter(|kind| self.is_of(kind)) {
                    match own.last_mut().filter(|(_, value)| *value == text(kind)) {
                        Some((kinds, _)) => *kinds = kinds.or(kind.kinds),
                        None => own.push((kind.kinds, text(kind))),
                    }
                }
                match own.as_slice() {
                    [(_, value)] => value.clone(),
                    own => {
                        own.iter().map(|(kinds, value)| format!("{value} for {kinds}")).collect::<Vec<_>>().join(", ")
                    }
                }
            }
        }
    }

    /// What `tune` draws it from for these models.
    pub fn search_of(&self, kinds: Kinds) -> Option<&'static SearchSpace> {
        self.search.iter().find(|(of, _)| of.has(kinds)).map(|(_, space)| space)
    }
}
