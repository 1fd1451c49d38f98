//! One process of a group, and the rule by which a failure of one ends all.

use super::single::Alone;
use super::{Group, bytes_of, check_total, doubles_of, of_bytes, of_doubles};
use crate::error::{Error, Result};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A member of a group of processes; clones are the same member.
///
/// ```
/// use burnrank::distributed::Member;
/// let member = Member::alone();
/// assert_eq!((member.rank(), member.size(), member.leads()), (0, 1, true));
/// ```
#[derive(Clone)]
pub struct Member {
    group: Arc<dyn Group>,
    /// Whether a failure has ended the group: there are no more exchanges then.
    over: Arc<AtomicBool>,
}

/// Why a member ends, for all to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exit code of the process.
    pub code: u8,
    /// In words.
    pub message: String,
}

/// All is well.
const WELL: u32 = 0;
/// The user asked to stop, and the group may go on.
const STOPPED: u32 = 1;
/// The group ends; the exit code is added.
const FAILED: u32 = 0x100;

impl Member {
    /// The only process.
    pub fn alone() -> Self {
        Member::of(Arc::new(Alone))
    }

    /// A member of this group.
    pub fn of(group: Arc<dyn Group>) -> Self {
        Member { group, over: Arc::default() }
    }

    /// The number of this member, from 0.
    pub fn rank(&self) -> usize {
        self.group.rank()
    }

    /// The number of members.
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Whether this member writes and prints.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// Gives every member a part of `out`, and takes what they all give this one.
    ///
    /// The lengths are those of what this member gives to each, and expects of each. They are compared before there is memory
    /// for what comes: a transport writes all that is sent, whatever the size of the place for it.
    ///
    /// # Errors
    /// The same for all members, when one gives another more or less than that expects; and when a member is gone.
    pub(crate) fn exchange(&self, out: &[u32], out_lengths: &[usize], into_lengths: &[usize]) -> Result<Vec<u32>> {
        let own = out_lengths.iter().chain(into_lengths).map(|&length| length as u64);
        let all: Vec<Vec<usize>> = self
            .share(Ok(of_doubles(own)))?
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
                    "{} gives {} to {}, which expects {}: give all processes the same files and settings",
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

    /// What carries the words.
    pub(super) fn group(&self) -> &dyn Group {
        &*self.group
    }

    /// What every member has, in their order; or, when some have failed, an error for all.
    ///
    /// When all of these were asked to stop, the error is [`Error::Stopped`] for all, and the group may go on. Otherwise it is
    /// over: each that failed has its own error back, the others that of the first, and the group exchanges nothing more.
    ///
    /// # Errors
    /// As said, and when a member is gone.
    pub(crate) fn share(&self, own: Result<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
        if self.size() == 1 {
            return own.map(|words| vec![words]);
        }
        let (status, words, error) = match own {
            Ok(words) => (WELL, words, None),
            Err(Error::Stopped) => (STOPPED, Vec::new(), Some(Error::Stopped)),
            Err(error) => (FAILED + u32::from(exit_code(&error)), of_bytes(error.to_string().as_bytes()), Some(error)),
        };
        let (statuses, all) = self.swap(status, &words)?;
        if statuses.iter().all(|&status| status == WELL) {
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

    /// The status and the words of every member.
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

    /// Goes on when all members are well.
    ///
    /// # Errors
    /// As [`Member::share`].
    pub(crate) fn agree(&self, own: Result<()>) -> Result<()> {
        self.share(own.map(|()| Vec::new())).map(|_| ())
    }

    /// What the first member has, for all: only there is `make` called.
    ///
    /// # Errors
    /// The error of `make`, and when a member is gone.
    pub fn from_leader(&self, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        if self.size() == 1 {
            return make();
        }
        let own = if self.leads() { make().map(|bytes| of_bytes(&bytes)) } else { Ok(Vec::new()) };
        Ok(bytes_of(&self.share(own)?[0]))
    }

    /// The last exchange: how the first member that failed did so, if any.
    ///
    /// Where a failure has already ended the group, all members know, and each keeps its own.
    pub fn end(&self, own: Option<Failure>) -> Option<Failure> {
        if self.size() == 1 || self.over.load(Ordering::SeqCst) {
            return own;
        }
        let status = own.as_ref().map_or(WELL, |failure| FAILED + u32::from(failure.code));
        let words = own.as_ref().map_or(Vec::new(), |failure| of_bytes(failure.message.as_bytes()));
        let Ok((statuses, all)) = self.swap(status, &words) else { return own };
        let first = statuses.iter().position(|&status| status >= FAILED)?;
        if first == self.rank() {
            return own;
        }
        let message = String::from_utf8_lossy(&bytes_of(&all[first])).into_owned();
        Some(Failure {
            code: (statuses[first] - FAILED) as u8,
            message: format!("{}: {message}", self.group.name(first)),
        })
    }
}

/// The exit code of a program that ends with this error.
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
    fn what_members_have_is_shared_in_their_order() {
        for size in [1, 2, 3, 5] {
            let all = each(size, |member| {
                let own = vec![member.rank() as u32; member.rank()];
                member.share(Ok(own)).unwrap()
            });
            let expected: Vec<Vec<u32>> = (0..size).map(|rank| vec![rank as u32; rank]).collect();
            assert!(all.iter().all(|found| *found == expected));
            assert!(
                each(size, |member| member.from_leader(|| Ok(vec![7; 9])).unwrap()).iter().all(|all| *all == [7; 9])
            );
        }
    }

    #[test]
    fn one_error_ends_all_and_names_its_process() {
        let errors = each(3, |member| {
            let own = if member.rank() == 1 { Err(Error::Data("bad line".into())) } else { Ok(vec![1]) };
            let error = member.share(own).unwrap_err().to_string();
            // Nothing more is exchanged, so that all can end.
            assert_eq!(member.end(None), None);
            error
        });
        assert_eq!(errors, ["process 1 of 3: bad line", "bad line", "process 1 of 3: bad line"]);
    }

    #[test]
    fn a_request_to_stop_stops_all_and_the_group_goes_on() {
        let all = each(3, |member| {
            let own = if member.rank() == 2 { Err(Error::Stopped) } else { Ok(vec![]) };
            assert!(matches!(member.share(own), Err(Error::Stopped)));
            member.share(Ok(vec![5])).unwrap().len()
        });
        assert_eq!(all, [3; 3]);
    }

    #[test]
    fn an_error_that_meets_the_end_of_others_is_told_by_the_first() {
        let ends = each(3, |member| {
            let failure = Failure { code: 2, message: "disk full".into() };
            member.end(Some(failure).filter(|_| member.rank() == 2)).map(|failure| (failure.code, failure.message))
        });
        assert_eq!(ends[0], Some((2, "process 2 of 3: disk full".into())));
        assert_eq!(ends[2], Some((2, "disk full".into())));
        assert_eq!(each(3, |member| member.end(None)), [None, None, None]);
    }

    #[test]
    fn lengths_that_do_not_fit_together_are_refused_before_anything_is_written() {
        let errors = each(2, |member| {
            // The second gives the first three words, which expects one.
            let given = if member.rank() == 1 { [3, 0] } else { [0, 0] };
            let expected = if member.rank() == 0 { [0, 1] } else { [0, 0] };
            let out = vec![7; given.iter().sum()];
            member.exchange(&out, &given, &expected).unwrap_err().to_string()
        });
        let start = "process 1 of 2 gives 3 words to process 0 of 2, which expects 1 words: ";
        assert!(errors.iter().all(|error| error.starts_with(start)), "{errors:?}");
    }

    #[test]
    fn a_member_that_dies_is_named_by_the_others() {
        let errors = each(3, |member| {
            if member.rank() == 1 {
                return String::new(); // its channels close
            }
            member.share(Ok(vec![1])).unwrap_err().to_string()
        });
        for error in [&errors[0], &errors[2]] {
            assert!(error.starts_with("process 1 of 3: "), "{error}");
        }
    }
}
