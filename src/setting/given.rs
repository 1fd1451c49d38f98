//! Given settings, resolved to a configuration and back.

use super::SETTINGS;
use super::config::TrainConfig;
use super::model::{Kinds, ModelChoice};
use super::row::{DefaultValue, Setting};
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// Settings that the user gave. All others have their defaults.
///
/// ```
/// use burnrank::setting::{Given, ModelChoice, resolve, stated};
/// let mut given = Given::new();
/// given.state("lr", "0.1")?;
/// let config = resolve(&ModelChoice::mlp(), &given, Some(200))?;
/// assert_eq!((config.learning_rate, config.batch_queries, config.epochs), (0.1, 10, 100));
/// let again = stated(&config, Some(200))?.1;
/// assert_eq!(again.iter().collect::<Vec<_>>(), [("lr", "0.1")]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given(BTreeMap<usize, String>);

impl Given {
    /// Creates an empty set: every setting has its default.
    pub fn new() -> Self {
        Given::default()
    }

    /// Gives a setting a value.
    ///
    /// # Errors
    /// Fails for an unknown setting or an invalid value.
    pub fn state(&mut self, key: &str, value: impl ToString) -> Result<()> {
        let (row, value) = (Setting::of(key)?, value.to_string());
        row.check(&value)?;
        self.0.insert(place(row), value);
        Ok(())
    }

    /// Returns the given value of a setting.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(given, _)| *given == key).map(|(_, value)| value)
    }

    /// Whether a setting is given.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Iterates over keys and values of the given settings, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(place, value)| (SETTINGS[*place].key, value.as_str()))
    }

    /// Checks that models of this kind have all given settings; `model` is their name for the message.
    ///
    /// # Errors
    /// Fails for the first setting that they do not have.
    pub fn check_for(&self, model: &str, kinds: Kinds) -> Result<()> {
        let other = self.0.keys().map(|place| &SETTINGS[*place]).find(|row| !row.kinds.has(kinds));
        other.map_or(Ok(()), |row| Err(row.not_for(model, kinds)))
    }

    /// Removes the settings that models of this kind do not have.
    pub fn retain(&mut self, kinds: Kinds) {
        self.0.retain(|place, _| SETTINGS[*place].kinds.has(kinds));
    }

    /// Adapts a configuration to the number of training queries: updates the defaults that depend on it.
    ///
    /// # Errors
    /// Fails if such a default is invalid.
    pub fn suited(&self, mut config: TrainConfig, queries: usize) -> Result<TrainConfig> {
        let kind = ModelChoice::of(&config)?.kind;
        let is_stated = |row: &Setting| {
            let mut stated = self.0.keys().map(|place| &SETTINGS[*place]);
            stated.any(|other| other.key == row.key || row.shares_field(other))
        };
        let open = SETTINGS.iter().filter(|row| row.is_of(kind) && !is_stated(row));
        for row in open.filter(|row| matches!(row.default, DefaultValue::OfData(..))) {
            let value = row.default_for(kind, &config, self, Some(queries));
            row.set(&mut config, &value)?;
        }
        Ok(config)
    }
}

fn place(row: &Setting) -> usize {
    SETTINGS.iter().position(|other| std::ptr::eq(other, row)).unwrap_or_default()
}

/// Returns the configuration of a model: the given settings, and defaults for all others.
///
/// If the number of training queries is known, the default number of epochs of nets depends on it.
///
/// # Errors
/// Fails for a setting that the model does not have, an invalid value, or values that exclude each other.
pub fn resolve(model: &ModelChoice, given: &Given, queries: Option<usize>) -> Result<TrainConfig> {
    let config = fill(model, given, queries)?;
    config.check()?;
    Ok(config)
}

/// Like [`resolve`], but does not check that the values are compatible.
fn fill(model: &ModelChoice, given: &Given, queries: Option<usize>) -> Result<TrainConfig> {
    given.check_for(model.kind.name, model.kind.kinds)?;
    let mut config = model.blank();
    // Each row comes after the rows that its default depends on.
    for (place, row) in SETTINGS.iter().enumerate().filter(|(_, row)| row.is_of(model.kind)) {
        let Some(text) = given.0.get(&place) else {
            let text = row.default_for(model.kind, &config, given, queries);
            row.set(&mut config, &text)?;
            continue;
        };
        if let Some((other, value)) = given.iter().find(|(other, _)| row.same_field == Some(other)) {
            let key = row.key;
            let message = format!("`{key}` {text} and `{other}` {value} set the same value: leave out one of them");
            return Err(Error::Config(message));
        }
        row.set(&mut config, text)?;
    }
    Ok(config)
}

/// Returns the model and the smallest set of settings that resolve to this configuration, for a number of training queries or,
/// without one, for any number.
///
/// # Errors
/// Fails if no settings resolve to the configuration, for example with a custom objective.
pub fn stated(config: &TrainConfig, queries: Option<usize>) -> Result<(ModelChoice, Given)> {
    let (model, mut given) = (ModelChoice::of(config)?, Given::new());
    let rows: Vec<&Setting> = SETTINGS.iter().filter(|row| row.is_of(model.kind)).collect();
    // If two settings share a field, the later row is the name that this kind of model uses.
    let is_primary = |row: &Setting| rows.iter().all(|other| other.same_field != Some(row.key));
    // A default that depends on the number of queries differs between one query and many.
    let numbers = if queries.is_some() { vec![queries] } else { vec![None, Some(1), Some(1 << 20)] };
    for _ in 0..=rows.len() {
        let resolved = numbers.iter().map(|queries| fill(&model, &given, *queries)).collect::<Result<Vec<_>>>()?;
        let differs = |row: &Setting| resolved.iter().any(|resolved| row.get(resolved) != row.get(config));
        match rows.iter().find(|row| is_primary(row) && differs(row)) {
            Some(row) => given.state(row.key, row.get(config))?,
            None => return Ok((model, given)),
        }
    }
    Err(Error::Config("no settings resolve to this configuration".into()))
}
