//! Data whose number of features differs from the model's.

use super::ui;
use anyhow::Context;
use burnrank::{Dataset, Error, Model};
use std::io::{Seek, SeekFrom, Write};
use tempfile::SpooledTempFile;

/// Size in bytes of the delayed scores in memory; more are written to a temporary file.
const MAX_IN_MEMORY: usize = 1 << 24;

/// Scores the data with the model. Messages call the data `name`.
pub fn score(model: &Model, data: &Dataset, name: &str) -> anyhow::Result<Vec<f32>> {
    let scores = model.score(data).with_context(|| name.to_owned())?;
    note_filled(name, data.n_features(), model.info.n_features());
    Ok(scores)
}

/// Returns the data with the model's features, matched by name if both have names.
pub fn fit_model(data: Dataset, model: &Model, name: &str) -> anyhow::Result<Dataset> {
    let width = data.n_features();
    let data = model.info.fit(data).with_context(|| name.to_owned())?;
    note_filled(name, width, model.info.n_features());
    Ok(data)
}

/// Prints a note if features were filled with zeros.
pub fn note_filled(name: &str, width: usize, expected: usize) {
    let missing = expected.saturating_sub(width);
    if missing > 0 {
        let last = if missing == 1 { "one is".to_owned() } else { format!("{} are", ui::count(missing)) };
        ui::note(&format!("{name}: {width} of the model's {expected} features; the last {last} filled with 0"));
    }
}

/// Writes the scores of a file chunk by chunk, delayed until the file is known to match the model.
///
/// A file with too few features matches only if it is sparse, which its last line may decide.
pub struct DelayedScores {
    name: String,
    expected: usize,
    scores: Option<SpooledTempFile>,
}

impl DelayedScores {
    /// Starts a file, which messages call `name`, for a model with `expected` features.
    pub fn new(name: String, expected: usize) -> Self {
        DelayedScores { name, expected, scores: Some(SpooledTempFile::new(MAX_IN_MEMORY)) }
    }

    /// Writes or delays the scores of a chunk. `fits` is whether the file so far is sparse or wide enough.
    pub fn write(&mut self, writer: &mut dyn Write, text: &[u8], fits: bool) -> std::io::Result<()> {
        if fits && let Some(mut scores) = self.scores.take() {
            scores.seek(SeekFrom::Start(0))?;
            std::io::copy(&mut scores, writer)?;
        }
        match &mut self.scores {
            Some(scores) => scores.write_all(text),
            None => writer.write_all(text),
        }
    }

    /// Scores a chunk, which is declared sparse even if the file is not.
    pub fn score(&self, model: &Model, chunk: &Dataset) -> burnrank::Result<Vec<f32>> {
        model.score(chunk).map_err(|error| self.named(error))
    }

    /// Ends the file, whose widest chunk has `width` features.
    ///
    /// # Errors
    /// Fails if the file does not match the model.
    pub fn end(self, width: usize) -> burnrank::Result<()> {
        if self.scores.is_some() {
            let empty = Dataset::new(width, Vec::new(), Vec::new(), Vec::new())?;
            empty.fit_width(self.expected).map_err(|error| self.named(error))?;
        }
        note_filled(&self.name, width, self.expected);
        Ok(())
    }

    fn named(&self, error: Error) -> Error {
        match error {
            Error::Mismatch(message) => Error::Mismatch(format!("{}: {message}", self.name)),
            other => other,
        }
    }
}
