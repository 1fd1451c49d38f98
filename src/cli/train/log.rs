//! `--log FILE`: one JSON line per epoch, complete, in order and without duplicates, even if the run is killed and resumed.

use anyhow::Context;
use burnrank::EpochRecord;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The start of the first line of a log, of one run or of several.
const STARTS: [&str; 2] = ["{\"epoch\":", "{\"run\":"];

/// An open log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    /// Length of all complete lines in bytes; `None` for pipes and devices.
    length: Option<u64>,
}

impl Log {
    /// Replaces an existing log, or continues it if `history` has epochs; it then has exactly these epochs.
    ///
    /// # Errors
    /// If the file cannot be written, is not a log, or is to be continued but is the log of another run.
    pub fn open(path: &Path, history: &[EpochRecord]) -> anyhow::Result<Self> {
        let failed = || format!("{}: cannot write", path.display());
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(path).with_context(failed)?;
        if !file.metadata().with_context(failed)?.is_file() {
            return Ok(Log { path: path.to_path_buf(), file, length: None });
        }
        check_is_log(path)?;
        let (kept, length) = if history.is_empty() { (0, 0) } else { matching_lines(path, history)? };
        file.set_len(length).with_context(failed)?;
        let mut log = Log { path: path.to_path_buf(), file, length: Some(length) };
        log.file.seek(SeekFrom::Start(length)).with_context(failed)?;
        for epoch in &history[kept..] {
            log.write(&(serde_json::to_string(epoch)? + "\n")).with_context(failed)?;
        }
        Ok(log)
    }

    /// The path, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Appends a line. If that fails, no part of it remains.
    pub fn write(&mut self, line: &str) -> std::io::Result<()> {
        let written = self.file.write_all(line.as_bytes());
        match (&written, self.length) {
            (Ok(()), Some(length)) => self.length = Some(length + line.len() as u64),
            (Err(_), Some(length)) => {
                let _ = self.file.set_len(length);
            }
            _ => {}
        }
        written
    }
}

/// Refuses a file that is not the log of a training run.
fn check_is_log(path: &Path) -> anyhow::Result<()> {
    let failed = || format!("{}: cannot read", path.display());
    let mut start = Vec::new();
    File::open(path).with_context(failed)?.take(16).read_to_end(&mut start).with_context(failed)?;
    let matches = |expected: &str| start.starts_with(&expected.as_bytes()[..expected.len().min(start.len())]);
    if !STARTS.into_iter().any(matches) {
        anyhow::bail!("{}: not the log of a training run: choose another --log, or remove it", path.display());
    }
    Ok(())
}

/// The number of complete lines that equal `history`, and their length in bytes. The rest of the file is to be cut off.
fn matching_lines(path: &Path, history: &[EpochRecord]) -> anyhow::Result<(usize, u64)> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let (mut lines, mut length) = (0, 0);
    for (line, epoch) in text.split_inclusive('\n').zip(history).take_while(|(line, _)| line.ends_with('\n')) {
        if line.trim_end() != serde_json::to_string(epoch)? {
            anyhow::bail!(
                "{}: the log of another run (line {} differs): choose another --log, or remove it",
                path.display(),
                lines + 1
            );
        }
        (lines, length) = (lines + 1, length + line.len());
    }
    Ok((lines, length as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(epoch: usize) -> EpochRecord {
        let zero = "\"loss\":1,\"train\":0,\"valid\":0,\"best\":true,\"learning_rate\":1,\"effective_pairs\":1";
        let text = format!("{{\"epoch\":{epoch},\"restart\":0,{zero},\"saturated_pairs\":0,\"seconds\":{epoch}}}");
        serde_json::from_str(&text).unwrap()
    }

    fn lines(epochs: std::ops::RangeInclusive<usize>) -> String {
        epochs.map(|number| serde_json::to_string(&epoch(number)).unwrap() + "\n").collect()
    }

    #[test]
    fn a_resumed_log_has_every_epoch_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let history: Vec<EpochRecord> = (1..=3).map(epoch).collect();
        let torn = &lines(1..=5)[..lines(1..=4).len() + 20];
        for before in ["", &lines(1..=1), &lines(1..=3), &lines(1..=5), torn, &lines(1..=1)[..9]] {
            std::fs::write(&path, before).unwrap();
            let mut log = Log::open(&path, &history).unwrap();
            log.write(&lines(4..=4)).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), lines(1..=4), "{before}");
        }
        Log::open(&path, &[]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "my diary\n").unwrap();
        for history in [&[][..], &[epoch(1)]] {
            let error = Log::open(&path, history).unwrap_err().to_string();
            assert!(error.contains("not the log of a training run"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "my diary\n");
        }
        std::fs::write(&path, lines(2..=3)).unwrap();
        let error = Log::open(&path, &[epoch(1)]).unwrap_err().to_string();
        assert!(error.contains("the log of another run (line 1 differs)"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines(2..=3));
    }
}
