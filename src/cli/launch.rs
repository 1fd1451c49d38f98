//! Processes started by an MPI launcher, as in `mpirun -n 4 burnrank train ...`.

use super::{arguments, ui};
use burnrank::distributed::{Failure, Member};

/// Environment variables with the rank of a process: of Open MPI, of MPICH and Intel MPI, of PMIx.
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];

/// Environment variables with the number of processes: of Open MPI, of MPICH and Intel MPI.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Whether processes run together: in builds with MPI, unless BURNRANK_MPI=0.
fn is_enabled() -> bool {
    cfg!(feature = "mpi") && std::env::var_os("BURNRANK_MPI").is_none_or(|value| value != "0")
}

fn number(names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| std::env::var(name).ok()?.trim().parse().ok())
}

/// Whether the first argument is a command that several processes can run together.
fn is_together() -> bool {
    is_enabled() && arguments::words().next().is_some_and(|word| word == "train" || word == "tune")
}

/// Silences all processes but the first, before the command line is parsed: only the first prints errors.
pub fn silence_followers() {
    if is_together() && number(&RANKS).is_some_and(|rank| rank > 0) {
        ui::set_silent();
    }
}

/// Reports an invalid command line to the other processes, whose command lines may be valid.
pub fn report(code: u8, message: String) {
    if code != 0
        && is_together()
        && let Ok(Some(member)) = join()
    {
        member.end(Some(Failure { code, message }));
    }
}

/// Waits for the first process to print the error, because launchers kill all processes as soon as one fails.
pub fn linger() {
    if ui::is_silent() {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

/// Joins the processes that were started together for a command. Returns `None` if this one was started alone.
pub fn member(command: &str) -> burnrank::Result<Option<Member>> {
    let member = if is_enabled() { join()? } else { None };
    match &member {
        Some(member) if !member.leads() => ui::set_silent(),
        None if !cfg!(feature = "mpi") && number(&RANKS) == Some(0) => {
            if let Some(size) = number(&SIZES).filter(|size| *size > 1) {
                ui::note(&format!(
                    "{size} processes were started, and each runs independently: to run them together, build burnrank with \
                     --features mpi"
                ));
            }
        }
        _ => {}
    }
    member.as_ref().map_or(Ok(()), |member| member.same_program(command))?;
    Ok(member)
}

#[cfg(feature = "mpi")]
fn join() -> burnrank::Result<Option<Member>> {
    use burnrank::distributed::Mpi;
    Ok(if Mpi::is_launched() { Some(Member::of(std::sync::Arc::new(Mpi::start()?))) } else { None })
}

#[cfg(not(feature = "mpi"))]
fn join() -> burnrank::Result<Option<Member>> {
    Ok(None)
}

/// Ends the command in all processes, and returns the failure that they agree on.
pub fn end(member: Option<&Member>, failure: Option<Failure>) -> Option<Failure> {
    match member {
        Some(member) => member.end(failure),
        None => failure,
    }
}
