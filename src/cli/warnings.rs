//! Warnings about a model's scores.

use super::{input, ui};
use burnrank::Model;
use std::path::Path;

/// Prints the warnings about a model on standard error.
pub fn print(model: &Model, folder: &Path) {
    model.warnings().iter().for_each(|warning| ui::note(&format!("{}: {warning}", input::name(folder))));
}
