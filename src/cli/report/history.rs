//! Reads a training log in memory that does not depend on its length.

use burnrank::{EpochRecord, Error, Result};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Maximum number of epochs to keep, in addition to the last and best of each member.
const MAX_EPOCHS: usize = 2_000;
/// Maximum length of a record, in bytes.
const MAX_LINE: u64 = 1 << 16;

/// Returns the epochs of a log. A long log is thinned evenly, but keeps the last epoch and the last best epoch of each member.
///
/// Lines that do not parse are skipped.
pub fn read_history(path: &Path) -> Result<Vec<EpochRecord>> {
    let failed = |error| Error::io(path, "read", error);
    let mut file = BufReader::with_capacity(1 << 18, std::fs::File::open(path).map_err(failed)?);
    let mut history = History::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            return Ok(history.into_records());
        }
        if !line.ends_with(b"\n") && read as u64 == MAX_LINE {
            file.skip_until(b'\n').map_err(failed)?;
            continue;
        }
        if let Ok(record) = serde_json::from_slice(&line) {
            history.push(record);
        }
    }
}

/// Evenly spaced records of a list of any length.
#[derive(Default)]
struct History {
    /// Records with their indices in the list.
    kept: Vec<(usize, EpochRecord)>,
    /// The last and the last best record of each member.
    ends: Vec<(usize, EpochRecord)>,
    /// Records whose index is a multiple of 2 to this power are kept.
    power: u32,
    seen: usize,
}

impl History {
    fn push(&mut self, record: EpochRecord) {
        let place = self.seen;
        self.seen += 1;
        // The best record stays until there is a better one.
        let is_end = |end: &(usize, EpochRecord)| end.1.member == record.member && (!end.1.best || record.best);
        self.ends.retain(|end| !is_end(end));
        if self.ends.len() < MAX_EPOCHS {
            self.ends.push((place, record.clone()));
        }
        if place.is_multiple_of(1 << self.power) {
            self.kept.push((place, record));
        }
        if self.kept.len() > MAX_EPOCHS {
            self.power += 1;
            let power = self.power;
            self.kept.retain(|(place, _)| place.is_multiple_of(1 << power));
        }
    }

    fn into_records(self) -> Vec<EpochRecord> {
        let mut all = self.kept;
        all.extend(self.ends);
        all.sort_by_key(|(place, _)| *place);
        all.dedup_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, record)| record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(epoch: usize, member: Option<usize>, best: bool) -> EpochRecord {
        EpochRecord {
            epoch,
            member,
            setting: None,
            setting_run: None,
            restart: 0,
            loss: 0.5,
            train: 0.5,
            valid: 0.5,
            best,
            learning_rate: 0.1,
            effective_pairs: 1,
            saturated_pairs: 0,
            seconds: 0.1,
        }
    }

    fn written(records: impl Iterator<Item = EpochRecord>, end: &str) -> Vec<EpochRecord> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let lines = records.map(|record| serde_json::to_string(&record).unwrap() + "\n");
        std::fs::write(&path, lines.collect::<String>() + end).unwrap();
        read_history(&path).unwrap()
    }

    #[test]
    fn a_short_log_is_read_in_full() {
        let records: Vec<EpochRecord> = (1..=50).map(|epoch| record(epoch, Some(epoch % 2), epoch == 7)).collect();
        let invalid = format!("not a record\n{}\n{}", "x".repeat(200_000), serde_json::to_string(&records[0]).unwrap());
        let read = written(records.iter().cloned(), &invalid);
        assert_eq!((read.len(), &read[..50]), (51, &records[..]));
    }

    #[test]
    fn a_long_log_keeps_its_last_and_best_epochs() {
        let all = 150_001;
        let read = written((1..=all).map(|epoch| record(epoch, Some(epoch % 3), epoch < 100 && epoch % 7 == 0)), "");
        assert!(read.len() <= MAX_EPOCHS + 10 && read.len() > MAX_EPOCHS / 3, "{}", read.len());
        assert!(read.windows(2).all(|pair| pair[0].epoch < pair[1].epoch));
        for member in 0..3 {
            let own = || read.iter().filter(|record| record.member == Some(member));
            assert!(own().next_back().unwrap().epoch > all - 3);
            let best = (1..100).rev().find(|epoch| epoch % 7 == 0 && epoch % 3 == member);
            assert_eq!(own().rev().find(|record| record.best).map(|record| record.epoch), best);
        }
    }
}
