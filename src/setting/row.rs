//! A row of the settings table.

use super::config::TrainConfig;
use super::given::Given;
use super::model::{Kinds, ModelKind, OWN};
use super::value::Value;
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;
use crate::internal::text::listed;
use crate::model::ExportTarget;

/// A setting of a training run.
pub struct Setting {
    /// Name: `--key` on the command line, the key in search-space files of `tune`, the keyword argument in Python.
    pub key: &'static str,
    /// Section of the help that lists it.
    pub section: Section,
    /// What it sets and in which unit, without a full stop. The short help (`-h`) ends at the first semicolon.
    pub help: &'static str,
    /// Valid values.
    pub value: Value,
    /// Models that have this setting.
    pub kinds: Kinds,
    /// Default value.
    pub default: DefaultValue,
    /// Whether most users need it: the short help shows only these settings.
    pub common: bool,
    /// Default search space of `tune`, per kind of model; empty if `tune` cannot search the setting.
    pub search: &'static [(Kinds, SearchSpace)],
    /// Key of the setting of other models that is stored in the same field, as `lr` and `shrinkage` are.
    pub same_field: Option<&'static str>,
    pub(super) get: fn(&TrainConfig) -> String,
    pub(super) set: fn(&mut TrainConfig, &str) -> Option<()>,
}

/// A section of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Settings of all or several kinds of models.
    Training,
    /// Settings of neural nets.
    Nets,
    /// Settings of boosted trees.
    Trees,
}

impl Section {
    /// All sections, in the order of the help.
    pub const ALL: [Section; 3] = [Section::Training, Section::Nets, Section::Trees];

    /// Returns the heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Training => "Training",
            Section::Nets => "Nets",
            Section::Trees => "Trees",
        }
    }

    /// Iterates over the settings of this section.
    pub fn settings(self) -> impl Iterator<Item = &'static Setting> {
        super::SETTINGS.iter().filter(move |row| row.section == self)
    }
}

/// The default value of a setting.
pub enum DefaultValue {
    /// A constant.
    Fixed(&'static str),
    /// Depends on the kind of model and the target.
    OfKind(fn(&ModelKind, ExportTarget) -> String),
    /// Depends on the settings of earlier rows and on which of them are given. The text describes the rule.
    After(&'static str, fn(&ModelKind, &TrainConfig, &Given) -> String),
    /// Like [`DefaultValue::After`], but also depends on the number of training queries, if it is known.
    OfData(&'static str, fn(&ModelKind, &TrainConfig, &Given, Option<usize>) -> String),
}

/// The values that `tune` samples for a setting unless the search-space file states others.
pub enum SearchSpace {
    /// Keeps the default value.
    Default,
    /// One of these values, with equal probability.
    List(&'static [&'static str]),
    /// A log-uniform number between these bounds.
    Log(f64, f64),
    /// 0 with probability 0.5, otherwise a log-uniform number between these bounds.
    ZeroOrLog(f64, f64),
}

impl Setting {
    /// Returns the setting with this key.
    ///
    /// # Errors
    /// Fails if the key is unknown. The message suggests the nearest key.
    pub fn of(key: &str) -> Result<&'static Setting> {
        let keys = || super::SETTINGS.iter().map(|row| row.key);
        super::SETTINGS.iter().find(|row| row.key == key).ok_or_else(|| {
            let suggestion = nearest(key, keys()).map_or(String::new(), |key| format!("did you mean '{key}'? "));
            let keys = keys().collect::<Vec<_>>().join(", ");
            Error::Config(format!("unknown setting '{key}': {suggestion}known settings: {keys}"))
        })
    }

    /// Checks that `text` is a valid value.
    ///
    /// ```
    /// use burnrank::setting::Setting;
    /// let error = Setting::of("lr")?.check("-1").unwrap_err();
    /// assert_eq!(error.to_string(), "lr -1: expected a number above 0");
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if it is not. The message states the key, the text and the expected values.
    pub fn check(&self, text: &str) -> Result<()> {
        self.value.check(self.key, text)
    }

    /// Returns the value in a configuration, as text that [`Setting::set`] parses.
    pub fn get(&self, config: &TrainConfig) -> String {
        (self.get)(config)
    }

    /// Sets the value in a configuration.
    ///
    /// # Errors
    /// Fails like [`Setting::check`].
    pub fn set(&self, config: &mut TrainConfig, text: &str) -> Result<()> {
        self.check(text)?;
        (self.set)(config, text.trim()).ok_or_else(|| Error::setting(self.key, text, self.value.expected()))
    }

    /// Sets the default value, if it is constant and the model can store it.
    pub(super) fn set_fixed(&self, config: &mut TrainConfig) {
        if let DefaultValue::Fixed(text) = self.default {
            let _ = (self.set)(config, text);
        }
    }

    /// Whether a model has this setting.
    pub fn is_of(&self, kind: &ModelKind) -> bool {
        self.kinds.has(kind.kinds)
    }

    /// Returns the error for a model that does not have this setting. It names the models that do.
    pub(super) fn not_for(&self, model: &str, kinds: Kinds) -> Error {
        let other = super::SETTINGS.iter().find(|row| row.kinds.has(kinds) && self.shares_field(row));
        let remedy = match other {
            Some(other) => format!("use `{}`", other.key),
            None => {
                let models = OWN.iter().filter(|kind| self.is_of(kind)).map(|kind| kind.name);
                let auto = self.kinds.has(Kinds::AUTO).then_some("auto");
                let models = listed(&models.chain(auto).collect::<Vec<_>>(), "or");
                format!("leave it out, or choose `model` {models}")
            }
        };
        Error::Config(format!("`{}` is for {}, not for {model}: {remedy}", self.key, self.kinds))
    }

    /// Whether another setting is stored in the same field.
    pub(super) fn shares_field(&self, other: &Setting) -> bool {
        self.same_field == Some(other.key) || other.same_field == Some(self.key)
    }

    /// Returns the default value for a model.
    pub(super) fn default_for(
        &self,
        kind: &ModelKind,
        config: &TrainConfig,
        given: &Given,
        queries: Option<usize>,
    ) -> String {
        match self.default {
            DefaultValue::Fixed(text) => text.to_owned(),
            DefaultValue::OfKind(text) => text(kind, config.target),
            DefaultValue::After(_, text) => text(kind, config, given),
            DefaultValue::OfData(_, text) => text(kind, config, given, queries),
        }
    }

    /// Describes the default, as in "0.03 for linear, 0.01 for mlp".
    pub fn default_text(&self) -> String {
        match self.default {
            DefaultValue::Fixed(text) => text.to_owned(),
            DefaultValue::After(words, _) | DefaultValue::OfData(words, _) => words.to_owned(),
            DefaultValue::OfKind(text) => {
                let text = |kind: &ModelKind| text(kind, ExportTarget::Any);
                let mut values: Vec<(Kinds, String)> = Vec::new();
                for kind in OWN.iter().filter(|kind| self.is_of(kind)) {
                    match values.last_mut().filter(|(_, value)| *value == text(kind)) {
                        Some((kinds, _)) => *kinds = kinds.or(kind.kinds),
                        None => values.push((kind.kinds, text(kind))),
                    }
                }
                match values.as_slice() {
                    [(_, value)] => value.clone(),
                    all => {
                        all.iter().map(|(kinds, value)| format!("{value} for {kinds}")).collect::<Vec<_>>().join(", ")
                    }
                }
            }
        }
    }

    /// Returns the default search space of `tune` for a kind of model.
    pub fn search_of(&self, kinds: Kinds) -> Option<&'static SearchSpace> {
        self.search.iter().find(|(of, _)| of.has(kinds)).map(|(_, space)| space)
    }
}
