//! Fields of a [`TrainConfig`] as text: how a row of the table reads and writes them.

use super::config::TrainConfig;
use super::method::{Method, TreeSettings};
use super::value::units;
use crate::model::Architecture;
use std::str::FromStr;

/// Parses `text` into a field.
pub(super) fn set<T: FromStr>(field: &mut T, text: &str) -> Option<()> {
    *field = text.parse().ok()?;
    Some(())
}

pub(super) fn set_units(architecture: &mut Architecture, text: &str) -> Option<()> {
    let Architecture::Mlp { hidden, .. } = architecture else { return None };
    *hidden = units(text)?;
    Some(())
}

pub(super) fn set_activation(architecture: &mut Architecture, text: &str) -> Option<()> {
    let Architecture::Mlp { activation, .. } = architecture else { return None };
    set(activation, text)
}

/// Sets the number of leaves. The trees of baselines have a fixed number.
pub(super) fn set_leaves(config: &mut TrainConfig, text: &str) -> Option<()> {
    match (&config.method, &mut config.architecture) {
        (Method::Boosting(_), Architecture::Trees { leaves, .. }) => set(leaves, text),
        _ => None,
    }
}

/// Sets the number of epochs, which for trees is stored in the architecture, too.
pub(super) fn set_epochs(config: &mut TrainConfig, text: &str) -> Option<()> {
    set(&mut config.epochs, text)?;
    if let (Method::Boosting(_), Architecture::Trees { trees, .. }) = (&config.method, &mut config.architecture) {
        *trees = config.epochs;
    }
    Some(())
}

/// Returns the number of leaves; empty for models without trees.
pub(super) fn leaves(config: &TrainConfig) -> String {
    match config.architecture {
        Architecture::Trees { leaves, .. } => leaves.to_string(),
        _ => String::new(),
    }
}

/// Returns the numbers of hidden units, separated by commas.
pub(super) fn units_of(config: &TrainConfig) -> String {
    config.architecture.hidden().iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Returns a setting of boosting; empty for other methods.
pub(super) fn growth<T: ToString>(config: &TrainConfig, value: fn(&TreeSettings) -> T) -> String {
    match &config.method {
        Method::Boosting(growth) => value(growth).to_string(),
        _ => String::new(),
    }
}

pub(super) fn set_growth<T: FromStr>(
    config: &mut TrainConfig,
    text: &str,
    field: fn(&mut TreeSettings) -> &mut T,
) -> Option<()> {
    let Method::Boosting(growth) = &mut config.method else { return None };
    set(field(growth), text)
}
