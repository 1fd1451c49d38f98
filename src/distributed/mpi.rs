//! A group of processes that an MPI launcher started, as in `mpirun -n 4`.

use super::{Group, check_total};
use crate::error::{Error, Result};
use mpi::Threading;
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Universe, processor_name};
use mpi::topology::{Communicator, SimpleCommunicator};
use std::sync::{Mutex, PoisonError};

/// The processes of one launch. When the value is dropped, MPI is over for this process.
///
/// A process that dies is noticed by the launcher, which names it and ends all others.
pub struct Mpi {
    world: SimpleCommunicator,
    _universe: Universe,
    hosts: Vec<String>,
    /// One call at a time, from whichever thread.
    calls: Mutex<()>,
}

// SAFETY: MPI is started for calls from several threads, one at a time; `calls` sees to the latter.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

impl Mpi {
    /// What launchers tell the processes that they start, in the environment: Open MPI, MPICH and Intel MPI, PMIx.
    const SIGNS: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"];

    /// Whether a launcher started this process.
    pub fn is_launched() -> bool {
        Self::SIGNS.iter().any(|sign| std::env::var_os(sign).is_some())
    }

    /// Joins the processes of the launch. To be called once.
    ///
    /// # Errors
    /// When MPI was started before, or cannot be called from several threads.
    pub fn start() -> Result<Self> {
        let failed = |why: &str| Error::Device(format!("MPI cannot be used: {why}"));
        let (universe, threading) =
            mpi::initialize_with_threading(Threading::Serialized).ok_or_else(|| failed("it was started before"))?;
        if threading < Threading::Serialized {
            return Err(failed("this MPI was built for one thread alone: use one that was built with threads"));
        }
        let world = universe.world();
        let mut mpi = Mpi { world, _universe: universe, hosts: Vec::new(), calls: Mutex::default() };
        mpi.hosts = mpi.names(&processor_name().unwrap_or_default());
        Ok(mpi)
    }

    /// The name of the machine of every process.
    fn names(&self, own: &str) -> Vec<String> {
        const MOST: usize = 64;
        let mut name = [0; MOST];
        own.bytes().take(MOST).zip(&mut name).for_each(|(byte, place)| *place = byte);
        let mut all = vec![0u8; MOST * self.size()];
        self.world.all_gather_into(&name[..], &mut all[..]);
        let text = |name: &[u8]| String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        all.chunks(MOST).map(text).collect()
    }
}

/// Lengths and places as MPI counts them.
fn counts(lengths: &[usize]) -> Result<(Vec<i32>, Vec<i32>)> {
    check_total(lengths.iter().copied())?;
    let mut at = 0;
    let places = lengths.iter().map(|&length| {
        at += length;
        (at - length) as i32
    });
    let places = places.collect();
    Ok((lengths.iter().map(|&length| length as i32).collect(), places))
}

impl Group for Mpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn name(&self, rank: usize) -> String {
        let host = self.hosts.get(rank).map_or("", String::as_str);
        format!("process {rank} of {} on {host}", self.size())
    }

    fn gather(&self, own: &[u32], lengths: &[usize], all: &mut [u32]) -> Result<()> {
        let _call = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (counts, places) = counts(lengths)?;
        if counts.iter().all(|count| *count == counts[0]) {
            self.world.all_gather_into(own, all);
        } else {
            self.world.all_gather_varcount_into(own, &mut PartitionMut::new(all, counts, places));
        }
        Ok(())
    }

    fn exchange(&self, out: &[u32], out_lengths: &[usize], into: &mut [u32], into_lengths: &[usize]) -> Result<()> {
        let _call = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (out_counts, out_places) = counts(out_lengths)?;
        let (counts, places) = counts(into_lengths)?;
        let out = Partition::new(out, out_counts, out_places);
        self.world.all_to_all_varcount_into(&out, &mut PartitionMut::new(into, counts, places));
        Ok(())
    }
}
