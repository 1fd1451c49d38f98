//! Processes started by an MPI launcher, as in `mpirun -n 4`.

use super::{Group, check_total};
use crate::error::{Error, Result};
use mpi::Threading;
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Universe, processor_name};
use mpi::topology::{Communicator, SimpleCommunicator};
use std::sync::{Mutex, PoisonError};

/// The processes of an MPI launch. Dropping the value finalises MPI.
///
/// If a process dies, the launcher reports it and ends all others.
pub struct Mpi {
    world: SimpleCommunicator,
    _universe: Universe,
    hosts: Vec<String>,
    /// Serialises calls from several threads.
    calls: Mutex<()>,
}

// SAFETY: MPI is initialised for serialised calls from several threads; `calls` serialises them.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

impl Mpi {
    /// Environment variables set by launchers: Open MPI, MPICH and Intel MPI, PMIx.
    const LAUNCHER_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"];

    /// Whether an MPI launcher started this process.
    pub fn is_launched() -> bool {
        Self::LAUNCHER_VARIABLES.iter().any(|name| std::env::var_os(name).is_some())
    }

    /// Initialises MPI. Must be called only once.
    ///
    /// # Errors
    /// If MPI is already initialised, or does not support threads.
    pub fn start() -> Result<Self> {
        let failed = |why: &str| Error::Device(format!("MPI cannot be used: {why}"));
        let (universe, threading) =
            mpi::initialize_with_threading(Threading::Serialized).ok_or_else(|| failed("it is already initialised"))?;
        if threading < Threading::Serialized {
            return Err(failed("this MPI was built without thread support: use one with MPI_THREAD_SERIALIZED"));
        }
        let world = universe.world();
        let mut mpi = Mpi { world, _universe: universe, hosts: Vec::new(), calls: Mutex::default() };
        mpi.hosts = mpi.names(&processor_name().unwrap_or_default());
        Ok(mpi)
    }

    /// The host names of all processes.
    fn names(&self, local: &str) -> Vec<String> {
        const MAX_NAME: usize = 64;
        let mut name = [0; MAX_NAME];
        local.bytes().take(MAX_NAME).zip(&mut name).for_each(|(byte, place)| *place = byte);
        let mut all = vec![0u8; MAX_NAME * self.size()];
        self.world.all_gather_into(&name[..], &mut all[..]);
        let text = |name: &[u8]| String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        all.chunks(MAX_NAME).map(text).collect()
    }
}

/// Lengths and offsets as MPI's 32-bit integers.
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

    fn gather(&self, local: &[u32], lengths: &[usize], all: &mut [u32]) -> Result<()> {
        let _call = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (counts, places) = counts(lengths)?;
        if counts.iter().all(|count| *count == counts[0]) {
            self.world.all_gather_into(local, all);
        } else {
            self.world.all_gather_varcount_into(local, &mut PartitionMut::new(all, counts, places));
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
