//! Output and log of a training run. A closed pipe or a full disk does not stop training; it is reported at the end.

use super::log::Log;
use crate::cli::output::Output;
use crate::cli::ui;
use burnrank::{EpochRecord, Error};
use serde_json::{Map, Value};
use std::path::Path;

/// Standard output and the log of a run, with their write errors.
#[derive(Debug, Default)]
pub struct RunOutput {
    json: bool,
    log: Option<Log>,
    /// The error of writing to standard output.
    failure: Option<String>,
    /// The name of the log that could not be written.
    incomplete_log: Option<String>,
}

impl RunOutput {
    /// With `json`, every epoch is printed.
    pub fn new(json: bool) -> Self {
        RunOutput { json, ..RunOutput::default() }
    }

    /// Opens the log of a run that continues after the epochs of `history`, unless it is open already.
    /// `existing`: whether the file may exist.
    pub fn open_log(&mut self, path: Option<&Path>, history: &[EpochRecord], existing: bool) -> anyhow::Result<()> {
        if let (Some(path), None, None) = (path, &self.log, &self.incomplete_log) {
            Output::new(path, "--log", existing)?;
            self.log = Some(Log::open(path, history)?);
        }
        Ok(())
    }

    /// Writes to standard output, until that fails.
    pub fn print(&mut self, text: &str) {
        if self.failure.is_none()
            && let Err(error) = ui::print(text)
        {
            self.failure = Some(error.root_cause().to_string());
        }
    }

    /// Writes an epoch to standard output and to the log. `run` names the run if there are several.
    pub fn epoch(&mut self, epoch: &EpochRecord, run: &str) -> burnrank::Result<()> {
        let line = line(epoch, run).map_err(|error| Error::Record(error.to_string()))?;
        if self.json {
            self.print(&line);
        }
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(&line)
        {
            let name = log.name();
            ui::note(&format!("{name}: cannot write: {error}; training continues without the log"));
            (self.incomplete_log, self.log) = (Some(name), None);
        }
        Ok(())
    }

    /// Fails if something could not be written. `location` says where the models are.
    pub fn finish(self, location: &str) -> anyhow::Result<()> {
        if let Some(error) = self.failure {
            anyhow::bail!("the output could not be written: {error}; {location}");
        }
        if let Some(log) = self.incomplete_log {
            anyhow::bail!("{log}: the log is incomplete; {location}");
        }
        Ok(())
    }
}

fn line(epoch: &EpochRecord, run: &str) -> serde_json::Result<String> {
    if run.is_empty() {
        return Ok(serde_json::to_string(epoch)? + "\n");
    }
    let mut named = Map::from_iter([("run".to_owned(), Value::from(run))]);
    if let Value::Object(fields) = serde_json::to_value(epoch)? {
        named.extend(fields);
    }
    Ok(serde_json::to_string(&named)? + "\n")
}
