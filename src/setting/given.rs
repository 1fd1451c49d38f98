//! From what is stated to a configuration, and back.

use super::SETTINGS;
use super::config::TrainConfig;
use super::model::{Kinds, ModelChoice};
use super::row::{DefaultValue, Setting};
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// Settings that are stated; all others have their defaults.
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
    /// Nothing is stated.
    pub fn new() -> Self {
        Given::default()
    }

    /// States a value.
    ///
    /// # Errors
    /// An unknown setting, or a value that it cannot have.
    pub fn state(&mut self, key: &str, value: impl ToString) -> Result<()> {
        let (row, value) = (Setting::of(key)?, value.to_string());
        row.check(&value)?;
        self.0.insert(place(row), value);
        Ok(())
    }

    /// The value that is stated for a setting.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    /// Whether a value is stated for a setting.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// All that is stated, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(place, value)| (SETTINGS[*place].key, value.as_str()))
    }

    /// The first setting that models of this kind do not have.
    ///
    /// # Errors
    /// The error for it; `model` is how the kind is called.
    pub fn check_for(&self, model: &str, kinds: Kinds) -> Result<()> {
        let other = self.0.keys().map(|place| &SETTINGS[*place]).find(|row| !row.kinds.has(kinds));
        other.map_or(Ok(()), |row| Err(row.not_for(model, kinds)))
    }

    /// Leaves out what models of this kind do not have.
    pub fn retain(&mut self, kinds: Kinds) {
        self.0.retain(|place, _| SETTINGS[*place].kinds.has(kinds));
    }

    /// The configuration for another number of training queries: what depends on it and is not stated is decided again.
    ///
    /// # Errors
    /// A default that the setting cannot have.
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

/// The configuration of a model with what is stated, and defaults for the rest; where the number of training queries is known,
/// nets are trained as long as they need on so many.
///
/// # Errors
/// A setting that the model does not have, a value that it cannot have, or values that exclude each other.
pub fn resolve(model: &ModelChoice, given: &Given, queries: Option<usize>) -> Result<TrainConfig> {
    let config = fill(model, given, queries)?;
    config.check()?;
    Ok(config)
}

/// As [`resolve`], with values that may exclude each other.
fn fill(model: &ModelChoice, given: &Given, queries: Option<usize>) -> Result<TrainConfig> {
    given.check_for(model.kind.name, model.kind.kinds)?;
    let mut config = model.blank();
    // A row comes after those that it depends on.
    for (place, row) in SETTINGS.iter().enumerate().filter(|(_, row)| row.is_of(model.kind)) {
        let Some(text) = given.0.get(&place) else {
            let text = row.default_for(model.kind, &config, given, queries);
            row.set(&mut config, &text)?;
            continue;
        };
        if let Some((other, value)) = given.iter().find(|(other, _)| row.same_field == Some(other)) {
            let key = row.key;
            let message = format!("`{key}` {text} and `{other}` {value} are the same setting: leave out one of them");
            return Err(Error::Config(message));
        }
        row.set(&mut config, text)?;
    }
    Ok(config)
}

/// The model and the fewest statements that resolve to this configuration: on a number of training queries, or on any number.
///
/// # Errors
/// A configuration that no statements resolve to, as with an objective of the caller's own.
pub fn stated(config: &TrainConfig, queries: Option<usize>) -> Result<(ModelChoice, Given)> {
    let (model, mut given) = (ModelChoice::of(config)?, Given::new());
    let own: Vec<&Setting> = SETTINGS.iter().filter(|row| row.is_of(model.kind)).collect();
    // Where two settings are one field, the later row is the model's own.
    let is_named = |row: &Setting| own.iter().all(|other| other.same_field != Some(row.key));
    // Defaults that depend on the number differ between one query and many.
    let numbers = if queries.is_some() { vec![queries] } else { vec![None, Some(1), Some(1 << 20)] };
    for _ in 0..=own.len() {
        let found = numbers.iter().map(|queries| fill(&model, &given, *queries)).collect::<Result<Vec<_>>>()?;
        let differs = |row: &Setting| found.iter().any(|found| row.get(found) != row.get(config));
        match own.iter().find(|row| is_named(row) && differs(row)) {
            Some(row) => given.state(row.key, row.get(config))?,
            None => return Ok((model, given)),
        }
    }
    Err(Error::Config("no statement of settings is this configuration".into()))
}
