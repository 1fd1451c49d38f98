//! Assignment of trials to processes, and the exchange of outcomes after a rung.

use super::search::Outcome;
use crate::distributed::{Member, bytes_of, of_bytes};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Result of a rung in one process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    /// Whether all of its trials reached the end of the rung.
    pub whole: bool,
    /// Whether the process was asked to stop.
    pub stopped: bool,
    /// Outcomes of its trials, and whether each is new for the journal.
    pub outcomes: Vec<(Outcome, bool)>,
}

impl Report {
    /// Returns the reports of all processes, in rank order.
    ///
    /// # Errors
    /// The error of `report`, in all processes.
    pub fn share(member: &Member, report: Result<Report>) -> Result<Vec<Report>> {
        let record = |error: serde_json::Error| Error::Record(error.to_string());
        let bytes = report.and_then(|report| serde_json::to_vec(&report).map_err(record)).map(|bytes| of_bytes(&bytes));
        let all = member.all_gather(bytes)?;
        all.iter().map(|words| serde_json::from_slice(&bytes_of(words)).map_err(record)).collect()
    }
}

/// Assigns open trials to processes: to their previous owner, unless that leaves other processes idle.
///
/// `owners` has one entry per trial of the search, and is the same in all processes.
pub(super) fn assign(owners: &mut [Option<usize>], open: &[usize], size: usize) {
    let max_load = open.len().div_ceil(size.max(1));
    let mut loads = vec![0; size];
    let mut moved = Vec::new();
    for &trial in open {
        match owners[trial] {
            Some(owner) if loads[owner] < max_load => loads[owner] += 1,
            _ => moved.push(trial),
        }
    }
    for trial in moved {
        let free = (0..size).min_by_key(|&rank| (loads[rank], rank)).unwrap_or(0);
        loads[free] += 1;
        owners[trial] = Some(free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_keep_their_process_and_no_process_is_idle() {
        let mut owners = vec![None; 6];
        assign(&mut owners, &[0, 1, 2, 3, 4, 5], 2);
        assert_eq!(owners, [0, 1, 0, 1, 0, 1].map(Some));
        assign(&mut owners, &[0, 2, 3], 2);
        assert_eq!([owners[0], owners[2], owners[3]], [0, 0, 1].map(Some));
        assign(&mut owners, &[0, 2], 2);
        assert_eq!([owners[0], owners[2]], [0, 1].map(Some));
        assign(&mut owners, &[0], 1);
    }
}
