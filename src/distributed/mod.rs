//! Distributed work: groups of processes, exchanges between them, and sums that do not depend on the number of
//! processes.
//!
//! A [`Member`] is a process of a group, possibly the only one. All processes make the same exchanges in the same
//! order. A process that fails reports this in the next exchange, and all end with that error. [`Group`] is the
//! transport: MPI in builds with the feature `mpi`, channels between threads in tests.

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
pub(crate) use partition::{range_of_rank, split_queries};
pub(crate) use same::{Fact, data_fact, setting_facts};
pub(crate) use tree::Tree;

use crate::error::{Error, Result};

/// Refuses more words in one exchange than MPI supports. All processes must call it with the same lengths.
fn check_total(lengths: impl IntoIterator<Item = usize>) -> Result<usize> {
    let total = lengths.into_iter().fold(0, usize::saturating_add);
    if i32::try_from(total).is_ok() {
        return Ok(total);
    }
    let message =
        format!("{total} words exceed the maximum size of an MPI message: use more processes or fewer weights");
    Err(Error::Device(message))
}

/// A transport of 32-bit words between processes. All processes make the same calls in the same order.
pub trait Group: Send + Sync {
    /// Rank of this process, from 0.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// Name of a process in messages, such as `process 3 of 8 on node-b`.
    fn name(&self, rank: usize) -> String;

    /// Fills `all` with the words of all processes in the order of ranks; `lengths` are their numbers of words, equal
    /// in all processes.
    ///
    /// # Errors
    /// If a process cannot be reached.
    fn gather(&self, local: &[u32], lengths: &[usize], all: &mut [u32]) -> Result<()>;

    /// Sends each process a part of `out` and fills `into` with the parts from all processes, in the order of ranks.
    ///
    /// # Errors
    /// If a process cannot be reached.
    fn exchange(&self, out: &[u32], out_lengths: &[usize], into: &mut [u32], into_lengths: &[usize]) -> Result<()>;
}
