//! Work spread over processes: who is in a group, how its members exchange words, and how sums are made that do not depend
//! on who computed what.
//!
//! A [`Member`] is one process of a group, or one that is alone. All members call the same exchanges in the same order; a member
//! that fails says so in the next exchange, and all of them end with that error. [`Group`] is what carries the words: MPI in
//! builds with the feature `mpi`, channels between threads in tests, nothing for one that is alone.

mod encoding;
mod member;
#[cfg(feature = "mpi")]
mod mpi;
mod partition;
mod same;
mod single;
#[cfg(test)]
pub(crate) mod threads;
mod tree;

pub(crate) use encoding::{bytes_of, doubles_of, of_bytes, of_doubles};
pub use member::{Failure, Member};
#[cfg(feature = "mpi")]
pub use mpi::Mpi;
pub(crate) use partition::{cut, owned};
pub(crate) use same::{Fact, data_fact, setting_facts};
pub(crate) use tree::Tree;

use crate::error::{Error, Result};

/// Refuses more words in one exchange than MPI counts. All members must call it with the same lengths.
fn check_total(lengths: impl IntoIterator<Item = usize>) -> Result<usize> {
    let total = lengths.into_iter().fold(0, usize::saturating_add);
    if i32::try_from(total).is_ok() {
        return Ok(total);
    }
    let message = format!("{total} words at once are more than MPI sends: use more processes or fewer weights");
    Err(Error::Device(message))
}

/// Processes that exchange words of 32 bits. Every member makes the same calls in the same order.
pub trait Group: Send + Sync {
    /// The number of this member, from 0.
    fn rank(&self) -> usize;

    /// The number of members.
    fn size(&self) -> usize;

    /// How messages call a member, as in `process 3 (of 8) on host b`.
    fn name(&self, rank: usize) -> String;

    /// Fills `all` with what every member gives, in order; `lengths` tells how much that is, the same to all members.
    ///
    /// # Errors
    /// When a member is gone.
    fn gather(&self, own: &[u32], lengths: &[usize], all: &mut [u32]) -> Result<()>;

    /// Gives every member a part of `out` and fills `into` with the parts that all members gave this one, in order.
    ///
    /// # Errors
    /// When a member is gone.
    fn exchange(&self, out: &[u32], out_lengths: &[usize], into: &mut [u32], into_lengths: &[usize]) -> Result<()>;
}
