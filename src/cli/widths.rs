//! Data with another number of features than a model.

use super::ui;
use anyhow::Context;
use burnrank::{Dataset, Error, Model};
use std::io::{Seek, SeekFrom, Write};
use tempfile::SpooledTempFile;

/// Scores that are held back in memory; more go to a temporary file.
const HELD_IN_MEMORY: usize = 1 << 24;

/// The model's scores of the data; `name` is what messages call the data.
pub fn score(model: &Model, data: &Dataset, name: &str) -> anyhow::Result<Vec<f32>> {
    let scores = model.score(data).with_context(|| name.to_owned())?;
    tell(name, data.n_features(), model.info.ranker.features);
    Ok(scores)
}

/// The data with the features that a model takes, found by name where both have names.
pub fn fit_model(data: Dataset, model: &Model, name: &str) -> anyhow::Result<Dataset> {
    let width = data.n_features();
    let data = model.info.fit(data).with_context(|| name.to_owned())?;
    tell(name, width, model.info.ranker.features);
    Ok(data)
}

/// Says which features were filled with zeros.
pub fn tell(name: &str, width: usize, expected: usize) {
    let missing = expected.saturating_sub(width);
    if missing > 0 {
        let last = if missing == 1 { "one is".to_owned() } else { format!("{} are", ui::count(missing)) };
        ui::note(&format!("{name}: {width} of the model's {expected} features; the last {last} taken to be 0"));
    }
}

/// Scores of a file in chunks, held back until the file is known to fit the model.
///
/// A file of too few features is the right one only if it is sparse, which may show in its last line.
pub struct Held {
    name: String,
    expected: usize,
    scores: Option<SpooledTempFile>,
}

impl Held {
    /// Of the file that messages call `name`, for a model of `expected` features.
    pub fn new(name: String, expected: usize) -> Self {
        Held { name, expected, scores: Some(SpooledTempFile::new(HELD_IN_MEMORY)) }
    }

    /// Writes the scores of a chunk, or keeps them; `fits` says whether the file up to here is sparse or wide enough.
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

    /// The scores of one chunk, which is declared sparse, whatever the file is.
    pub fn score(&self, model: &Model, chunk: &Dataset) -> burnrank::Result<Vec<f32>> {
        model.score(chunk).map_err(|error| self.named(error))
    }

    /// All chunks are read, the widest has `width` features: refuses a file that does not fit, and says what was filled.
    pub fn end(self, width: usize) -> burnrank::Result<()> {
        if self.scores.is_some() {
            let empty = Dataset::new(width, Vec::new(), Vec::new(), Vec::new())?;
            empty.fit_width(self.expected).map_err(|error| self.named(error))?;
        }
        tell(&self.name, width, self.expected);
        Ok(())
    }

    fn named(&self, error: Error) -> Error {
        match error {
            Error::Mismatch(message) => Error::Mismatch(format!("{}: {message}", self.name)),
            other => other,
        }
    }
}
