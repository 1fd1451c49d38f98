//! A process of a group. If one process fails, all end.

use super::single::Alone;
use super::{Group, bytes_of, check_total, doubles_of, of_bytes, of_doubles};
use crate::error::{Error, Result};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A process of a group; clones refer to the same process.
///
/// ```
/// use burnrank::distributed::Member;
/// let member = Member::alone();
/// assert_eq!((member.rank(), member.size(), member.leads()), (0, 1, true));
/// ```
#[derive(Clone)]
pub struct Member {
    group: Arc<dyn Group>,
    /// Whether a failure has ended the group, after which nothing is exchanged.
    over: Arc<AtomicBool>,
}

/// Why a process failed, as reported to all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Exit code of the process.
    pub code: u8,
    /// Error message.
    pub message: String,
}

/// No failure.
const OK: u32 = 0;
/// The user asked to stop; the group continues.
const STOPPED: u32 = 1;
/// The group ends; the exit code is added to this.
const FAILED: u32 = 0x100;

impl Member {
    /// A group with a single process.
    pub fn alone() -> Self {
        Member::of(Arc::new(Alone))
    }

    /// A member of a group.
    pub fn of(group: Arc<dyn Group>) -> Self {
        Member { group, over: Arc::default() }
    }

    /// Rank of this process, from 0.
    pub fn rank(&self) -> usize {
        self.group.rank()
    }

    /// Number of processes.
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Whether this is process 0, which writes and prints.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// Sends each process a part of `out`, and returns what all processes sent to this one.
    ///
    /// The lengths are the numbers of words that this process sends to each and expects from each. They are compared
    /// before memory is allocated, because the transport writes all data regardless of the size of the buffer.
    ///
    /// # Errors
    /// If lengths do not match, the same error in all processes; if a process cannot be reached.
    pub(crate) fn exchange(&self, out: &[u32], out_lengths: &[usize], into_lengths: &[usize]) -> Result<Vec<u32>> {
        let local = out_lengths.iter().chain(into_lengths).map(|&length| length as u64);
        let all: Vec<Vec<usize>> = self
            .all_gather(Ok(of_doubles(local)))?
            .iter()
            .map(|words| doubles_of(words).map(|n| n as usize).collect())
            .collect();
        let size = self.size();
        for (from, to) in (0..size).flat_map(|from| (0..size).map(move |to| (from, to))) {
            let (given, expected) = (all[from].get(to), all[to].get(size + from));
            if given != expected || given.is_none() {
                let count =
                    |length: Option<&usize>| length.map_or("nothing".into(), |length| format!("{length} words"));
                return Err(Error::Mismatch(format!(
                    "{} sends {} to {}, which expects {}: give all processes the same files and settings",
                    self.group.name(from),
                    count(given),
                    self.group.name(to),
                    count(expected)
                )));
            }
        }
        for lengths in &all {
            let (out, into) = lengths.split_at(size);
            check_total(out.iter().copied())?;
            check_total(into.iter().copied())?;
        }
        let mut into = vec![0; into_lengths.iter().sum()];
        self.group.exchange(out, out_lengths, &mut into, into_lengths)?;
        Ok(into)
    }

    /// The transport.
    pub(super) fn group(&self) -> &dyn Group {
        &*self.group
    }

    /// Gathers the words of all processes in the order of ranks; an error in one process is an error in all.
    ///
    /// If the only errors are [`Error::Stopped`], all processes get that error and the group continues. Otherwise the
    /// group ends: failed processes get their own error, all others that of the first failed one, and nothing more is
    /// exchanged.
    ///
    /// # Errors
    /// As described, and if a process cannot be reached.
    pub(crate) fn all_gather(&self, local: Result<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
        if self.size() == 1 {
            return local.map(|words| vec![words]);
        }
        let (status, words, error) = match local {
            Ok(words) => (OK, words, None),
            Err(Error::Stopped) => (STOPPED, Vec::new(), Some(Error::Stopped)),
            Err(error) => (FAILED + u32::from(exit_code(&error)), of_bytes(error.to_string().as_bytes()), Some(error)),
        };
        let (statuses, all) = self.swap(status, &words)?;
        if statuses.iter().all(|&status| status == OK) {
            return Ok(all);
        }
        let Some(first) = statuses.iter().position(|&status| status >= FAILED) else {
            return Err(Error::Stopped);
        };
        self.over.store(true, Ordering::SeqCst);
        Err(match error {
            Some(error) if !matches!(error, Error::Stopped) => error,
            _ => self.elsewhere(first, statuses[first], &all[first]),
        })
    }

    fn elsewhere(&self, rank: usize, status: u32, words: &[u32]) -> Error {
        Error::Elsewhere {
            process: self.group.name(rank),
            message: String::from_utf8_lossy(&bytes_of(words)).into_owned(),
            code: (status - FAILED) as u8,
        }
    }

    /// Gathers the status and the words of all processes.
    fn swap(&self, status: u32, words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u32>>)> {
        let size = self.size();
        let mut heads = vec![0; 3 * size];
        let length = words.len() as u64;
        let gone = |_: &Error| self.over.store(true, Ordering::SeqCst);
        let head = [status, length as u32, (length >> 32) as u32];
        self.group.gather(&head, &vec![3; size], &mut heads).inspect_err(gone)?;
        let lengths: Vec<usize> = heads.chunks(3).map(|head| head[1] as usize | (head[2] as usize) << 32).collect();
        let mut all = vec![0; check_total(lengths.iter().copied()).inspect_err(gone)?];
        if !all.is_empty() {
            self.group.gather(words, &lengths, &mut all).inspect_err(gone)?;
        }
        let mut rest = all.as_slice();
        let parts = lengths.iter().map(|&length| {
            let (part, after) = rest.split_at(length);
            rest = after;
            part.to_vec()
        });
        let parts = parts.collect();
        Ok((heads.chunks(3).map(|head| head[0]).collect(), parts))
    }

    /// Waits for all processes, and fails if any has failed.
    ///
    /// # Errors
    /// The errors of [`Member::all_gather`].
    pub(crate) fn agree(&self, local: Result<()>) -> Result<()> {
        self.all_gather(local.map(|()| Vec::new())).map(|_| ())
    }

    /// Calls `make` in process 0 and returns its result in all processes.
    ///
    /// # Errors
    /// That of `make`, and if a process cannot be reached.
    pub fn broadcast(&self, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        if self.size() == 1 {
            return make();
        }
        let local = if self.leads() { make().map(|bytes| of_bytes(&bytes)) } else { Ok(Vec::new()) };
        Ok(bytes_of(&self.all_gather(local)?[0]))
    }

    /// The last exchange: returns the failure of the first failed process, if any.
    ///
    /// If a failure has already ended the group, each process keeps its own.
    pub fn end(&self, local: Option<Failure>) -> Option<Failure> {
        if self.size() == 1 || self.over.load(Ordering::SeqCst) {
            return local;
        }
        let status = local.as_ref().map_or(OK, |failure| FAILED + u32::from(failure.code));
        let words = local.as_ref().map_or(Vec::new(), |failure| of_bytes(failure.message.as_bytes()));
        let Ok((statuses, all)) = self.swap(status, &words) else { return local };
        let first = statuses.iter().position(|&status| status >= FAILED)?;
        if first == self.rank() {
            return local;
        }
        let message = String::from_utf8_lossy(&bytes_of(&all[first])).into_owned();
        Some(Failure {
            code: (statuses[first] - FAILED) as u8,
            message: format!("{}: {message}", self.group.name(first)),
        })
    }
}

/// The exit code for an error.
fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Config(_) => 2,
        Error::Elsewhere { code, .. } => *code,
        _ => 1,
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {} of {}", self.rank(), self.size())
    }
}

#[cfg(test)]
mod tests {
    use super::super::threads::each;
    use super::*;

    #[test]
    fn words_are_gathered_in_the_order_of_ranks() {
        for size in [1, 2, 3, 5] {
            let all = each(size, |member| {
                let local = vec![member.rank() as u32; member.rank()];
                member.all_gather(Ok(local)).unwrap()
            });
            let expected: Vec<Vec<u32>> = (0..size).map(|rank| vec![rank as u32; rank]).collect();
            assert!(all.iter().all(|gathered| *gathered == expected));
            assert!(each(size, |member| member.broadcast(|| Ok(vec![7; 9])).unwrap()).iter().all(|all| *all == [7; 9]));
        }
    }

    #[test]
    fn an_error_in_one_process_ends_all_and_names_it() {
        let errors = each(3, |member| {
            let local = if member.rank() == 1 { Err(Error::Data("bad line".into())) } else { Ok(vec![1]) };
            let error = member.all_gather(local).unwrap_err().to_string();
            // Nothing more is exchanged, so all can end.
            assert_eq!(member.end(None), None);
            error
        });
        assert_eq!(errors, ["process 1 of 3: bad line", "bad line", "process 1 of 3: bad line"]);
    }

    #[test]
    fn a_request_to_stop_stops_all_and_the_group_continues() {
        let all = each(3, |member| {
            let local = if member.rank() == 2 { Err(Error::Stopped) } else { Ok(vec![]) };
            assert!(matches!(member.all_gather(local), Err(Error::Stopped)));
            member.all_gather(Ok(vec![5])).unwrap().len()
        });
        assert_eq!(all, [3; 3]);
    }

    #[test]
    fn process_0_reports_an_error_at_the_end_of_another() {
        let ends = each(3, |member| {
            let failure = Failure { code: 2, message: "disk full".into() };
            member.end(Some(failure).filter(|_| member.rank() == 2)).map(|failure| (failure.code, failure.message))
        });
        assert_eq!(ends[0], Some((2, "process 2 of 3: disk full".into())));
        assert_eq!(ends[2], Some((2, "disk full".into())));
        assert_eq!(each(3, |member| member.end(None)), [None, None, None]);
    }

    #[test]
    fn mismatched_lengths_are_refused_before_anything_is_written() {
        let errors = each(2, |member| {
            // Process 1 sends three words to process 0, which expects one.
            let given = if member.rank() == 1 { [3, 0] } else { [0, 0] };
            let expected = if member.rank() == 0 { [0, 1] } else { [0, 0] };
            let out = vec![7; given.iter().sum()];
            member.exchange(&out, &given, &expected).unwrap_err().to_string()
        });
        let start = "process 1 of 2 sends 3 words to process 0 of 2, which expects 1 words: ";
        assert!(errors.iter().all(|error| error.starts_with(start)), "{errors:?}");
    }

    #[test]
    fn processes_report_which_other_process_died() {
        let errors = each(3, |member| {
            if member.rank() == 1 {
                return String::new(); // its channels close
            }
            member.all_gather(Ok(vec![1])).unwrap_err().to_string()
        });
        for error in [&errors[0], &errors[2]] {
            assert!(error.starts_with("process 1 of 3: "), "{error}");
        }
    }
}
